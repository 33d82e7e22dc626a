# SPDX-License-Identifier: MIT
# Brings what pahole prints into the form of layout-dump; see dump.c. A type whose text holds an
# error of pahole's own is marked with "!" in front.

function member_name(text) {
    while (match(text, /__attribute__\(\([a-z_]*(\([0-9]+\))?\)\)/))
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
    if (match(text, /\([A-Za-z_0-9: ]*\*/)) {
        text = substr(text, RSTART + RLENGTH)
        sub(/^[* ]+/, "", text)
        sub(/^(const|volatile|restrict) +/, "", text)
        sub(/[^A-Za-z0-9_].*/, "", text)
        return text
    }
    sub(/;.*/, "", text)
    gsub(/\[[^]]*\]/, "", text)
    sub(/:[0-9]+ *$/, "", text)
    sub(/ +$/, "", text)
    sub(/.*[^A-Za-z0-9_.$]/, "", text)
    return text
}
# The numbers of the comment that ends the line: offset, [bit offset,] size.
function add_member(line, head, comment, parts, n, bits) {
    comment = line
    sub(/.*\/\* */, "", comment)
    sub(/ *\*\/.*/, "", comment)
    head = line
    sub(/\/\*[^*]*\*\/[^*]*$/, "", head)
    gsub(/:/, ": ", comment)
    n = split(comment, parts, /[: ]+/)
    members++
    if (comment ~ /:/) {
        bits = head
        sub(/;.*/, "", bits)
        sub(/.*:/, "", bits)
        list = list member_name(head) "#" (parts[1] * 8 + parts[2]) ":" (bits + 0) ","
    } else {
        list = list member_name(head) ":" parts[1] ":" parts[2] ","
    }
}
function number_behind(line, words, rest) {
    if (!match(line, words))
        return 0
    rest = substr(line, RSTART + RLENGTH)
    return rest + 0
}
/^(struct|union|class) .*\{/ && depth == 0 {
    kind = $1 == "union" ? "union" : "struct"
    name = $0
    sub(/^[a-z]+ /, "", name)
    sub(/ *(: .*)?\{.*/, "", name)
    depth = 1
    list = ""
    members = size = unused = padding = broken = 0
    # "struct foo {};" on one line
    if ($0 ~ /\};/)
        depth = 0
    next
}
depth == 0 { next }
/<ERROR|BRAIN FART/ { broken = 1 }
/^\t*\}/ {
    depth--
    if (depth == 0) {
        printf "%s%s %s|%d|%d|%d|%d|%s\n", broken ? "!" : "", kind, name, size, members, unused,
               padding, list
        next
    }
    if (depth == 1 && /\/\* +[0-9]+/)
        add_member($0)
    next
}
/\{$/ { depth++; next }
depth == 1 && /\/\* size: / { size = number_behind($0, "size: ") }
depth == 1 && /\/\* .*sum holes: / { unused += 8 * number_behind($0, "sum holes: ") }
depth == 1 && /\/\* .*sum bit holes: / { unused += number_behind($0, "sum bit holes: ") }
depth == 1 && /\/\* padding: / { padding += 8 * number_behind($0, "padding: ") }
depth == 1 && /\/\* bit_padding: / { padding += number_behind($0, "bit_padding: ") }
depth == 1 && /;.*\/\* +[0-9]+/ && !/^\t\/\*/ { add_member($0) }
