# needs cmp
# Shards joined are what one process would have said, byte by byte, in any order of the files.
$ awk 'BEGIN { for (i = 0; i < 20000; i++) { x = (x * 16807 + 1) % 2147483647; print x % 900 } }' >t.keys
$ options='t.keys --memory 1M..3M --policy mglru,lru,2q,classic --model 6.12,7.3 --every 9000 --explain'; mglru replay $options --json whole.json --csv whole.csv --quiet; for i in 0 1 2 3 4; do mglru replay $options --shard $i/5 --json $i.json --quiet; done
$ mglru merge 0.json 1.json 2.json 3.json 4.json --json all.json --csv all.csv --quiet; cmp whole.json all.json && cmp whole.csv all.csv && echo same
same
$ mglru merge 3.json 1.json 4.json 0.json 2.json --json - | cmp - whole.json && echo same
same
$ mglru merge 3.json 1.json --json part.json --quiet; mglru merge 4.json part.json 0.json 2.json --json - | cmp - whole.json && echo same
same
# One run each: three shards of three policies.
$ for i in 0 1 2; do mglru replay t.keys --memory 2M --policy sieve,lru,arc --shard $i/3 --json p$i.json --quiet; done; mglru merge p0.json p1.json p2.json; mglru merge p2.json p1.json p0.json --csv - | cut -d , -f 1-9
t.keys: 20,000 page accesses, 900 pages of 4K, keys

policy  memory  accesses  misses  miss ratio
sieve       2M    20,000   8,791      43.95%
lru         2M    20,000   8,800      44.00%
arc         2M    20,000   8,788      43.94%
kind,policy,model,aging,memory_bytes,memcg,accesses,hits,misses
run,sieve,,,2097152,,20000,11209,8791
memcg,sieve,,,2097152,/,20000,11209,8791
run,lru,,,2097152,,20000,11200,8800
memcg,lru,,,2097152,/,20000,11200,8800
run,arc,,,2097152,,20000,11212,8788
memcg,arc,,,2097152,/,20000,11212,8788
# What cannot be merged.
$ mglru merge
2| mglru merge: no result to merge was given
[2]
$ mglru merge p0.json p0.json
2| mglru merge: p0.json: run 0 (sieve, 2M) stands in both
[2]
$ mglru merge nosuch.json
2| mglru merge: nosuch.json: cannot open: No such file or directory
[2]
$ mglru merge t.keys
2| mglru merge: t.keys: byte 2: no JSON: unexpected character
[2]
$ printf '0\n1\n' >other.keys; mglru replay other.keys --memory 2M --policy lru --json other.json --quiet; mglru merge p0.json other.json
2| mglru merge: other.json: results of different traces: t.keys and other.keys
[2]
$ mglru merge p0.json --bogus
2| mglru merge: unknown option --bogus; `mglru merge --help` lists them
[2]
$ mglru merge p0.json --json
2| mglru merge: --json needs a value
[2]
$ mglru merge p0.json --json /dev/full --quiet
2| mglru merge: /dev/full: write failed: No space left on device
[3]
$ mglru merge --help | sed -n 1p
usage: mglru merge FILE... [--json FILE] [--csv FILE] [--plot FILE.svg|.png] [--quiet]
$ mkdir folder
$ mglru merge folder
2| mglru merge: folder: cannot read: Is a directory
[2]
# What is no result at all.
$ echo '[]' >list.json; mglru merge list.json
2| mglru merge: list.json: top level: expected the JSON object that mglru replay writes
[2]
