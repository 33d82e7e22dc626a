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
[ "$(getconf PAGESIZE)" = 4096 ] || skip 'the expectations are for pages of 4 KiB'

TEST_FOLDER=$(mktemp -d "$PWD/record-XXXXXX") || exit 99
trap 'rm -rf "$TEST_FOLDER"' EXIT
case $(stat -f -c %T "$TEST_FOLDER") in
tmpfs | ramfs | overlayfs) skip "the reads of $(stat -f -c %T "$TEST_FOLDER") are not traced" ;;
esac
