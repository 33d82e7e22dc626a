# S6: a set of hot pages that moves: 6.12 keeps the old set in a generation that eviction never looks
# at, and the explanation says so (figures shown as N); 7.3 and the classic LRU follow the set. 6000
# pages are hot at a
# time, memory has 8192; every 40000 accesses the set moves on by 3000.
$ awk 'BEGIN { x = 1; for (i = 0; i < 400000; i++) { x = (x * 16807) % 2147483647; print (int(i / 40000) * 3000 + x % 6000) % 32768 } }' >shift.keys
$ mglru replay shift.keys --memory 32M --model 6.12 --explain | sed -n '/ at 32M$/,/^$/p' | sed 's/[0-9,]*[0-9]/N/g'
mglru N.N at NM
N of N misses (N.N%) were for pages that had been in memory before and were evicted.
Most of them, N.N%, were file pages taken by the rule "oldest generation", accessed at most once since they came in (tier N), N generations older than the youngest.
Half of these came back before about N more pages were evicted; N pages are in memory.
No generation was created in N accesses: aging never ran.
At the end they hold, oldest first (generation: file pages): N: N, N: N, N: N, N: N.
Eviction looks at the oldest generation only. N of N pages (N.N%) lie in younger ones, where nothing looks at them until aging runs, used or not.
Aging does not run at the priority that reclaim starts with while the oldest generation has pages to give, and it always has: what is read now enters there or just above.
So what was hot once stays for good, and what is hot now is evicted after about N more pages, before it can prove itself: a set of hot pages that moves never settles.
Compare: --policy mglru,classic --model N.N.N,next,ours.

$ mglru replay shift.keys --memory 32M --model 6.12,7.3 --policy mglru,classic --csv - | awk -F , '/^run/ { print $2, $3, ($9 > 200000 ? "lost" : $9 < 60000 ? "follows" : "between") }'
mglru 6.12 lost
mglru 7.3 follows
classic 6.12 follows
classic 7.3 follows
# A loop larger than memory: how much more memory would have helped. 2000 pages, about 960 fit.
$ awk 'BEGIN { for (i = 0; i < 20000; i++) print i % 2000 }' >loop.keys; mglru replay loop.keys --memory 4M --policy classic --explain | sed -n '/ at 4M$/,/^$/p' | sed 's/[0-9,]*[0-9]/N/g'
classic N.N at NM
N of N misses (N.N%) were for pages that had been in memory before and were evicted.
All of them were file pages taken by the rule "inactive tail", not accessed twice while on the inactive list.
Half of these came back before about N more pages were evicted; N pages are in memory.
At the end the active list holds N pages and the inactive list N.
About N pages more of memory, evicted in the same order, would have kept half of these.


# Nothing was needed again.
$ printf '1\n2\n3\n' >few.keys; mglru replay few.keys --memory 4M --explain
few.keys: 3 page accesses, pages of 4K, keys

policy  model  memory  accesses  misses  miss ratio  refaults  reclaimed  aged
mglru   7.3        4M         3       3     100.00%         0          0     0

mglru 7.3 at 4M
0 of 3 misses (0.0%) were for pages that had been in memory before and were evicted.
