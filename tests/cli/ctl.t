# `mglru ctl` and `mglru top`, on a live cache: the program of examples/ serves 16 MB that it touched
# and aged a hundred times.
$ timeout 120 ./aging 16 batched socket >log 2>&1 & echo $! >pid; for i in $(seq 100); do grep -qs listens log && break; sleep 0.1; done; tail -n 1 log
listens at socket
$ stat -c %a socket
600
# Files of the cache, and of memcgs; ages depend on the clock.
$ mglru ctl socket read enabled; mglru ctl socket read min_ttl_ms
0x0007
0
$ mglru ctl socket read lru_gen | awk '/^memcg/ { here = $3 == "/system.slice/agetest.scope" } here && NF == 4 { $2 = "AGE" } here'
memcg 3 /system.slice/agetest.scope
 node     0
100 AGE 0 4096
101 AGE 0 0
102 AGE 0 0
103 AGE 0 0
$ mglru ctl socket write lru_gen '+ 3 0 103' && mglru ctl socket write lru_gen '+ 3 0 104,+ 3 0 105' && mglru ctl socket read lru_gen | tail -n 1 | awk '{ print $1 }'
106
$ mglru ctl socket write lru_gen '+ 3 7 106'
2| mglru ctl: write lru_gen: EINVAL invalid argument
[2]
$ mglru ctl socket write lru_gen '+ 3 0'
2| mglru ctl: write lru_gen: EINVAL invalid argument
[2]
$ mglru ctl socket write lru_gen '+ 3 0 1000'
2| mglru ctl: write lru_gen: EINVAL invalid argument
[2]
$ mglru ctl socket read /system.slice/memory.max; mglru ctl socket write /system.slice/memory.max 32M; mglru ctl socket read /system.slice/memory.max
max
33554432
$ mglru ctl socket read /memory.max
2| mglru ctl: read /memory.max: ENOENT no such object
[2]
$ mglru ctl socket write /system.slice/memory.max 1X
2| mglru ctl: write /system.slice/memory.max: EINVAL invalid argument
[2]
$ mglru ctl socket write /system.slice/memory.current 0
2| mglru ctl: write /system.slice/memory.current: EPERM not permitted
[3]
$ mglru ctl socket read lru_gen_full | awk 'NR <= 3 { $2 = $1 == "0" ? "AGE" : $2; print }'
memcg 1 /
node 0
0 AGE 0 0
# memcgs come and go; the program's own stay.
$ mglru ctl socket mkdir /new; mglru ctl socket write /new/memory.low 4M; mglru ctl socket list | cut -d ' ' -f 1-7
path id memory.current memory.min memory.low memory.high memory.max
/ 1 16777216 0 0 max max
/system.slice 2 16777216 0 0 max 33554432
/system.slice/agetest.scope 3 16777216 0 0 max max
/new 4 0 0 4194304 max max
$ mglru ctl socket mkdir /new
2| mglru ctl: mkdir /new: EEXIST exists already, or aging did not advance
[2]
$ mglru ctl socket rmdir /new; mglru ctl socket rmdir /new
2| mglru ctl: rmdir /new: ENOENT no such object
[2]
$ mglru ctl socket rmdir /system.slice; mglru ctl socket rmdir /system.slice/agetest.scope
2| mglru ctl: rmdir /system.slice: EBUSY object is in use
2| mglru ctl: rmdir /system.slice/agetest.scope: EBUSY object is in use
[2]
# Reclaim; the pages of the cache have no store and may go.
$ mglru ctl socket write /system.slice/memory.reclaim 4M; mglru ctl socket read /system.slice/memory.stat | awk '$1 == "pgsteal" { print ($2 >= 1024) }'
1
$ mglru ctl socket write /system.slice/memory.reclaim 1G
2| mglru ctl: write /system.slice/memory.reclaim: EAGAIN less was reclaimed than asked for
[2]
# Tables: without a terminal once, without colours.
$ mglru top socket; mglru top socket --once | od -c | grep -c 033
memcg                        memory  max  hits  misses  miss ratio  read  refaults  reclaimed  aged
/                                 0  max     0   4,096     100.00%     0         0      4,096   103
/system.slice                     0  32M     0   4,096     100.00%     0         0      4,096   103
/system.slice/agetest.scope       0  max     0   4,096     100.00%     0         0      4,096   103
0
[1]
$ mglru top socket --json - | grep -c '"path"'; mglru top socket --json top.json; mglru top socket --json - | cmp - top.json
3
# OpenMetrics: families in one piece, each declared once, endings by type and unit, the end marked.
$ mglru ctl socket mkdir '/q"\x'; mglru ctl socket metrics >metrics; grep -c '{memcg="/q\\"\\\\x"}' metrics | awk '{ print ($1 > 50) }'
1
$ awk '$1 == "#" && $2 == "TYPE" { if (done[$3]++) print "twice: " $3; family = $3; type = $4; unit = "" } $1 == "#" && $2 == "UNIT" { unit = $4; if (family !~ "_" unit "$") print "unit: " $0 } $1 == "#" && $2 != "EOF" && $3 != family { print "foreign: " $0 } !/^#/ { name = $0; sub(/[{].*/, "", name); if (name != family (type == "counter" ? "_total" : "")) print "sample: " $0; if ($NF !~ /^([0-9]+|[+]Inf)$/) print "value: " $0; samples[family]++ } /^$/ { print "empty line" } END { if ($0 != "# EOF") print "no end"; for (family in done) if (samples[family] != 4) print "samples: " family; print (length(done) > 60) }' metrics
1
# Refused command lines.
$ mglru ctl
2| mglru ctl: expected SOCKET and read, write, mkdir, rmdir, list or metrics
[2]
$ mglru ctl socket
2| mglru ctl: expected SOCKET and read, write, mkdir, rmdir, list or metrics
[2]
$ mglru ctl socket reads enabled
2| mglru ctl: reads: expected read, write, mkdir, rmdir, list or metrics
[2]
$ mglru ctl socket read
2| mglru ctl: expected SOCKET read NAME
[2]
$ mglru ctl socket write enabled
2| mglru ctl: expected SOCKET write NAME TEXT
[2]
$ mglru ctl socket read '/a b/memory.max'
2| mglru ctl: '/a b/memory.max': names and paths hold no blanks
[2]
$ mglru ctl socket write lru_gen "$(printf 'a\nb')"
2| mglru ctl: a line break; ';' separates the commands of lru_gen
[2]
$ mglru ctl nowhere read enabled
2| mglru ctl: nowhere: No such file or directory
[2]
$ mglru ctl log read enabled
2| mglru ctl: log: no cache listens there
[3]
$ mglru top
2| mglru top: expected the SOCKET of a cache
[2]
$ mglru top socket other
2| mglru top: other: one socket at a time
[2]
$ mglru top socket --json -  --json x
2| mglru top: --json was given twice
[2]
$ mglru top nowhere
2| mglru top: nowhere: No such file or directory
[2]
# The program ends: its socket goes.
$ kill "$(cat pid)"; for i in $(seq 100); do test -e socket || break; sleep 0.1; done; ls
aging
log
metrics
pid
top.json
