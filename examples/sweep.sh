#!/bin/bash
# SPDX-License-Identifier: MIT
# A sweep of one trace over sizes, policies and kernels, spread over a cluster or over processors.
# Every shard does its part of the runs; `mglru merge` makes one result of them, the same that one
# process would have written.
#
#   Slurm          sbatch --array=0-15 sweep.sh TRACE OUT
#                  sbatch --dependency=afterok:JOB --wrap 'sweep.sh --merge OUT'
#   GNU parallel   sweep.sh TRACE OUT            (xargs -P where parallel is missing)
#   other queues   SHARD=3 SHARDS=16 sweep.sh TRACE OUT, then sweep.sh --merge OUT
#
# SWEEP holds the options that make the runs. OUT is a folder; OUT/whole.json is the result. A shard
# whose file is there is not done again, so a sweep that was interrupted goes on where it stopped.
#SBATCH --job-name=mglru-sweep
#SBATCH --cpus-per-task=2
#SBATCH --time=02:00:00
set -eu

SWEEP=${SWEEP:---memory 64M..16G --policy mglru,classic,lru,belady --model 6.12,7.3}
SHARDS=${SHARDS:-${SLURM_ARRAY_TASK_COUNT:-}}
SHARD=${SHARD:-${SLURM_ARRAY_TASK_ID:-}}

one_shard() {
    local result=$2/shard-$3.json
    [ -s "$result" ] && return
    # shellcheck disable=SC2086 # SWEEP is a list of options
    mglru replay "$1" $SWEEP --shard "$3/$4" --json "$result" --quiet
}

merge() {
    mglru merge "$1"/shard-*.json --json "$1/whole.json"
}

if [ "${1-}" = --merge ] && [ $# -eq 2 ]; then
    merge "$2"
    exit
fi
if [ $# -ne 2 ]; then
    echo 'usage: sweep.sh TRACE OUT, or sweep.sh --merge OUT' >&2
    exit 2
fi
mkdir -p "$2"
if [ -n "$SHARD" ] && [ -n "$SHARDS" ]; then
    one_shard "$1" "$2" "$SHARD" "$SHARDS"
    exit
fi
SHARDS=${SHARDS:-$(nproc)}
export SWEEP SHARDS
if command -v parallel >/dev/null; then
    seq 0 $((SHARDS - 1)) | parallel -q --will-cite env SHARD={} "$0" "$1" "$2"
else
    seq 0 $((SHARDS - 1)) | xargs -P "$SHARDS" -I{} env SHARD={} "$0" "$1" "$2"
fi
merge "$2"
