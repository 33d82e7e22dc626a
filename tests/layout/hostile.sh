#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: whatever a file holds, linewise ends by itself: done, or one line and status 2.
# Method: list and show on every file of the fuzzers' corpora, on the same cut in half, and with
# every 97th byte changed.
#
# usage: hostile.sh LINEWISE CORPUS-FOLDER
set -u
linewise=$(realpath "$1")
corpus=$(realpath "$2")
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 99
bad=0
runs=0

# try FILE ARGUMENT...: runs linewise; complains about anything but 0, or 2 with one line.
try() {
    timeout 20 "$linewise" "$@" >out 2>err
    status=$?
    runs=$((runs + 1))
    lines=$(wc -l <err)
    case "$status $lines" in
    '0 0' | '2 1') ;;
    '0 1') grep -q 'dwo file' err || complain "$*" ;;
    *) complain "$*" ;;
    esac
}

complain() {
    echo "linewise $1: status $status, $lines lines of errors:"
    head -n 3 err
    bad=1
}

for file in "$corpus"/layout-dwarf/* "$corpus"/layout-btf/* "$corpus"/layout-image/*; do
    cp "$file" whole
    try list whole
    try show whole outer --json -
    head -c $(($(wc -c <whole) / 2)) whole >half
    try list half
    # One byte in 97 becomes 0xff.
    od -An -v -tu1 -w1 whole | awk 'NR % 97 == 0 { $1 = 255 } { printf "\\%03o", $1 }' >octal
    # shellcheck disable=SC2059 # the format is the file
    printf "$(cat octal)" >changed
    try list changed
done
echo "$runs runs"
exit $bad
