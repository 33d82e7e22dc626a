#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: docs/memory-for-containers.md shows what the commands in it print.
# Method: every command is run and its output compared with the lines that stand below it.
# usage: plan_doc.sh MGLRU SOURCE-FOLDER
set -u
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
ln -s "$(realpath "$1")" "$folder/mglru"
PATH=$folder:$PATH
export PATH
cd "$2" || exit 99
mglru plan samples/sqlite-scan.trace.zst --quiet 2>"$folder/error"
grep -q 'built without' "$folder/error" && exit 77

# Indented lines without the indentation; a command begins with "$ ", and the first line that is
# not indented and not empty ends what it printed.
awk -v folder="$folder" '
    /^    \$ / { n++; print substr($0, 7) > (folder "/command." n); inside = 1; blank = 0; next }
    inside && /^    / {
        if (blank) print "" > (folder "/expected." n)
        blank = 0
        print substr($0, 5) > (folder "/expected." n)
        next
    }
    inside && /^$/ { blank = 1; next }
    { inside = 0 }' docs/memory-for-containers.md

failures=0
checked=0
for command in "$folder"/command.*; do
    checked=$((checked + 1))
    sh "$command" >"$folder/got" 2>&1
    diff -u "$folder/expected.${command##*.}" "$folder/got" || failures=$((failures + 1))
done
echo "$checked commands, $failures differ"
[ "$checked" -ge 6 ] && [ "$failures" -eq 0 ]
