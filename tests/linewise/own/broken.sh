#!/bin/sh
# SPDX-License-Identifier: MIT
# `linewise check` fails on a copy of the library's structs in which one counter lies beside the
# read-mostly fields again, and names the pair.
#
# usage: broken.sh LINEWISE SOURCE_ROOT CONF LOCK CC...
set -u
linewise=$1
root=$2
conf=$3
lock=$4
shift 4
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/reclaim" || exit 99
awk '/^struct lruvec \{/ { inside = 1 }
     inside && /_Atomic unsigned long refaulted\[/ { next }
     { print }
     inside && /bool enabled;/ { print "    _Atomic unsigned long refaulted[LRU_TYPES][MAX_NR_TIERS];"
                                 moved = 1 }
     /^};/ { inside = 0 }
     END { exit !moved }' "$root/src/reclaim/lruvec_ours.h" >"$folder/reclaim/lruvec_ours.h" || exit 99
"$@" -std=gnu17 -g -D_GNU_SOURCE -I"$folder" -I"$root/src" -I"$root/include" \
    -c "$root/tests/linewise/own/own.c" -o "$folder/own.o" || exit 99
"$linewise" check "$folder/own.o" lruvec --classes "$conf" --lock "$lock" >"$folder/out"
status=$?
cat "$folder/out"
[ $status -eq 1 ] || { echo "exit status $status, expected 1"; exit 1; }
grep -q 'error: false sharing: New:' "$folder/out" || { echo "the fight was not found"; exit 1; }
for name in 'writes  refaulted' 'reads   enabled' 'no atomic beside read'; do
    grep -q "$name" "$folder/out" || { echo "'$name' is not named"; exit 1; }
done
