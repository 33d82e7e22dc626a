#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the commands of a transcript and compares what they print with what the transcript says.
#
#   run.sh [--update] PROGRAM TRANSCRIPT [FILE...]
#
# A transcript is text. A line "$ COMMAND" is run by sh in a folder made for the transcript, where
# the program under test is found by its name and the FILEs lie by theirs; the lines behind it are what it printed: standard output, then
# standard error with "2| " in front, then "[STATUS]" when that is not 0. Lines that begin with "#"
# and empty lines are for readers. Exit status 77 skips: the first line names a tool that is missing
# ("# needs TOOL").
set -u
update=
if [ "$1" = --update ]; then
    update=1
    shift
fi
program=$(realpath "$1")
transcript=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/work"
ln -s "$program" "$folder/bin/${program##*/}"
shift 2
for file; do
    ln -s "$(realpath "$file")" "$folder/work/${file##*/}"
done
PATH=$folder/bin:$PATH
LC_ALL=C
COLUMNS=100
export PATH LC_ALL COLUMNS
cd "$folder/work" || exit 99

needs=$(sed -n 's/^# needs //p' "$transcript")
for tool in $needs; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: $tool is not installed"
        exit 77
    fi
done

# Last output lines without a newline get one, so that the transcript stays text.
show() {
    sed -e "s/^/$2/" "$1"
    [ -s "$1" ] && [ "$(tail -c 1 "$1" | wc -l)" -eq 0 ] && echo
}

run_all() {
    while IFS= read -r line; do
        case $line in
        '$ '*)
            printf '%s\n' "$line"
            sh -c "${line#\$ }" >"$folder/out" 2>"$folder/err" </dev/null
            status=$?
            show "$folder/out" ''
            show "$folder/err" '2| '
            [ "$status" -eq 0 ] || printf '[%s]\n' "$status"
            ;;
        '#'* | '')
            printf '%s\n' "$line"
            ;;
        esac
    done
}

# Empty lines of a command's output are kept by being part of what the command printed; those of the
# transcript that stand before a "$" or "#" line are readers'. Only the latter are read back.
awk '/^\$ / { print; next }
     /^#/ { if (blank) print ""; print; blank = 0; next }
     /^$/ { blank = 1; next }
     { blank = 0 }' "$transcript" >"$folder/commands"
run_all <"$folder/commands" >"$folder/new"
if [ -n "$update" ]; then
    cp "$folder/new" "$transcript"
    exit 0
fi
if diff -u "$transcript" "$folder/new"; then
    echo "$(grep -c '^\$ ' "$transcript") commands, all as recorded"
    exit 0
fi
echo "differs; if it should, run: $0 --update $program $transcript $*"
exit 1
