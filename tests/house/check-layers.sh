#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: scripts/check-layers catches each kind of forbidden include and passes the allowed ones.
# Method: a small tree with one file of each kind; the output must name exactly the forbidden ones.
# usage: check-layers.sh SCRIPTS-FOLDER
set -u
scripts=$1
tree=$(mktemp -d) || exit 99
trap 'rm -rf "$tree"' EXIT
failures=0

# try NAME EXPECTED FILE INCLUDE: EXPECTED is a part of the complaint, or empty for "allowed".
try() {
    rm -rf "$tree/src" "$tree/include" "$tree/bench"
    mkdir -p "$tree/src" "$tree/include/mglru" "$tree/$(dirname "$3")"
    echo "#include $4" >"$tree/$3"
    output=$("$scripts/check-layers" "$tree")
    status=$?
    if [ -z "$2" ]; then
        [ $status -eq 0 ] && [ -z "$output" ] && return
    else
        case $status:$output in
        1:"$3:1: "*"$2"*) return ;;
        esac
    fi
    echo "$1: status $status, output: $output"
    failures=$((failures + 1))
}

try 'down' '' src/reclaim/a.c '"memcg/node.h"'
try 'own folder' '' src/reclaim/a.c '"reclaim/folio.h"'
try 'up' 'expected a lower level' src/memcg/a.c '"reclaim/folio.h"'
try 'up, with blanks' 'expected a lower level' src/memcg/a.h '  "reclaim/folio.h"'
try 'sideways' 'expected a lower level' src/layout/a.c '"coherence/a.h"'
try 'tool to base' '' src/trace/a.c '"base/list.h"'
try 'tool to lower tool' '' src/report/a.c '"replay/result.h"'
try 'tool to higher tool' 'expected a lower level' src/trace/a.c '"replay/result.h"'
try 'tool to private header' 'expected <mglru/...>' src/replay/a.c '"reclaim/folio.h"'
try 'tool to public header' '' src/replay/a.c '<mglru/cache.h>'
try 'benchmark to private header' 'expected <mglru/...>' bench/a.c '"cache/index.h"'
try 'subfolder of cli' '' src/cli/mglru/a.c '"report/out.h"'
try 'unknown folder' 'no folder of the table' src/misc/a.c '"base/list.h"'
try 'no folder named' 'name the folder' src/base/a.c '"list.h"'
try 'dotted path' 'name the folder' src/base/a.c '"../base/list.h"'
try 'source file' 'never included' src/base/a.c '"base/list.c"'
try 'public to private' 'public header' include/mglru/a.h '"base/list.h"'
try 'public to public' '' include/mglru/a.h '<mglru/error.h>'
try 'raw atomics' 'for sync/ alone' src/memcg/a.c '<stdatomic.h>'
try 'raw atomics in sync' '' src/sync/a.c '<stdatomic.h>'

exit $((failures > 0))
