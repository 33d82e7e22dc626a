#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: sizes, offsets, holes and padding of every type agree with pahole's.
# Method: both print all types of each FILE, one on a line; what pahole marks as its own error is
# counted apart, everything else must be found among ours. Of unions pahole prints members alone.
#
# usage: pahole.sh LAYOUT-DUMP FILE...
# exit:  0 all agree; 1 something differs; 77 pahole is missing, or no FILE is there
set -u
dump=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
command -v pahole >/dev/null || { echo 'skipped: pahole (package dwarves) is not installed'; exit 77; }
tools=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL

form() {
    awk -F '|' 'BEGIN { OFS = "|" } /^!?union / { $2 = $4 = $5 = "-" } { print }' | sort -u
}

looked=0
bad=0
for file; do
    [ -r "$file" ] || continue
    looked=$((looked + 1))
    "$dump" "$file" | form >"$folder/ours" || exit 1
    # By itself it takes BTF where a file has both.
    pahole -F dwarf "$file" >"$folder/printed" 2>/dev/null
    [ -s "$folder/printed" ] || pahole "$file" >"$folder/printed" 2>/dev/null
    awk -f "$tools/pahole.awk" "$folder/printed" | form >"$folder/all"
    grep -v '^!' "$folder/all" >"$folder/theirs"
    comm -12 "$folder/ours" "$folder/theirs" >"$folder/same"
    comm -13 "$folder/ours" "$folder/theirs" >"$folder/differ"
    printf '%s: ours %s, pahole %s: same %s, differ %s, pahole in error %s\n' "$file" \
        "$(wc -l <"$folder/ours")" "$(wc -l <"$folder/all")" "$(wc -l <"$folder/same")" \
        "$(wc -l <"$folder/differ")" "$(grep -c '^!' "$folder/all")"
    if [ -s "$folder/differ" ] || ! [ -s "$folder/same" ]; then
        bad=1
        head -n 20 "$folder/differ" | while IFS='|' read -r name rest; do
            echo "  pahole: $name|$rest"
            grep -F "$name|" "$folder/ours" | head -n 3 | sed 's/^/    ours: /'
        done
    fi
done
[ $looked -gt 0 ] || { echo 'skipped: none of the files is there'; exit 77; }
exit $bad
