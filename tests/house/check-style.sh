#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: scripts/check-style catches each kind of violation and passes a clean file.
# Method: a small tree with one file of each kind; the output must name the line and the reason.
# usage: check-style.sh SCRIPTS-FOLDER
set -u
scripts=$1
tree=$(mktemp -d) || exit 99
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/base"
failures=0
licence='/* SPDX-License-Identifier: MIT */'

# try NAME EXPECTED: the file is standard input; EXPECTED is the start of the complaint or empty.
try() {
    cat >"$tree/src/base/a.c"
    output=$("$scripts/check-style" "$tree")
    status=$?
    if [ -z "$2" ]; then
        [ $status -eq 0 ] && [ -z "$output" ] && return
    else
        case $status:$output in
        1:"src/base/a.c:$2"*) return ;;
        esac
    fi
    echo "$1: status $status, output: $output"
    failures=$((failures + 1))
}

# A function of $1 lines, braces included.
function_of() {
    echo "$licence"
    echo 'int main(void)'
    echo '{'
    awk -v lines="$1" 'BEGIN { for (i = 2; i < lines; i++) print "    work();" }'
    echo '}'
}

function_of 70 | try 'longest function' ''
function_of 71 | try 'function too long' '3: function of 71 lines'
awk -v l="$licence" 'BEGIN { print l; for (i = 2; i <= 1000; i++) print "" }' | try 'longest file' ''
awk -v l="$licence" 'BEGIN { print l; for (i = 2; i <= 1001; i++) print "" }' |
    try 'file too long' '1001: file of 1001 lines'
printf 'int x;\n' | try 'no licence line' '1: expected the line'
printf '%s\n/* %s later */\n' "$licence" "TO"DO | try 'leftover mark' '2: leftover mark'
printf '%s\nint x; \n' "$licence" | try 'blank at the end' '2: blanks at the end'
printf '%s\n#include "base/list.c"\n' "$licence" | try 'source included' '2: a source file'
printf '%s\n#define X do { \\\n return 1; } while (0)\n' "$licence" |
    try 'hidden return' '3: a macro hides'
printf '%s\nint f(int a, int b, int c, int (*d)(int, int), int e)\n{\n}\n' "$licence" |
    try 'five parameters' ''
printf '%s\nint f(int a, int b,\n      int c, int d, int e, int f)\n{\n}\n' "$licence" |
    try 'six parameters' '4: function with 6 parameters'
awk -v l="$licence" 'BEGIN { print l; s = sprintf("%101s", ""); gsub(/ /, "x", s); print s }' |
    try 'long line' '2: line of 101 characters'

exit $((failures > 0))
