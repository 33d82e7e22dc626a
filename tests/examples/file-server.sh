#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the file server of examples/ with two tenants at once and compares every byte that it sends.
# usage: file-server.sh PROGRAM
set -u

dir=$(mktemp -d) || exit 99
trap 'kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
fail() {
    echo "file-server: $*"
    exit 1
}

head -c 3000000 /dev/urandom >"$dir/file"
"$1" "$dir/file" 0 >"$dir/out" 2>&1 &
server=$!
for _ in $(seq 100); do
    [ -s "$dir/out" ] && break
    sleep 0.1
done
port=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/.*|\1|p' "$dir/out")
[ -n "$port" ] || fail "it does not say where it listens: $(cat "$dir/out")"

# ask TENANT OFFSET BYTES FILE: the body of the answer.
ask() {
    exec 3<>"/dev/tcp/127.0.0.1/$port" || fail 'no connection'
    printf 'GET /%s?offset=%s&bytes=%s HTTP/1.0\r\n\r\n' "$1" "$2" "$3" >&3
    sed '1,/^\r$/d' <&3 >"$4"
    exec 3<&-
}

# The scan of one tenant ...
(
    ask bronze 0 3000000 "$dir/bronze"
    cmp "$dir/file" "$dir/bronze"
) &
scan=$!
# ... and the small requests of the other, across pages and the end of the file.
for offset in 0 1 4095 4096 100000 2999000 2999999; do
    ask gold $offset 5000 "$dir/gold"
    tail -c +$((offset + 1)) "$dir/file" | head -c 5000 | cmp - "$dir/gold" || fail "at $offset"
done
wait $scan || fail 'the scan differs'

ask counts 0 0 "$dir/counts"
awk '$1 == "/gold" && $2 + $4 >= 9 { gold = 1 } $1 == "/bronze" && $2 + $4 >= 700 { bronze = 1 }
     END { exit !(gold && bronze) }' "$dir/counts" || fail "counts: $(cat "$dir/counts")"
kill -TERM $server && wait $server || fail 'it does not end well'
