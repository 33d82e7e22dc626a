# Each failure is one line and a status; nothing is left behind.
$ linewise
2| linewise: no command given; `linewise --help` lists them
[2]
$ linewise draw x
2| linewise: no command is named 'draw'; `linewise --help` lists them
[2]
$ linewise show
2| linewise show: no file was given; `linewise show --help`
[2]
$ linewise show linewise-types
2| linewise show: no type was given; `linewise list linewise-types` shows them
[2]
$ linewise show linewise-types server --lines 99
2| linewise show: --lines: struct server has lines 0-10, there is no line 99
[2]
$ linewise show linewise-types server --lines 3-1
2| linewise show: --lines: '3-1' is no line or range of lines, as in 20-26
[2]
$ linewise show linewise-types server --line 100
2| linewise show: --line: '100' is no power of 2 in 16..512
[2]
$ linewise show linewise-types server --base 64
2| linewise show: --base: 64 is not below the line of 64 bytes
[2]
$ linewise show linewise-types server --bass 1
2| linewise show: unknown option --bass; `linewise show --help` lists them
[2]
$ linewise show linewise-types server --json
2| linewise show: --json needs a value
[2]
$ linewise show linewise-types server pair@12 --json -
2| linewise show: --json writes one type, 2 were given
[2]
$ linewise show linewise-types server --html no/such/folder.html; ls
linewise-types
2| linewise show: no/such/folder.html: cannot write: No such file or directory
# Names: near ones are offered, declared ones and other kinds of types are told apart.
$ linewise show linewise-types sever
2| linewise show: linewise-types: no type is named sever; did you mean server?
[2]
$ linewise show linewise-types only_declared
2| linewise show: linewise-types: only_declared is only declared here, its members are not known: look in a file of the code that defines it
[2]
$ linewise show linewise-types colour
2| linewise show: linewise-types: colour is an enum
[2]
$ linewise show linewise-types colour_alias
2| linewise show: linewise-types: colour_alias is a typedef of something that is no struct, union or class
[2]
$ linewise show linewise-types 'union server'
2| linewise show: linewise-types: no type is named server; did you mean server?
[2]
$ linewise show linewise-types pair 2>&1 | sed 's|@[^ ]*/types.c|@types.c|g'
linewise show: linewise-types: pair has 2 different layouts, name one: pair@types.c:54 (16 bytes), pair@types.c:68 (12 bytes)
$ linewise show linewise-types pair@99
2| linewise show: linewise-types: none of the layouts of pair (2) is declared at, or is as large as, '99'
[2]
$ linewise list linewise-types 'nothing*'
2| linewise list: linewise-types: no type fits 'nothing*'
[2]
# Files: no debug information, none at all, something else, cut off.
$ linewise list no-such-file
2| linewise list: no-such-file: cannot read: no such file
[2]
$ linewise list .
2| linewise list: .: is a folder, expected a file
[2]
$ echo hello >text; linewise list text
2| linewise list: text: is no ELF file, BTF or kernel image
[2]
$ : >empty; linewise list empty
2| linewise list: empty: is empty
[2]
$ head -c 1000 linewise-types >cut; linewise list cut 2>&1 | sed 's/[0-9][0-9]* lie outside/N lie outside/'
linewise list: cut: damaged ELF file: section headers at offset N lie outside its 1000 bytes
$ printf '!<arch>\n' >lib.a; linewise list lib.a
2| linewise list: lib.a: is an archive: take a member out of it with `ar x`
[2]
$ printf '\237\353\001\000\030\000\000\000\000\000\000\000\377\000\000\000' >short.btf; linewise list short.btf
2| linewise list: short.btf: damaged BTF: it is cut off in its header (offset 0)
[2]
$ strip -o stripped linewise-types && linewise list stripped
2| linewise list: stripped: has no debug information: compile with -g, install its -dbgsym or -dbg package, or for a kernel open /sys/kernel/btf/vmlinux or its vmlinuz
[2]
$ linewise show linewise-types server >/dev/full
2| linewise show: standard output: write failed: No space left on device
[3]
