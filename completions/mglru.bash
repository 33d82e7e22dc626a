# SPDX-License-Identifier: MIT
# Bash completion of mglru(1). Names are listed here, so that completing runs no program;
# tests/house/options.sh holds them against `mglru --help` and `mglru COMMAND --help`.

_mglru_policies='mglru classic lru fifo clock 2q arc lirs s3fifo sieve w-tinylfu belady'
_mglru_models='6.12 7.3 next ours'
_mglru_formats='native keys lirs lis webcachesim csv oracleGeneral oracleGeneral-blocks
    oracleGeneral-objects vscsi1 vscsi2 blkparse fio2 fio3 filemap damon spec lackey be32 le32
    be64 le64'
_mglru_replay_options='--memory --policy --model --aging --swap --swappiness --kernel-charge
    --readahead --stat-flush --shard --format --columns --write-native --every --explain --json
    --csv --plot --miss-bits --quiet --no-progress --help'

_mglru_bench_options='--jobs --size --runs --slices --slice --layout --cpus --rival --json --quiet --no-progress
    --help'

_mglru_plan_options='--target --device-latency --warmup --model --policy --readahead --swap --sample
    --trace-format --columns --format --json --html --plot --quiet --no-progress --help'

_mglru_record_options='-o --cgroup --pid --duration --max-size --buffer --help'

_mglru_ctl_options='--help'

_mglru_top_options='--once --json --help'

_mglru_merge_options='--json --csv --plot --quiet --help'

# Completes the last part of a comma list in $1 from the words $2.
_mglru_list() {
    local before=
    case $1 in
    *,*) before=${1%,*}, ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$2" -- "${1##*,}")
}

# Completes the value of option $1 of any command, begun as $2. Fails where $1 takes none.
_mglru_value() {
    # What the same name means to another command.
    case ${COMP_WORDS[1]}$1 in
    plan--format) mapfile -t COMPREPLY < <(compgen -W 'text k8s systemd' -- "$2") && return ;;
    plan--policy) mapfile -t COMPREPLY < <(compgen -W 'mglru classic' -- "$2") && return ;;
    esac
    case $1 in
    --policy) _mglru_list "$2" "$_mglru_policies" ;;
    --model) _mglru_list "$2" "$_mglru_models" ;;
    --aging) _mglru_list "$2" 'per-folio batched splice' ;;
    --format | --trace-format) _mglru_list "$2" "$_mglru_formats" ;;
    --kernel-charge) _mglru_list "$2" 'auto 0' ;;
    --readahead) _mglru_list "$2" 'auto 0' ;;
    --stat-flush) _mglru_list "$2" 'always 2s' ;;
    --write-native | --json | --csv | --html | --plot | --miss-bits | --rival)
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
        ;;
    --target) mapfile -t COMPREPLY < <(compgen -W 'miss-ratio= misses/s= stall=' -- "$2") ;;
    --device-latency | --warmup | --sample | --memory | --swap | --swappiness | --shard | --columns | --every | --jobs | --size | --runs | --slices | --slice)
        COMPREPLY=()
        ;;
    *) return 1 ;;
    esac
}

# Completes `mglru record`, begun as $2 behind $1: behind -- the words are the command's.
_mglru_record() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
            _mglru_command "$i" "$2"
            return
        fi
    done
    case $1 in
    -o) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    --cgroup) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    --pid) mapfile -t COMPREPLY < <(cd /proc && compgen -G '[0-9]*' | grep "^$2") ;;
    --duration | --max-size | --buffer) COMPREPLY=() ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$_mglru_record_options" -- "$2") ;;
    esac
}

# The command behind the -- that is word $1, begun as $2.
_mglru_command() {
    if [ "$COMP_CWORD" -eq $(($1 + 1)) ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$2")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
    fi
}

_mglru() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W 'record replay plan merge bench ctl top --help --version' -- "$current")
        return
    fi
    # Bash makes a word of the = in --option=value.
    if [ "$current" = = ]; then
        current=
    elif [ "$previous" = = ]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case ${COMP_WORDS[1]} in
    record)
        _mglru_record "$previous" "$current"
        return
        ;;
    replay) options=$_mglru_replay_options ;;
    plan) options=$_mglru_plan_options ;;
    merge) options=$_mglru_merge_options ;;
    top) options=$_mglru_top_options ;;
    ctl)
        options=$_mglru_ctl_options
        if [ "$COMP_CWORD" -eq 3 ]; then
            mapfile -t COMPREPLY < <(compgen -W 'read write mkdir rmdir list metrics --help' -- "$current")
            return
        fi
        ;;
    bench)
        options=$_mglru_bench_options
        if [ "$COMP_CWORD" -eq 2 ]; then
            mapfile -t COMPREPLY < <(compgen -W "hit refault replay --help" -- "$current")
            return
        fi
        ;;
    *) return ;;
    esac
    _mglru_value "$previous" "$current" && return
    case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    esac
}

complete -o filenames -o bashdefault -F _mglru mglru
