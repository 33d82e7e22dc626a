#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: whatever keeps a recording from its end is one clear line and the right exit status, and
#   leaves nothing behind: no instance of tracefs, no half file.
# Method: each refusal is brought about for real, missing kernel parts in a mount namespace.
# usage: errors.sh MGLRU READS
set -u
mglru=$(realpath "$1") reads=$(realpath "$2")
. "$(dirname "$0")/rights.sh"

cd "$TEST_FOLDER" || exit 99
head -c 1M /dev/zero >data
failures=0

fail() {
    echo "$1"
    sed 's/^/    /' log
    failures=$((failures + 1))
}

# expect STATUS PATTERN COMMAND...: the status, the line on standard error, and no leftovers.
expect() {
    local status=$1 pattern=$2
    shift 2
    "$@" >out 2>log </dev/null
    local got=$?
    [ "$got" -eq "$status" ] || fail "$*: exit status $got instead of $status"
    grep -q -- "$pattern" log || fail "$*: '$pattern' is missing"
    rm -f out
    local left
    left=$(ls | grep -vxE 'data|log|t\.trace(\.zst)?|folder|empty|mglru|full')
    [ -z "$left" ] || fail "$*: left behind: $left"
    ls "$tracefs/instances" | grep -qE "^mglru-record-($$|$BASHPID)\$" && fail "$*: an instance is left"
}

# refused STATUS PATTERN COMMAND...: the same, and there is no trace.
refused() {
    rm -f t.trace t.trace.zst
    expect "$@"
    [ ! -e t.trace ] && [ ! -e t.trace.zst ] || fail "$*: a trace was written"
}

record() { "$mglru" record -o t.trace "$@"; }

# The target.
refused 2 'no process has the number 2147483647' record --pid 2147483647
refused 2 'no/such/group: there is no such cgroup' record --cgroup no/such/group
refused 2 'nosuch cannot be run: No such file' record -- nosuch
refused 2 './data cannot be run: Permission denied' record -- ./data
expect 7 'none lost' record -- sh -c 'exit 7'
expect 137 'none lost' bash -c "\"$mglru\" record -o t.trace -- sh -c 'kill -9 \$\$'; exit \$?"

# The environment.
install -m 755 "$mglru" mglru
chmod 755 .
refused 3 'mglru: root may: sudo mglru record\|record: root may: sudo mglru record' \
    setpriv --reuid 65534 --regid 65534 --clear-groups ./mglru record -o t.trace -- true
refused 3 'tracefs is not mounted' unshare -m sh -c \
    "umount -l $tracefs; exec '$mglru' record -o t.trace -- true"
refused 3 'this is a PID namespace of its own' \
    unshare -pf --mount-proc "$mglru" record -o t.trace -- true
mkdir empty
refused 3 'no tracepoint filemap:mm_filemap_get_pages' unshare -m sh -c \
    "mount --bind empty $tracefs/events/filemap; exec '$mglru' record -o t.trace -- true"
expect 0 'writes (no writeback:writeback_dirty_folio here)' unshare -m sh -c \
    "mount --bind empty $tracefs/events/writeback; exec '$mglru' record -o t.trace -- true"
expect 0 'files that are deleted or truncated' unshare -m sh -c \
    "mount --bind empty $tracefs/events/vmscan; exec '$mglru' record -o t.trace -- true"

# The output.
mkdir folder
refused 2 'folder: cannot write: Is a directory' "$mglru" record -o folder -- true
refused 2 'nosuch/t: cannot write: No such file' "$mglru" record -o nosuch/t -- true
refused 3 '/dev/full: cannot write: No space left' "$mglru" record -o /dev/full -- "$reads" data 100
mkdir full
refused 3 'cannot write: No space left' unshare -m sh -c \
    "mount -t tmpfs -o size=64k none full; '$mglru' record -o full/t -- '$reads' data 100000;
     status=\$?; ls full | sed 's/^/left: /' >&2; exit \$status"
grep -q '^left' log && fail 'a full disk'
expect 0 'page accesses' sh -c "'$mglru' record -o - -- '$reads' data 100 | '$mglru' replay - --quiet"

# Bounds. The command runs on, and its exit status counts.
expect 0 '--duration was reached; the trace is whole' record --duration 100ms -- sleep 0.4
expect 0 '--max-size was reached; the trace is whole' \
    "$mglru" record -o t.trace.zst --max-size 1M -- "$reads" data 1500000
[ "$(stat -c %s t.trace.zst)" -le 1048576 ] || fail "--max-size 1M: $(stat -c %s t.trace.zst) bytes"
"$mglru" replay t.trace.zst --memory 1M --policy lru --quiet || fail 'a trace cut at --max-size'

# Events that find no room are counted, and too many of them are no trace.
refused 3 'lost [0-9]* of [0-9]* events, more than 1 %' \
    record --buffer 64K -- sh -c "'$reads' data 400000 & '$reads' data 400000; wait"

# Processes that end at once, groups that vanish.
sh -c 'exit 0' &
gone=$!
wait
refused 2 "no process has the number $gone" record --pid $gone
sleep 1 &
refused 2 'nothing was recorded\|ended before the recording' record --pid $!
for mount in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    cgroup=$mount/mglru-test-$$
    [ -f "$mount/cgroup.procs" ] && mkdir "$cgroup" 2>/dev/null && break
    cgroup=
done
if [ -n "$cgroup" ]; then
    (
        sh -c "echo \$\$ >$cgroup/cgroup.procs; sleep 2; exec '$reads' data 100" >/dev/null
        while ! rmdir "$cgroup"; do sleep 0.05; done
    ) 2>/dev/null &
    expect 0 'the cgroup was removed; the trace is whole' record --cgroup "mglru-test-$$"
fi

# Signals end the recording in order, and reach the command.
"$mglru" record -o t.trace -- sh -c 'trap "exit 5" TERM; while :; do sleep 0.05; done' 2>log &
stopped=$!
wait_recording $stopped
sleep 0.2
kill -TERM $stopped
wait $stopped
status=$?
[ $status = 5 ] || fail "SIGTERM: exit status $status instead of 5"
grep -q 'a signal came; the trace is whole' log || fail 'SIGTERM: it does not say so'
[ -s t.trace ] || fail 'SIGTERM: there is no trace'

# A recorder that is killed leaves an instance, which the next one removes; and no file.
rm -f t.trace
"$mglru" record -o t.trace -- sleep 1 2>log &
killed=$!
wait_recording $killed || fail 'a recorder to be killed ended'
kill -9 $killed
wait $killed 2>/dev/null
refused 2 'cannot be run' record -- nosuch
[ ! -d "$tracefs/instances/mglru-record-$killed" ] || fail 'a killed recorder: its instance stays'

# Two at once see their own alone.
"$mglru" record -o t.trace -- "$reads" data 20000 16 >/dev/null 2>log &
other=$!
"$mglru" record -o t.trace.zst -- "$reads" data 30000 16 >/dev/null 2>>log
wait $other
for trace in t.trace:20000 t.trace.zst:30000; do
    count=$("$mglru" replay "${trace%:*}" --write-native - | grep -c '^@[0-9]* r .*/data ')
    [ "$count" = "${trace#*:}" ] || fail "two at once: ${trace%:*} has $count reads"
done
exit $((failures > 0))
