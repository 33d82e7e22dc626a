# Outputs appear complete or not at all.
$ printf '#mglru-trace 1 page_size=4096\nr /a data 0 10\nr /b data 0 2\n' >t.native
$ mglru replay t.native --memory 1M --policy lru --json r.json --csv r.csv; ls
t.native: 12 page accesses in 2 requests, 10 pages of 4K, native

policy  memory  accesses  misses  miss ratio
lru         1M        12      10      83.33%

memcg  policy  memory  accesses  misses  miss ratio
/a     lru         1M        10      10     100.00%

/b     lru         1M         2       0       0.00%
r.csv
r.json
t.native
# What stood under the name before is replaced at the end only.
$ echo old >r.csv; mglru replay t.native nosuch --memory 1M --policy lru --csv r.csv; cat r.csv; ls
old
r.csv
r.json
t.native
2| mglru replay: nosuch: cannot open: No such file or directory
$ mglru replay t.native --memory 1M --policy lru --csv r.csv --quiet; head -c 4 r.csv; ls
kindr.csv
r.json
t.native
# FILE - is standard output, and then the table is not.
$ mglru replay t.native --memory 1M --policy lru --csv - | cut -d , -f 1-8
kind,policy,model,aging,memory_bytes,memcg,accesses,hits
run,lru,,,1048576,,12,2
memcg,lru,,,1048576,/a,10,0
memcg,lru,,,1048576,/b,2,2
# A full disk.
$ mglru replay t.native --memory 1M --policy lru --quiet --json /dev/full
2| mglru replay: /dev/full: write failed: No space left on device
[3]
$ mglru replay t.native --memory 1M --policy lru --quiet --csv /dev/full --json also.json; ls also.json
also.json
2| mglru replay: /dev/full: write failed: No space left on device
$ mglru replay t.native --memory 1M --policy lru --quiet --miss-bits /dev/full
2| mglru replay: /dev/full: write failed: No space left on device
[3]
$ mglru replay t.native --memory 1M --policy lru >/dev/full
2| mglru replay: standard output: write failed: No space left on device
[3]
$ mglru --help >/dev/full
2| mglru: standard output: write failed: No space left on device
[3]
$ mglru replay --help >/dev/full
2| mglru: standard output: write failed: No space left on device
[3]
# A closed pipe, and a standard output that is closed.
$ { sleep 0.2; mglru replay t.native --memory 1M --policy lru --json -; echo "[$?]" >&2; } | true
2| mglru replay: standard output: write failed: Broken pipe
2| [3]
$ { sleep 0.2; mglru replay t.native --memory 1M --policy lru; echo "[$?]" >&2; } | true
2| mglru replay: standard output: write failed: Broken pipe
2| [3]
$ mglru replay t.native --memory 1M --policy lru >&-
2| mglru replay: standard output: write failed: Bad file descriptor
[3]
$ ls -d *.*
also.json
r.csv
r.json
t.native
# A signal while the replay waits for input: nothing partial stays, and the status is the signal's.
$ mkfifo in; sleep 9 >in & writer=$!; mglru replay in --json stopped.json --write-native stopped.native & replay=$!; sleep 0.4; ls | grep -c stopped; { kill -TERM $replay; wait $replay; echo "[$?]"; kill $writer; wait $writer; } 2>/dev/null; ls | grep -c stopped
1
[143]
0
2| mglru replay: interrupted
[1]
