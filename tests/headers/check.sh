#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: every public header compiles alone, twice, and in any order, in strict C17 and C++17.
# Method: each header alone and each ordered pair of headers goes to the compiler as one source.
# usage: check.sh INCLUDE-FOLDER LANGUAGE STANDARD COMPILER...
# exit:  0 all compile; 1 some do not
set -u

include=$1
language=$2
standard=$3
shift 3
source=$(mktemp) || exit 99
trap 'rm -f "$source"' EXIT
headers=$(cd "$include" && find mglru linewise -name '*.h' | sort)
failures=0
sources=0

for first in $headers; do
    for second in $headers; do
        printf '#include <%s>\n#include <%s>\n' "$first" "$second" >"$source"
        sources=$((sources + 1))
        if ! "$@" -std="$standard" -x "$language" -I "$include" -Wall -Wextra -Wpedantic -Werror \
            -fsyntax-only "$source"; then
            echo "$first before $second does not compile as $standard"
            failures=$((failures + 1))
        fi
    done
done
echo "$sources sources, $failures failures"
[ "$sources" -gt 0 ] && [ "$failures" -eq 0 ]
