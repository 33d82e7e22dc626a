# What baselines say about a loop of five pages, with one page more once: small enough to check by
# hand. LRU and FIFO with four pages miss every access of the loop.
$ { echo '#mglru-trace 1 page_size=4096'; for i in 1 2 3 4; do echo 'r / data 0 5'; done; echo 'r / data 9'; } >loop
$ mglru replay loop --memory 16K,20K,24K --policy lru,fifo,belady
loop: 21 page accesses in 5 requests, 6 pages of 4K, native

policy  memory  accesses  misses  miss ratio
lru        16K        21      21     100.00%
lru        20K        21       6      28.57%
lru        24K        21       6      28.57%
fifo       16K        21      21     100.00%
fifo       20K        21       6      28.57%
fifo       24K        21       6      28.57%
belady     16K        21       9      42.86%
belady     20K        21       6      28.57%
belady     24K        21       6      28.57%

miss ratio      16K     20K     24K
lru         100.00%  28.57%  28.57%
fifo        100.00%  28.57%  28.57%
belady       42.86%  28.57%  28.57%
$ mglru replay loop --memory 16K,20K --policy lru --csv - | cut -d , -f 1-12
kind,policy,model,aging,memory_bytes,memcg,accesses,hits,misses,pages_read,first_touches,miss_ratio
run,lru,,,16384,,21,0,21,21,0,1.000000
memcg,lru,,,16384,/,21,0,21,21,0,1.000000
run,lru,,,20480,,21,15,6,6,0,0.285714
memcg,lru,,,20480,/,21,15,6,6,0,0.285714
# The keys that ARCHITECTURE.md promises.
$ mglru replay loop --memory 1M --policy mglru,lru --every 8 --json r.json --quiet
$ for key in tool version trace runs policy model memory_bytes accesses hits misses pages_read first_touches miss_ratio stat workingset_refault_file pgsteal memcg series; do grep -q "\"$key\":" r.json || echo "$key is missing"; done
$ grep -c '"model": null' r.json
1
# A range has 12 sizes, fewer where pages are too coarse for that; both ends are exact.
$ mglru replay loop --memory 4K..8K --policy lru --csv - | grep '^run' | cut -d , -f 5
4096
8192
$ mglru replay loop --memory 1M..1G --policy lru --csv - | grep '^run' | cut -d , -f 5
1048576
1970176
3698688
6942720
13037568
24485888
45981696
86347776
162148352
304488448
571789312
1073741824
# A series has a point every N accesses and one at the end; requests are cut for it.
$ mglru replay loop --memory 1M --policy lru,mglru --every 8 --csv - | grep '^sample' | cut -d , -f 2,7-10,14
lru,8,3,5,5,5
lru,16,11,5,5,5
lru,21,15,6,6,6
mglru,8,3,5,5,5
mglru,16,11,5,5,5
mglru,21,15,6,6,6
# Memcgs: each with its subtree; "/" only when it accessed pages itself.
$ { echo '#mglru-trace 1 page_size=4096'; echo 'r /a data 0 4'; echo 'r /a/b data 0 6'; echo 'a /c heap 0 3'; echo 'a /a heap 0 3'; echo 'w /c log 7'; } >groups
$ mglru replay groups --memory 1M --policy lru
groups: 17 page accesses in 5 requests, 13 pages of 4K, native

policy  memory  accesses  misses  miss ratio  first touches
lru         1M        17       7      41.18%              6

memcg  policy  memory  accesses  misses  miss ratio  first touches
/a     lru         1M        13       6      46.15%              3

/a/b   lru         1M         6       2      33.33%              -

/c     lru         1M         4       1      25.00%              3
$ { cat groups; echo 'r / data 0'; } >root; mglru replay root --memory 1M --policy lru --csv - | grep '^memcg' | cut -d , -f 6-8
/,18,5
/a,13,4
/a/b,6,4
/c,4,0
# Freed pages miss again; anonymous ones are touched for the first time again.
$ { cat groups; echo 'f /a data 0 2'; echo 'r /a data 0 3'; echo 'f /c heap 1 4294967296'; echo 'a /c heap 0 3'; } >freed
$ mglru replay freed --memory 1M --policy lru,belady,mglru --csv - | grep '^run' | cut -d , -f 2,7-11
lru,23,6,9,9,8
belady,23,6,9,9,8
mglru,23,6,9,9,8
# Several traces are one; a file that both name is the same file.
$ mglru replay loop loop --memory 20K --policy lru,belady
loop + 1 more: 42 page accesses in 10 requests, 6 pages of 4K, native

policy  memory  accesses  misses  miss ratio
lru        20K        42      12      28.57%
belady     20K        42       8      19.05%
