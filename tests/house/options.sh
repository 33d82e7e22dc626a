#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: --help, the manual pages and the completion list the same commands, options, policies and
# formats; completion completes them; the manual pages are well-formed.
# usage: options.sh MGLRU SOURCE-FOLDER
set -u
mglru=$1
root=$2
failures=0

fail() {
    echo "$1"
    failures=$((failures + 1))
}

# same NAME EXPECTED GOT: the words of both, in any order.
same() {
    local expected got
    # shellcheck disable=SC2086 # words are meant
    expected=$(printf '%s\n' $2 | sort -u)
    # shellcheck disable=SC2086 # words are meant
    got=$(printf '%s\n' $3 | sort -u)
    if [ -z "$expected" ] || [ "$expected" != "$got" ]; then
        fail "$1 differs (< help, > other):"
        diff <(echo "$expected") <(echo "$got")
    fi
}

# Options that a help text offers: at the start of a line, in brackets, or in a list. Other words
# with dashes are mentions of other commands' options.
options_of_help() {
    "$mglru" "$@" --help | sed '/^policies$/,$d; /^examples$/,$d' |
        grep -oE '(^ *|\[|[,;] )--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+'
    echo --help
}

# First words of the lines of section $2 of the help of command $1.
section_of_help() {
    "$mglru" "$1" --help | awk -v title="$2" '
        $0 == title { inside = 1; next }
        /^[^ ]/ || /^$/ { inside = 0 }
        inside { print $1 }'
}

options_of_man() {
    sed -n 's/^\.It Fl \(-[a-z-]*\).*/-\1/p' "$root/man/$1.1"
}

# Names marked Cm in the list of section $2 of page $1.
section_of_man() {
    awk -v title=".Sh $2" '
        $0 == title { inside = 1; next }
        /^\.Sh / { inside = 0 }
        inside && $1 == ".It" && $2 == "Cm" { print $3 }' "$root/man/$1.1"
}

# What completion offers for the words given.
complete_words() {
    COMP_WORDS=(mglru "$@")
    COMP_CWORD=$#
    _mglru
    echo "${COMPREPLY[@]}"
}

# shellcheck source=/dev/null
. "$root/completions/mglru.bash"

commands=$("$mglru" --help | awk '/^commands:/ { inside = 1; next } /^$/ { inside = 0 }
    inside { print $1 }')
same 'commands in mglru.1' "$commands" "$(section_of_man mglru DESCRIPTION)"
same 'options in mglru.1' "--help --version" "$(options_of_man mglru)"
same 'completion of commands' "$commands --help --version" "$(complete_words '')"

for command in $commands; do
    if [ ! -f "$root/man/mglru-$command.1" ]; then
        fail "mglru-$command.1 is missing"
        continue
    fi
    options=$(options_of_help "$command")
    same "options in mglru-$command.1" "$options" "$(options_of_man "mglru-$command")"
    same "completion of options of $command" "$options" "$(complete_words "$command" x --)"
done

policies=$(section_of_help replay policies)
formats=$(section_of_help replay formats)
same 'policies in mglru-replay.1' "$policies" "$(section_of_man mglru-replay POLICIES)"
same 'formats in mglru-replay.1' "$formats" "$(section_of_man mglru-replay FORMATS)"
same 'completion of policies' "mglru classic $policies" "$(complete_words replay --policy '')"
same 'completion of formats' "$formats" "$(complete_words replay --format '')"
same 'completion in a list' 'lru,classic lru,clock' "$(complete_words replay --policy lru,cl)"
same 'completion after =' 'per-folio' "$(complete_words replay --aging = p)"

if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$root"/man/*.1 || fail 'manual pages: see above'
fi
exit $((failures > 0))
