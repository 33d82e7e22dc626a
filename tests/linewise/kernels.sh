#!/bin/sh
# SPDX-License-Identifier: MIT
# The fights of the background documents in Debian's kernels 6.12 and 6.1, and their absence where
# they were mended. Downloads the newest packages of the day; skips where that is not possible.
#
# usage: kernels.sh LINEWISE CLASSES CC...
set -u
linewise=$(realpath "$1")
classes=$(realpath "$2")
shift 2
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
    echo "skipped: no apt-get"
    exit 77
}
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 99
failed=0

# fetch PATTERN: unpacks the newest cloud kernel whose package fits; prints the path of its vmlinuz.
fetch() {
    name=$(apt-cache search --names-only "^linux-image-$1.*-cloud-amd64\$" | awk '{ print $1 }' |
        sort -V | tail -n 1)
    [ -n "$name" ] && timeout 240 apt-get download "$name" >/dev/null 2>&1 || return 1
    dpkg-deb -x "$name"_*.deb "$folder/$1" && find "$folder/$1/boot" -name 'vmlinuz-*' | head -n 1
}

# expect TEXT COMMAND...: the command's output has a line that fits TEXT.
expect() {
    pattern=$1
    shift
    "$@" >out 2>&1
    if grep -qE "$pattern" out; then
        echo "found: $pattern"
    else
        echo "MISSING: $pattern in: $*"
        head -n 30 out
        failed=1
    fi
}

# absent TEXT COMMAND...: it has none.
absent() {
    pattern=$1
    shift
    "$@" >out 2>&1
    if grep -qE "$pattern" out; then
        echo "WRONG: $pattern in: $*"
        grep -E "$pattern" out
        failed=1
    else
        echo "absent: $pattern"
    fi
}

new=$(fetch '6.12') && old=$(fetch '6.1.0-') || {
    echo "skipped: Debian's kernels cannot be downloaded here"
    exit 77
}
echo "kernels: ${new##*/} ${old##*/}"

# 000: in 6.12 the refault counters lie beside enabled, gen, seg and list.
expect '^line 23: error: false sharing \(read x atomic\)' \
    "$linewise" conflicts "$new" mem_cgroup_per_node --classes "$classes"
expect 'read +lruvec.lrugen.enabled, bytes 1520' \
    "$linewise" conflicts "$new" mem_cgroup_per_node --classes "$classes"
expect 'written +lruvec.lrugen.refaulted.*, bytes 1472-1519, atomic' \
    "$linewise" conflicts "$new" mem_cgroup_per_node --classes "$classes"
# 004: in 6.1 on line 14, mended in 6.12.
expect '^line 14: warning: reader beside lock \(read x lock\)' \
    "$linewise" conflicts "$old" cgroup --classes "$classes"
expect 'written +last_bstat' "$linewise" conflicts "$old" cgroup --classes "$classes"
absent '(warning|error|note): (reader|false)' \
    "$linewise" conflicts "$new" cgroup --classes "$classes"
# 001: mended in 6.12; a pointer in the place of what 6.1 embeds brings it.
absent 'read +lruvec_stats' "$linewise" conflicts "$new" mem_cgroup_per_node --classes "$classes"
at=$("$linewise" show "$old" mem_cgroup_per_node --json - |
    grep -A 1 '"path": "lruvec_stats_percpu"' | sed -n 's/.*"offset": \([0-9]*\).*/\1/p')
cat >pointer.c <<END
struct mem_cgroup_per_node {
    _Alignas(64) char lruvec[${at:-0}];
    void *lruvec_stats_percpu;
    void *lruvec_stats;
    unsigned long lru_zone_size[5][5];
} node;
END
"$@" -g -c pointer.c -o pointer.o || exit 99
expect '^new: .*line 25: reader beside lock' \
    "$linewise" diff "$old" pointer.o mem_cgroup_per_node --classes "$classes"
expect 'lru_lock takes the line of .*lruvec_stats away' \
    "$linewise" diff "$old" pointer.o mem_cgroup_per_node --classes "$classes"
exit $failed
