#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: examples/sweep.sh makes of shards, on processors and one by one as in a queue, what a single
# run writes.
# usage: sweep.sh MGLRU SOURCE-FOLDER
set -eu
sweep=$(realpath "$2")/examples/sweep.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
ln -s "$(realpath "$1")" "$folder/bin/mglru"
PATH=$folder/bin:$PATH
export PATH
cd "$folder"
awk 'BEGIN { for (i = 0; i < 5000; i++) { x = (x * 16807 + 1) % 2147483647; print x % 900 } }' >t.keys
SWEEP='--memory 512K..4M --policy mglru,lru --model 6.12,7.3'
export SWEEP
# shellcheck disable=SC2086 # options
mglru replay t.keys $SWEEP --json single.json --quiet 2>error || {
    grep -q 'built without' error && exit 77
    cat error
    exit 1
}
unset SHARD SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT
SHARDS=3 "$sweep" t.keys here >/dev/null
for i in 0 1 2 3; do
    SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=4 "$sweep" t.keys queue
done
"$sweep" --merge queue >/dev/null
mglru merge single.json --json single-merged.json >/dev/null
cmp here/whole.json single-merged.json
cmp queue/whole.json single-merged.json
cmp queue/whole.json single.json
"$sweep" 2>/dev/null && exit 1
[ "$("$sweep" 2>&1 | wc -l)" -eq 1 ]
