# SPDX-License-Identifier: MIT
# Read by the tests of this folder: skips the test (77), saying why, where this machine cannot
# record; else makes a folder in $TEST_FOLDER, on a file system whose reads are traced, that goes
# with the test.

skip() {
    echo "skipped: $1"
    exit 77
}

[ "$(id -u)" = 0 ] || skip 'recording needs root'
tracefs=/sys/kernel/tracing
[ -d "$tracefs/instances" ] || skip 'tracefs is not mounted'
[ -w "$tracefs/instances" ] || skip 'this container does not allow tracing'
[ -d "$tracefs/events/filemap/mm_filemap_get_pages" ] ||
    skip 'this kernel has no tracepoint filemap:mm_filemap_get_pages'
[ "$(stat -L -c %i /proc/self/ns/pid)" = 4026531836 ] || skip 'this container has a PID namespace of its own'
[ "$(getconf PAGESIZE)" = 4096 ] || skip 'the expectations are for pages of 4 KiB'

TEST_FOLDER=$(mktemp -d "$PWD/record-XXXXXX") || exit 99
trap 'rm -rf "$TEST_FOLDER"' EXIT
case $(stat -f -c %T "$TEST_FOLDER") in
tmpfs | ramfs | overlayfs) skip "the reads of $(stat -f -c %T "$TEST_FOLDER") are not traced" ;;
esac

# wait_recording PID: until the recorder follows somebody; fails when it ended before.
wait_recording() {
    while [ -d "/proc/$1" ]; do
        grep -qvx -e 0 -e "$1" "$tracefs/instances/mglru-record-$1/set_event_pid" 2>/dev/null &&
            [ "$(cat "$tracefs/instances/mglru-record-$1/tracing_on")" = 1 ] && return
        sleep 0.05
    done
    return 1
}
