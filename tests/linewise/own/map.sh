#!/bin/sh
# SPDX-License-Identifier: MIT
# The layout of libmglru's hot structs is the one in linewise.lock, byte by byte.
#
# usage: map.sh LINEWISE OBJECT CONF LOCK
set -u
new=$(mktemp) || exit 99
trap 'rm -f "$new"' EXIT
"$1" lock "$2" --classes "$3" -o "$new" || exit 1
diff -u "$4" "$new" && exit 0
echo "The layout changed. If that is meant: scripts/lock-layout, and look at what it changes."
exit 1
