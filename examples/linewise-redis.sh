#!/bin/sh
# SPDX-License-Identifier: MIT
# Records redis-benchmark, built from Debian's source package, and asks linewise which fields of its
# configuration fight. The case is known: the counters of requests lie on the line of settings that
# every thread reads for each request (redis pull request 15439). No class file is written by hand.
#
# usage: linewise-redis.sh [FOLDER]     needs: linewise and linewise-rt installed (`make install`),
#        pkg-config, a redis-server, and a deb-src line in APT's sources or the unpacked source
#        redis-*/ in FOLDER (a temporary folder without one)
# exit:  0 linewise names the pairs; 1 it does not; 2 something is missing
set -eu

missing() {
    echo "linewise-redis: $*" >&2
    exit 2
}

libs=$(pkg-config --libs linewise-rt) || missing 'linewise-rt is not installed: make install'
cflags=$(pkg-config --cflags linewise-rt)
command -v linewise >/dev/null || missing 'linewise is not installed: make install'
command -v redis-server >/dev/null || missing 'no redis-server: apt-get install redis-server'
if [ $# -eq 0 ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
else
    folder=$1
fi
cd "$folder"
ls -d redis-*/ >/dev/null 2>&1 || apt-get source redis >/dev/null || missing 'no source of redis'
source=$(echo redis-*/ | cut -d ' ' -f 1)

# The three lines of docs/linewise.md, in the words of this Makefile. Its first run makes all of the
# folder anew, since the settings changed, and may fail at libraries that are not wanted.
build() {
    make -s -C "$source/src" redis-benchmark MALLOC=libc BUILD_TLS=no OPTIMIZATION=-O2 \
        CFLAGS="$cflags" FINAL_LIBS="-lm -ldl -pthread -lrt $libs" >>build.log 2>&1
}
build || { make -s -C "$source/deps" hiredis hdr_histogram >>build.log 2>&1 && build; } ||
    missing "the build failed, see $folder/build.log"
program=$source/src/redis-benchmark

redis-server --port 0 --unixsocket "$PWD/socket" --save '' --daemonize yes \
    --pidfile "$PWD/pid" >/dev/null
until [ -S socket ] && [ -s pid ]; do sleep 0.1; done
status=0
linewise record -o redis.log -- "$program" -s "$PWD/socket" --threads 2 -c 8 -n 40000 -t set -q ||
    status=$?
kill "$(cat pid)"
[ $status -eq 0 ] || exit 2

linewise predict redis.log --program "$program" --cpus 2,8 --classes-out redis.classes
linewise conflicts "$program" 'struct config' --classes redis.classes >fights || [ $? -eq 1 ]
cat fights
linewise suggest "$program" 'struct config' --classes redis.classes || [ $? -eq 1 ]

# What the maintainers were told: these counters, on the line of these settings.
for field in requests_issued requests_finished 'requests,' pipeline; do
    sed -n '/^line 2: error/,/^$/p' fights | grep -q " $field" || {
        echo "linewise-redis: $field is not named"
        exit 1
    }
done
