# S1: a request that spans pages is one access a page, in every format that has counts. S3: the same
# input gives the same output, byte by byte, whatever the number of runs that share the machine.
$ printf '0 4 0 1\n2 4 0 2\n0 1 0 3\n' >t.lis
$ printf '#mglru-trace 1 page_size=4096\nr / data 0 4\nr / data 2 4\nr / data 0\n' >t.native
$ mglru replay t.lis --memory 12K,16K,24K --policy lru --csv - | grep '^run' | cut -d , -f 5,7-9
12288,9,2,7
16384,9,2,7
24576,9,3,6
$ mglru replay t.native --memory 12K,16K,24K --policy lru --csv - | grep '^run' | cut -d , -f 5,7-9
12288,9,2,7
16384,9,2,7
24576,9,3,6
$ mglru replay t.native --memory 1M --csv - | grep '^run' | cut -d , -f 5,7-9
1048576,9,3,6
# A request longer than the replay's own buffers.
$ printf '#mglru-trace 1 page_size=4096\nr / data 0 400000\nr / data 399999\n' >long
$ mglru replay long --memory 1G --policy lru,mglru --csv - | grep '^run' | cut -d , -f 2,5,7-9
lru,1073741824,400001,1,400000
mglru,1073741824,400001,1,400000
$ mglru replay long --memory 1G --policy mglru --miss-bits long.bits --quiet; wc -c <long.bits; od -An -tx1 long.bits | sort | uniq -c | sed 's/^ *//'
50001
1  00
1  ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff
1 *
# The miss vector: bit i mod 8 of byte i div 8.
$ mglru replay t.native --memory 12K --policy lru --miss-bits lru.bits --quiet; od -An -tx1 lru.bits
 cf 01
$ mglru replay t.native --memory 1M --policy mglru --miss-bits mglru.bits --quiet; od -An -tx1 mglru.bits
 cf 00
$ mglru replay t.native --memory 12K,16K --policy lru,fifo --miss-bits 'v-%i-%p-%b' --quiet; ls v-*
v-0-lru-12288
v-1-lru-16384
v-2-fifo-12288
v-3-fifo-16384
$ cmp lru.bits v-0-lru-12288
# Repeated.
$ awk 'BEGIN { for (i = 0; i < 30000; i++) { x = (x * 16807 + 1) % 2147483647; print x % 2000 } }' >t.keys
$ for i in 1 2 3; do mglru replay t.keys --memory 1M..4M --policy mglru,classic,lru,2q,belady --every 7000 --explain --json $i.json --csv $i.csv --miss-bits "$i-%i.bits" >$i.txt; done
$ cmp 1.json 2.json && cmp 1.json 3.json && cmp 1.csv 2.csv && cmp 1.txt 3.txt && cmp 1-0.bits 2-0.bits && echo same
same
$ mglru replay t.keys --memory 2M --policy classic --miss-bits alone.bits --quiet; mglru replay t.keys --memory 1M,2M,3M --policy mglru,classic,lru --miss-bits 'c-%p-%b.bits' --quiet; cmp alone.bits c-classic-2097152.bits && echo same
same
