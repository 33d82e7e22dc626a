#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: the misses that README.md and docs/samples.md state for mglru are what mglru says.
# Method: the commands that stand there are run again, and each figure of the tables is looked up.
# usage: figures.sh MGLRU SOURCE-FOLDER
set -u
mglru=$1
root=$2
trace=$root/samples/sqlite-scan.trace.zst
results=$(mktemp) || exit 99
trap 'rm -f "$results"' EXIT
failures=0
checked=0

# run POLICIES [OPTION...]: adds "policy model MiB misses" of each run to the results.
run() {
    policies=$1
    shift
    "$mglru" replay "$trace" --memory 8M,16M,24M,32M,48M,64M --policy "$policies" "$@" \
        --quiet --csv - >"$results.csv" 2>"$results.err"
    status=$?
    if [ $status -ne 0 ]; then
        cat "$results.err"
        grep -q 'built without' "$results.err" && { rm -f "$results".*; exit 77; }
        failures=$((failures + 1))
    fi
    awk -F, '$1 == "run" { print $2, ($3 == "" ? "-" : $3), $5 / 1048576, $9 }' "$results.csv" \
        >>"$results"
    rm -f "$results".*
}

# expect PLACE POLICY MODEL MIB FIGURE
expect() {
    figure=$(echo "$5" | tr -d ',')
    got=$(awk -v p="$2" -v m="$3" -v s="$4" '$1 == p && $2 == m && $3 == s { print $4 }' "$results")
    checked=$((checked + 1))
    [ "$got" = "$figure" ] && return
    echo "$1: $2 $3 at $4 MiB: says $figure, mglru says ${got:-nothing}"
    failures=$((failures + 1))
}

# rows FILE HEADER: the rows of the table whose first line begins with HEADER, without bars; the
# size is a bare number of MiB.
rows() {
    awk -v header="$2" '
        index($0, header) == 1 { inside = 1; getline; next }
        !/^\|/ { inside = 0 }
        inside' "$root/$1" | sed -e 's/|/ /g' -e 's/ MiB//' -e 's/\([0-9]\)M /\1 /'
}

run mglru,lru,belady --model 6.12,7.3
run classic --stat-flush 15806

# shellcheck disable=SC2034 # columns that are the kernels' own
while read -r size _ ours_612 _ ours_73; do
    expect README.md mglru 6.12 "$size" "$ours_612"
    expect README.md mglru 7.3 "$size" "$ours_73"
done <<END
$(rows README.md '| `memory.max` |')
END
while read -r size ours_612 ours_73 classic; do
    expect docs/samples.md mglru 6.12 "$size" "$ours_612"
    expect docs/samples.md mglru 7.3 "$size" "$ours_73"
    expect docs/samples.md classic 7.3 "$size" "$classic"
done <<END
$(rows docs/samples.md '| memory | `6.12` MGLRU')
END
while read -r size _ _ _ _ lru belady; do
    expect docs/samples.md lru - "$size" "$lru"
    expect docs/samples.md belady - "$size" "$belady"
done <<END
$(rows docs/samples.md '| memory | 6.12 MGLRU')
END

[ "$checked" -eq 36 ] || { echo "$checked figures found, expected 36"; exit 1; }
exit $((failures > 0))
