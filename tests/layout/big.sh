#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: one struct out of a kernel's whole vmlinux (some 600 MB, more than 2,000 units) takes less
# than 1.5 s of CPU time, and all of its types agree with pahole's.
# Method: downloads the newest debug package of Debian's cloud kernel 6.1 (280 MB); skips where that
# is not possible.
#
# usage: big.sh LINEWISE LAYOUT-DUMP [VMLINUX]
set -u
linewise=$(realpath "$1")
dump=$(realpath "$2")
tools=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
[ -x /usr/bin/time ] || { echo 'skipped: GNU time is not installed'; exit 77; }

# Prints the path of the vmlinux.
fetch() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    name=$(apt-cache search --names-only '^linux-image-6.1.0-.*-cloud-amd64-dbg$' |
        awk '{ print $1 }' | sort -V | tail -n 1)
    [ -n "$name" ] || return 1
    (cd "$folder" && timeout 600 apt-get download "$name" >/dev/null 2>&1 &&
        dpkg-deb --fsys-tarfile "$name"_*.deb | tar xf - --wildcards './usr/lib/debug/boot/vmlinux*')
    find "$folder" -name 'vmlinux*' | head -n 1
}

vmlinux=${3-$(fetch)}
[ -r "$vmlinux" ] || { echo 'skipped: the package cannot be downloaded here'; exit 77; }
# Once to have the file in memory, then measured.
"$linewise" show "$vmlinux" mem_cgroup_per_node >/dev/null || exit 1
/usr/bin/time -o "$folder/time" -f '%U %S' "$linewise" show "$vmlinux" mem_cgroup_per_node \
    >"$folder/map" || exit 1
grep -q '^  lruvec.lrugen ' "$folder/map" || { echo 'the map lacks lruvec.lrugen'; exit 1; }
awk '{ print "one struct: " $1 + $2 " s"; exit $1 + $2 >= 1.5 }' "$folder/time" || exit 1
sh "$tools/pahole.sh" "$dump" "$vmlinux"
status=$?
[ $status -eq 77 ] || exit $status
