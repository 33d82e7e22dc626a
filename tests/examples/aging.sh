#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs examples/aging.c, smaller: each way of aging does its hundred steps, a splice many times faster
# than folio by folio, and the served cache shows the pages where the steps left them.
# usage: aging.sh PROGRAM MGLRU
set -u

dir=$(mktemp -d) || exit 99
trap 'kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
fail() {
    echo "aging: $*"
    exit 1
}

for aging in per-folio batched splice; do
    "$1" 64 $aging >"$dir/$aging" || fail "$aging: status $?"
    [ "$(grep -c '^gen  *[0-9]*: *[0-9.]* ms$' "$dir/$aging")" -eq 100 ] || fail "$aging: no 100 lines"
    grep -q '^memcg: [0-9]* (/system.slice/agetest.scope)$' "$dir/$aging" || fail "$aging: no memcg"
done
awk '/^Total:/ { total[FILENAME] = $2 }
     END { exit !(total[ARGV[1]] > 20 * total[ARGV[2]]) }' "$dir/per-folio" "$dir/splice" ||
    fail "a splice is not faster: $(grep -h Total "$dir"/*)"

"$1" 16 batched "$dir/socket" >"$dir/out" &
server=$!
for _ in $(seq 100); do
    grep -q listens "$dir/out" && break
    sleep 0.1
done
id=$(sed -n 's/^memcg: \([0-9]*\) .*/\1/p' "$dir/out")
# 4096 pages of files, all in the second oldest generation but one: nothing was used since.
"$2" ctl "$dir/socket" read lru_gen >"$dir/lru_gen" || fail 'ctl'
awk -v id="$id" '$1 == "memcg" { here = $2 == id } here && $4 > 0 { pages += $4; seq = $1 }
     END { exit !(pages == 4096 && seq == 100) }' "$dir/lru_gen" || fail "$(cat "$dir/lru_gen")"
kill -TERM "$server" && wait "$server" || fail 'it does not end well'
[ ! -e "$dir/socket" ] || fail 'the socket is still there'
