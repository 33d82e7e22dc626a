# A conversion writes what was read: the same lines for a native trace, and a trace that replays the
# same for any other format.
$ printf '#mglru-trace 1 page_size=4096\nr /a data 0 10\n@500 w /a out 5\na /a heap 0 4\nm /b lib 3\nM /b lib 3\nx /b lib 4\n!set /a memory.max 1M\n!set / swappiness 60\no /a data\nf /a heap 0 2\n!mkdir /c\n!rmdir /c\n!read /a memory.stat\n!lru_gen enabled 0x0007\n' >t.native
$ mglru replay t.native --write-native again; cmp t.native again && echo same
same
$ mglru replay t.native --write-native - | cmp - t.native && echo same
same
$ printf '7 3 0 1\n9 2 0 2\n' >t.lis; mglru replay t.lis --write-native - | sed 's/^/  /'
  #mglru-trace 1 page_size=4096
  r / blocks 7 3
  r / blocks 9 2
# With options that concern a run it replays as well.
$ mglru replay t.lis --write-native both --memory 1M --policy lru; ls both
t.lis: 5 page accesses in 2 requests, 4 pages of 4K, lis

policy  memory  accesses  misses  miss ratio
lru         1M         5       4      80.00%
both
# Several traces become one, times one after the other.
$ printf '#mglru-trace 1 page_size=4096\n@7 r /b lib 3\n' >more; mglru replay t.native more --write-native - | tail -1 | sed 's/^/  /'
  @507 r /b lib 3
# A series of keys replays the same from its conversion.
$ awk 'BEGIN { for (i = 0; i < 20000; i++) { x = (x * 16807 + 1) % 2147483647; print x % 900 } }' >t.keys
$ mglru replay t.keys --write-native keys.native; for t in t.keys keys.native; do mglru replay $t --memory 1M,2M --policy mglru,lru,arc --csv - | sed 's/^memcg.*//' >$t.csv; done; cmp t.keys.csv keys.native.csv && echo same
same
# Nothing stays of a conversion that fails.
$ printf 'r / data 1\nq\n' | cat more - >bad; mglru replay bad --write-native out; ls out
2| mglru replay: bad: line 4: expected an operation (r w m M x a o f or a ! line), found 'q'
2| ls: cannot access 'out': No such file or directory
[2]
$ mglru replay t.native --write-native /dev/full
2| mglru replay: /dev/full: cannot write: No space left on device
[3]
$ mglru replay t.native --write-native nosuch/out
2| mglru replay: nosuch/out: cannot write: No such file or directory
[2]
$ mglru replay t.native --write-native t.native
2| mglru replay: t.native: is the trace, and would be overwritten
[2]
$ mglru replay t.native --write-native - --csv -
2| mglru replay: --csv and --write-native both want standard output
[2]
