#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: programs that two compilers instrument are recorded, and what they share is named.
# Method: each kind of sharing of fixtures/sharing.c is compiled, recorded and predicted; then what
# cannot be recorded or read is refused with one line.
# usage: record.sh LINEWISE RUNTIME SOURCE-FOLDER COMPILER...
# exit:  0 as expected; 1 not; 77 the compiler cannot instrument
set -u

linewise=$1
runtime=$2
root=$3
shift 3
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
    echo "$*"
    failures=$((failures + 1))
}

# build KIND COMPILER...: the program $folder/KIND.
build() {
    kind=$1
    shift
    "$@" -g -O1 -fsanitize=thread -DSHARING="$kind" -I "$root/include" \
        -c "$root/tests/coherence/fixtures/sharing.c" -o "$folder/$kind.o" &&
        "$@" "$folder/$kind.o" "$runtime" -Wl,-rpath,"$(dirname "$runtime")" -pthread -ldl \
            -o "$folder/$kind"
}

# pairs KIND: "type line kind reader writer per_op" of each, at 2 CPUs.
pairs() {
    "$linewise" predict "$folder/$1.log" --cpus 2 --json - |
        awk -F '"' '/"type":/ { type = $4 } /"line":/ { line = $3; gsub(/[^0-9]/, "", line) }
            /"reader":/ { reader = $4 } /"writer":/ { writer = $4 } /"kind":/ { kind = $4 }
            /"per_op":/ { per = $3; gsub(/[^-+.e0-9]/, "", per)
                          print type, line, kind, reader, writer, per }'
}

# expect KIND PATTERN: a pair fits, however busy the machine was; refuse KIND PATTERN: none does, but
# for a miss or two of 40,000: what the main thread wrote when it made the object.
expect() {
    awk '$6 >= 0.00002' "$folder/$1.pairs" | grep -qE "$2" ||
        fail "sharing $1: no pair '$2' in:
$(cat "$folder/$1.pairs")"
}
refuse() {
    if awk '$6 >= 0.0001' "$folder/$1.pairs" | grep -E "$2"; then
        fail "sharing $1: this pair was not expected"
    fi
}

# class KIND LINE: the class file has the statement.
class() {
    grep -qE "^$2" "$folder/$1.classes" || fail "sharing $1: no class '$2' in:
$(cat "$folder/$1.classes")"
}

for kind in 1 2 3 4 5 6; do
    build "$kind" "$@" || exit 77
    "$linewise" record -o "$folder/$kind.log" -- "$folder/$kind" >/dev/null 2>"$folder/err" ||
        fail "sharing $kind is not recorded: $(cat "$folder/err")"
    grep -q 'cost of an access' "$folder/err" || fail "the recorder does not say what it costs"
    "$linewise" predict "$folder/$kind.log" --classes-out "$folder/$kind.classes" \
        >"$folder/out" || fail "sharing $kind is not predicted"
    pairs "$kind" >"$folder/$kind.pairs"
done

# A configuration beside a counter; apart, the pair is gone and nothing else is.
expect 1 '^shared 0 false (threshold|limit) hits '
refuse 2 '(threshold|limit)'
refuse 2 ' false '
expect 2 '^shared 1 true hits hits '
class 1 'shared.threshold: read'
class 1 'shared.hits: atomic'
"$linewise" conflicts "$folder/1" --classes "$folder/1.classes" >"$folder/out"
[ $? -eq 1 ] || fail 'conflicts finds nothing by the class file of the recording'
grep -q 'line 0: error: false sharing (read x atomic)' "$folder/out" ||
    fail 'conflicts finds another fight than the recording'

expect 3 '^shared 0 true hits hits '
refuse 3 ' false '

expect 4 '^shared 2 lock total total '
class 4 'shared.total: lock\(mutex\)'
class 4 'shared.last: lock\(mutex\)'
# A spinning thread may starve until the other is done, so only who held what is sure.
class 6 'shared.total: lock\(spin\)'

expect 5 '^shared 3 array slots\[\] slots\[\] '
class 5 'shared.slots\[\]: owner'

# Everything is either a log or one line.
refused() {
    status=$1
    text=$2
    shift 2
    "$@" >"$folder/out" 2>"$folder/err"
    got=$?
    [ "$got" -eq "$status" ] || fail "$*: status $got, expected $status"
    [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "$*: not one line: $(cat "$folder/err")"
    grep -q "$text" "$folder/err" || fail "$*: '$text' is not in: $(cat "$folder/err")"
}
refused 2 'was not recorded' "$linewise" record -o "$folder/no.log" -- true
refused 2 'No such file' "$linewise" record -o "$folder/no.log" -- "$folder/absent"
refused 2 'no command was given' "$linewise" record -o "$folder/no.log"
head -c 2400 "$folder/1.log" >"$folder/torn.log"
refused 2 'the log is torn' "$linewise" predict "$folder/torn.log"
refused 2 'no log of the recorder' "$linewise" predict "$0"
refused 2 'No such file' "$linewise" predict "$folder/no.log"
refused 2 'in 1..256' "$linewise" predict "$folder/1.log" --cpus 300
refused 2 'no range of nanoseconds' "$linewise" predict "$folder/1.log" --latency 9..3
[ -z "$(find "$folder" -name 'no.log*')" ] || fail 'a refused recording leaves a file'

# What does not fit is counted; the rest is still a log.
"$linewise" record --max 100K -o "$folder/small.log" -- "$folder/1" >/dev/null 2>"$folder/err"
grep -qE 'lost: the log was full +[1-9]' "$folder/err" || fail "no loss: $(cat "$folder/err")"
"$linewise" record --mode count -o "$folder/count.log" -- "$folder/1" >/dev/null 2>"$folder/err"
grep -qE 'watched +[1-9]' "$folder/err" || fail "nothing counted: $(cat "$folder/err")"
"$linewise" record --mode filter -o "$folder/filter.log" -- "$folder/1" >/dev/null 2>"$folder/err"
grep -qE 'of other memory +[1-9]' "$folder/err" || fail "nothing filtered: $(cat "$folder/err")"
grep -qE 'accesses logged +0' "$folder/err" || fail "filter mode logs: $(cat "$folder/err")"

echo "$failures failures"
[ "$failures" -eq 0 ]
