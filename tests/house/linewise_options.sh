#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: --help, the manual page and the completion of linewise list the same commands and options;
# completion completes them; the page is well-formed.
# usage: linewise_options.sh LINEWISE SOURCE-FOLDER
set -u
linewise=$1
root=$2
page=$root/man/linewise.1
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

options_of_help() {
    "$linewise" "$1" --help | grep -oE '^  (--[a-z-]+|-o) ' | grep -oE -- '-[a-z-]+'
}

# Options in the subsection of command $1, which may have more behind its name.
options_of_page() {
    awk -v command="$1" '
        /^\.S[sh] / { inside = $1 == ".Ss" && $2 == command; next }
        inside && $1 == ".It" && $2 == "Fl" { print "-" $3 }' "$page"
}

complete_words() {
    COMP_WORDS=(linewise "$@")
    COMP_CWORD=$#
    _linewise
    echo "${COMPREPLY[@]}"
}

# shellcheck source=/dev/null
. "$root/completions/linewise.bash"

commands=$("$linewise" --help | awk '/^commands:/ { inside = 1; next } /^$/ { inside = 0 }
    inside { print $1 }')
same 'commands in linewise.1' "$commands" "$(awk '$1 == ".It" && $2 == "Cm" { print $3 }' "$page")"
same 'completion of commands' "$commands --help --version" "$(complete_words '')"
common=$("$linewise" --help | sed -n '/^options of every command/,/^$/p' |
    grep -oE '^  --[a-z-]+' | grep -oE -- '--[a-z-]+')
same 'common options in linewise.1' "$common --help --version" \
    "$(sed '/^\.Ss/,$d' "$page" | sed -n 's/^\.It Fl \(-[a-z-]*\).*/-\1/p')"
for command in $commands; do
    options=$(options_of_help "$command")
    same "options of $command in linewise.1" "$options" "$(options_of_page "$command")"
    same "completion of options of $command" "$options $common --help" \
        "$(complete_words "$command" x -)"
done
same 'completion of a value' 'size' "$(complete_words list x --sort si)"
same 'completion after =' 'any' "$(complete_words show x --base = a)"
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$page" || fail 'manual page: see above'
fi
exit $((failures > 0))
