#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: a recording holds exactly the accesses that a program made, in order, by the paths that it
#   used, whatever bytes are in them; a cgroup's holds the same; mglru plan takes them.
# Method: known.c prints what it did; its lines are compared with those of the trace.
# usage: exact.sh MGLRU KNOWN
set -u
mglru=$1 known=$2
. "$(dirname "$0")/rights.sh"

# Lines of the trace for the files of the test, without times, memcgs and sizes; %XX as bytes.
accesses() {
    "$mglru" replay "$1" --format native --write-native - |
        sed -n 's/^@[0-9]* //; s/^\(.\) [^ ]* /\1 /; s/%20/ /g; s/%25/%/g; /%41 name/p' |
        sed 's/^\(o .*\) [0-9]*$/\1/'
}

# The cgroup memory controller's folder for the test; empty: none.
make_cgroup() {
    local mount
    for mount in /sys/fs/cgroup/memory /sys/fs/cgroup; do
        if [ -f "$mount/cgroup.procs" ] && mkdir "$mount/mglru-test-$$" 2>/dev/null; then
            echo "$mount/mglru-test-$$"
            return
        fi
    done
}

failures=0
# compare NAME TRACE EXPECTED
compare() {
    if ! diff -u "$3" <(accesses "$2"); then
        echo "$1: not the accesses that were made (-) but others (+)"
        failures=$((failures + 1))
    fi
}

folder="$TEST_FOLDER/odd %41 name"
mkdir "$folder"
head -c $((200 * 4096 + 2048)) /dev/zero >"$folder/data"
sync "$folder/data"
cat "$folder/data" >/dev/null

"$mglru" record -o "$TEST_FOLDER/command.trace" -- "$known" "$folder" \
    >"$TEST_FOLDER/expected" 2>"$TEST_FOLDER/log" || { cat "$TEST_FOLDER/log"; exit 1; }
compare 'a command' "$TEST_FOLDER/command.trace" "$TEST_FOLDER/expected"
grep -q 'none lost' "$TEST_FOLDER/log" || { cat "$TEST_FOLDER/log"; failures=$((failures + 1)); }

cgroup=$(make_cgroup)
if [ -n "$cgroup" ]; then
    trap 'rm -rf "$TEST_FOLDER"; rmdir "$cgroup" 2>/dev/null' EXIT
    # The shell is there before the recording, the program is its fork.
    (
        echo "$BASHPID" >"$cgroup/cgroup.procs"
        while [ ! -e "$TEST_FOLDER/go" ]; do sleep 0.05; done
        "$known" "$folder" >"$TEST_FOLDER/expected"
    ) &
    member=$!
    "$mglru" record -o "$TEST_FOLDER/cgroup.trace" --cgroup "$cgroup" 2>"$TEST_FOLDER/log" &
    recorder=$!
    wait_recording "$recorder"
    touch "$TEST_FOLDER/go"
    wait "$member"
    sleep 0.1
    kill -INT "$recorder"
    wait "$recorder" || { echo "cgroup: exit status $?"; failures=$((failures + 1)); }
    compare 'a cgroup' "$TEST_FOLDER/cgroup.trace" "$TEST_FOLDER/expected"
    grep -q "^@[0-9]* r /mglru-test-$$ " "$TEST_FOLDER/cgroup.trace" ||
        { echo 'cgroup: its name is not in the trace'; failures=$((failures + 1)); }
    rmdir "$cgroup"
fi

"$mglru" plan "$TEST_FOLDER/command.trace" >"$TEST_FOLDER/plan" || failures=$((failures + 1))
grep -q '^  memory.max' "$TEST_FOLDER/plan" || { cat "$TEST_FOLDER/plan"; failures=$((failures + 1)); }
leftover=$(ls "$tracefs/instances" | grep -x "mglru-record-$$" )
[ -z "$leftover" ] || { echo "left behind: $leftover"; failures=$((failures + 1)); }
exit $((failures > 0))
