#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: a recording made without a limit says how many pages this kernel brings in under one.
# Method: three programs (lookups of sqlite3, grep -r of the same files twice, reads with a
#   hot part) run on an ext4 of their own in a loop device, without a limit and under limits, with
#   readahead off and on. The pages that came into the cache for them, as the kernel's tracepoint
#   counts them, are compared with `mglru replay` of the first recording: within 10 %.
# usage: limits.sh MGLRU READS [TREE]     TREE: what grep searches (/usr/include)
set -u
mglru=$(realpath "$1") reads=$(realpath "$2") source=${3:-/usr/include}
. "$(dirname "$0")/rights.sh"

BOUND=10 # percent
for tool in losetup mkfs.ext4 sqlite3 awk grep; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
for folder in /sys/fs/cgroup/memory:memory.limit_in_bytes /sys/fs/cgroup:memory.max; do
    cgroup=${folder%:*}/mglru-limits-$$ limit_file=${folder#*:}
    mkdir "$cgroup" 2>/dev/null && [ -w "$cgroup/$limit_file" ] && break
    rmdir "$cgroup" 2>/dev/null
    cgroup=
done
[ -n "$cgroup" ] || skip 'there is no memory cgroup to be had'
disk=$TEST_FOLDER/disk
mnt=$TEST_FOLDER/mnt
cleanup() {
    umount "$mnt" 2>/dev/null
    [ -z "${loop:-}" ] || losetup -d "$loop"
    rmdir "$cgroup" 2>/dev/null
    rm -rf "$TEST_FOLDER"
}
trap cleanup EXIT
truncate -s 300M "$disk"
loop=$(losetup -f --show "$disk") || skip 'no loop device to be had'
bdi=/sys/class/bdi/$(cat "/sys/class/block/${loop##*/}/dev")
[ -w "$bdi/read_ahead_kb" ] || skip 'the readahead of a loop device cannot be set'
policy=classic
[ "$(cat /sys/kernel/mm/lru_gen/enabled 2>/dev/null || echo 0)" = 0 ] ||
    [ "$(cat /sys/kernel/mm/lru_gen/enabled)" = 0x0000 ] || policy=mglru

# A new mount has no page in the cache.
mount_afresh() {
    umount "$mnt" 2>/dev/null
    mount -o noatime "$loop" "$mnt" || exit 99
    echo "$1" >"$bdi/read_ahead_kb"
}

make_files() {
    mkfs.ext4 -q -F -b 4096 -O ^has_journal -m 0 "$loop" || exit 99
    mkdir "$mnt"
    mount_afresh 128
    sqlite3 -init /dev/null -batch "$mnt/shop.db" >/dev/null <<-'SQL'
		PRAGMA page_size = 4096;
		PRAGMA journal_mode = OFF;
		CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, body TEXT);
		INSERT INTO item
		  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
		  SELECT i, printf('item-%08x', i * 2654435761 % 4294967296), i * 7919 % 1000,
		         printf('%.*c', 600 + i * 7919 % 801, 'x')
		  FROM n;
		CREATE UNIQUE INDEX item_name ON item (name);
	SQL
    cp -r "$source/linux" "$mnt/tree" || skip "there is no $source/linux to search"
    awk 'BEGIN {
        x = 7
        rows = 40000
        print "PRAGMA cache_size = -256;"
        for (r = 1; r <= rows; r++) cdf[r] = cdf[r - 1] + 1 / r
        for (n = 0; n < 15000; n++) {
            x = x * 16807 % 2147483647
            u = x / 2147483647 * cdf[rows]
            low = 1
            high = rows
            while (low < high) {
                mid = int((low + high) / 2)
                if (cdf[mid] > u) high = mid; else low = mid + 1
            }
            printf "SELECT length(body) FROM item WHERE name = printf(\"item-%%08x\", %d * 2654435761 %% 4294967296);\n", low * 40503 % rows + 1
        }
    }' >"$TEST_FOLDER/queries.sql"
    cp "$reads" "$TEST_FOLDER/reads"
}

run_sqlite() { sqlite3 -init /dev/null -batch -readonly "$mnt/shop.db" <"$TEST_FOLDER/queries.sql"; }
run_grep() { grep -r -F zyzzyva "$mnt/tree"; grep -r -F zyzzyva "$mnt/tree"; }
run_reads() { "$TEST_FOLDER/reads" "$mnt/shop.db" 60000 8000; }

# record NAME LIMIT READAHEAD-KB: records one run; pages that came in for the file system of the
# test, metadata left out, in $added.
record() {
    mount_afresh "$3"
    echo "$2" >"$cgroup/$limit_file" || exit 99
    export -f "run_$1"
    export mnt TEST_FOLDER cgroup
    "$mglru" record -o "$TEST_FOLDER/$1.$2.trace" -- \
        bash -c "echo \$\$ >$cgroup/cgroup.procs; run_$1 >/dev/null; true" 2>"$TEST_FOLDER/log" || {
        cat "$TEST_FOLDER/log"
        exit 1
    }
    grep -q 'none lost' "$TEST_FOLDER/log" || { cat "$TEST_FOLDER/log"; failures=$((failures + 1)); }
    added=$(sed -n 's/,//g; s/^  cache *\([0-9]*\) pages came in.*/\1/p' "$TEST_FOLDER/log")
}

# predicted NAME LIMIT READAHEAD-KB: pages read in a replay of the recording without a limit, what
# lies on other file systems left out: it was in the cache before and belongs to another cgroup.
predicted() {
    grep -e '^#mglru' -e " $mnt/" "$TEST_FOLDER/$1.-1.trace" >"$TEST_FOLDER/only"
    "$mglru" replay "$TEST_FOLDER/only" --memory "$2" --policy "$policy" --model 7.3 \
        --readahead "$3K" --quiet --csv - | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "pages_read") column = i }
        $1 == "run" { print $column }'
}

failures=0
# Limits far below what is hot are left out: the classic LRU decides there by counters that the
# kernel flushes every 2 s, and its own runs differ by more than the bound.
[ "$limit_file" = memory.max ] && no_limit=max || no_limit=-1
make_files
printf 'program  readahead  limit  kernel  replay  difference\n'
for readahead in 0 128; do
    for program in sqlite:8M:16M grep:3M:16M reads:12M:20M; do
        IFS=: read -r name limits <<<"$program"
        record "$name" "$no_limit" "$readahead"
        [ "$no_limit" = -1 ] || mv "$TEST_FOLDER/$name.$no_limit.trace" "$TEST_FOLDER/$name.-1.trace"
        for limit in ${limits//:/ }; do
            record "$name" "$limit" "$readahead"
            said=$(predicted "$name" "$limit" "$readahead")
            line=$(awk -v a="$added" -v b="$said" -v bound="$BOUND" 'BEGIN {
                d = a > 0 ? 100 * (b - a) / a : 100
                printf "%6d  %6d  %+9.1f%%", a, b, d
                exit d > bound || d < -bound }')
            [ $? -eq 0 ] || failures=$((failures + 1))
            printf '%-7s  %8sK  %5s  %s\n' "$name" "$readahead" "$limit" "$line"
        done
    done
done
[ $failures -eq 0 ] || echo "$failures differ by more than $BOUND % or lost events"
exit $((failures > 0))
