# SPDX-License-Identifier: MIT
# Bash completion of linewise(1). Names are listed here, so that completing runs no program;
# tests/house/linewise_options.sh holds them against `linewise --help` and the manual page.

declare -A _linewise_options=(
    [list]='--sort --holes --min-size --line --html --json'
    [show]='--lines --classes --line --base --unicode --html --json'
    [conflicts]='--classes --line --base --unicode --html --json'
    [suggest]='--classes --line --base --patch --html --json'
    [why-size]='--line --html --json'
    [diff]='--classes --line --base --html --json'
    [classes]='-o --html --json'
    [lock]='--classes --line --base -o --json'
    [record]='-o --watch --mode --max'
    [predict]='--cpus --latency --line --program --classes-out --json'
    [import]='--program --bias --at --line --classes-out --json'
    [check]='--classes --lock --line --base --html --json'
)
_linewise_common='--btf --btf-base --help'

# Completes the value of option $1, begun as $2. Fails where $1 takes none.
_linewise_value() {
    case $1 in
    --sort) mapfile -t COMPREPLY < <(compgen -W 'name size lines holes unused' -- "$2") ;;
    --line) mapfile -t COMPREPLY < <(compgen -W '64 128' -- "$2") ;;
    --base) mapfile -t COMPREPLY < <(compgen -W 'any 0' -- "$2") ;;
    --mode) mapfile -t COMPREPLY < <(compgen -W 'log count filter' -- "$2") ;;
    --program | --classes-out | --classes | --lock | --json | --html | --btf-base | -o)
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
        ;;
    --lines | --min-size | --watch | --max | --cpus | --latency | --bias | --at) COMPREPLY=() ;;
    *) return 1 ;;
    esac
}

_linewise() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "${!_linewise_options[*]} --help --version" -- \
            "$current")
        return
    fi
    # Bash makes a word of the = in --option=value.
    if [ "$current" = = ]; then
        current=
    elif [ "$previous" = = ]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    command=${COMP_WORDS[1]}
    [ -n "${_linewise_options[$command]-}" ] || return
    _linewise_value "$previous" "$current" && return
    case $current in
    -*)
        mapfile -t COMPREPLY < <(compgen -W \
            "${_linewise_options[$command]} $_linewise_common" -- "$current")
        ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    esac
}

complete -o filenames -o bashdefault -F _linewise linewise
