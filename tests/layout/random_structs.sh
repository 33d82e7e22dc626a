#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: every leaf of random structs lies where the compiler says: bit-fields, unions, anonymous and
# flexible members, _Atomic, aligned, packed, nested arrays.
# Method: a generated program prints offsetof and sizeof of each leaf, layout-leaves prints the same
# out of the program's debug information; gcc and clang, DWARF 4 and 5. A difference prints the seed.
#
# usage: random_structs.sh RANDOM-STRUCTS LAYOUT-LEAVES COUNT [SEED]
# exit:  0 all agree; 1 something differs; 77 there is no compiler
set -u
generate=$1
leaves=$2
count=$3
seed=${4:-1}
chunk=500
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
LC_ALL=C
export LC_ALL
# gcc notes a change of 2008 in packed bit-fields; clang does not know the option that it takes.
quiet='-w -Wno-packed-bitfield-compat -Wno-unknown-warning-option'
compilers=
for compiler in gcc clang; do
    command -v $compiler >/dev/null && compilers="$compilers $compiler"
done
[ -n "$compilers" ] || { echo 'skipped: neither gcc nor clang is there'; exit 77; }

compared=0
first=0
while [ "$first" -lt "$count" ]; do
    size=$((count - first < chunk ? count - first : chunk))
    "$generate" "$seed" $first $size >"$folder/random.c" || exit 1
    for compiler in $compilers; do
        for version in 4 5; do
            what="$compiler, DWARF $version, seed $seed, structs $first to $((first + size - 1))"
            # shellcheck disable=SC2086 # options are words
            if ! $compiler -std=gnu17 -O0 $quiet -gdwarf-$version -DDWARF=$version \
                -o "$folder/random" "$folder/random.c"; then
                echo "does not compile: $what"
                exit 1
            fi
            "$folder/random" | sort >"$folder/compiler" || exit 1
            "$leaves" "$folder/random" $version >"$folder/unsorted" || exit 1
            # Alignments that the program keeps to itself are left out.
            awk 'NR == FNR { if (NF == 2) silent[$1] = 1; next }
                NF == 3 && ($1 in silent) { print $1, $2; next } { print }' \
                "$folder/compiler" "$folder/unsorted" | sort >"$folder/linewise"
            if ! diff "$folder/compiler" "$folder/linewise" >"$folder/diff"; then
                echo "differs (< compiler, > linewise): $what"
                head -n 20 "$folder/diff"
                exit 1
            fi
            compared=$((compared + $(wc -l <"$folder/linewise")))
        done
    done
    first=$((first + size))
done
echo "$count structs, $compared leaves and sizes compared with$compilers"
