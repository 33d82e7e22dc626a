# `mglru plan` on small traces whose answers are known.
$ printf '#mglru-trace 1 page_size=4096\n' >head; { cat head; for i in 1 2 3 4 5 6 7 8 9 10; do echo "@${i}000000 r /a data 0 400"; done; } >loop
# A loop: all or nothing.
$ mglru plan loop --readahead 0
loop: native, a miss waits 100 us

/a, MGLRU of 7.3: 4,000 accesses of 400 pages (1.56M) in 9 ms
memory  misses  pages read  miss ratio  refaults   stall  remarks
  256K   4,000       4,000     100.00%         0  400 ms
  320K   4,000       4,000     100.00%         0  400 ms
  384K   4,000       4,000     100.00%         0  400 ms
  448K   4,000       4,000     100.00%         0  400 ms
  576K   4,000       4,000     100.00%       832  400 ms
  704K   4,000       4,000     100.00%     3,600  400 ms
  896K   4,000       4,000     100.00%     3,600  400 ms
 1.06M   4,000       4,000     100.00%     3,600  400 ms
 1.38M   4,000       4,000     100.00%     3,600  400 ms
 1.69M     400         400      10.00%         0   40 ms  memory.low, memory.high, knee
 2.12M     400         400      10.00%         0   40 ms

recommended
  memory.high  1.69M
  memory.max   1.94M
  memory.low   1.69M
why
  - memory.high 1.69M is the knee of the curve, the point farthest below the straight line
    between its ends: 448K more would save 0 misses, the memory up to here saves 3,600.
  - memory.max 1.94M leaves an eighth above memory.high, so that what is in use between two
    rounds of reclaim ends no process.
  - memory.low 1.69M keeps from neighbours what saves 3,600 misses, half or more of what
    memory.high saves.
  - All of the 400 misses at memory.high are first accesses of pages, which no memory saves; a
    service that runs longer than the trace has fewer (--warmup leaves a start out).
  - 3,600 misses go only when the whole working set fits: pages come back when nearly all others
    went by, as in a scan or a loop that no smaller cache holds. Give it all of 1.69M, or less
    for the rest, and let what scans read past the cache (O_DIRECT, POSIX_FADV_DONTNEED).
  - The trace holds no anonymous memory: add what the service has of it (anon in memory.stat) to
    all three.
$ mglru plan loop --readahead 0 --warmup 400 --format k8s | sed 's/^#/(comment)/'
(comment) /a, MGLRU of 7.3: miss ratio 0.00% at memory.high; from `mglru plan`
(comment) page cache only: add the service's anonymous memory
resources:
  requests:
    memory: 1728Ki
  limits:
    memory: 1984Ki
$ mglru plan loop --readahead 0 --target miss-ratio=20% --format systemd | sed 's/^#/(comment)/'
(comment) /a, MGLRU of 7.3: miss ratio 10.00% at memory.high; from `mglru plan`
(comment) page cache only: add the service's anonymous memory
[Service]
MemoryHigh=1728K
MemoryMax=1984K
MemoryLow=1728K
# A part that is used often, and a tail.
$ awk 'BEGIN { print "#mglru-trace 1 page_size=4096"; for (i = 0; i < 20000; i++) { x = (x * 16807 + 7) % 2147483647; printf "@%d r /db data %d\n", i * 100000, x % 10 ? x % 300 : x % 3000 } }' >hot
$ mglru plan hot --model 6.12,7.3 --readahead 0
hot: native, a miss waits 100 us

/db, MGLRU of 6.12: 20,000 accesses of 570 pages (2.23M) in 2.00 s
memory  misses  pages read  miss ratio  refaults    stall  remarks
  256K  18,310      18,310      91.55%    17,740   1.83 s
  320K  17,507      17,507      87.53%    16,937   1.75 s
  384K  16,577      16,577      82.88%    16,007   1.66 s
  512K  14,620      14,620      73.10%    14,050   1.46 s
  576K  13,573      13,573      67.86%    13,003   1.36 s
  768K  10,528      10,528      52.64%     9,958   1.05 s
  960K   7,475       7,475      37.38%     6,905   748 ms  memory.low
 1.12M   5,040       5,040      25.20%     4,470   504 ms
 1.44M   2,048       2,048      10.24%     1,478   205 ms  memory.high, knee
 1.81M   1,290       1,290       6.45%       720   129 ms
 2.25M     616         616       3.08%        46  61.6 ms
 2.81M     570         570       2.85%         0    57 ms

recommended
  memory.high  1.44M
  memory.max   1.62M
  memory.low   960K
why
  - memory.high 1.44M is the knee of the curve, the point farthest below the straight line
    between its ends: 1.38M more would save 1,478 misses, the memory up to here saves 16,262.
  - memory.max 1.62M leaves an eighth above memory.high, so that what is in use between two
    rounds of reclaim ends no process.
  - memory.low 960K keeps from neighbours what saves 10,835 misses, half or more of what
    memory.high saves.
  - 570 of the 2,048 misses at memory.high are first accesses of pages, which no memory saves.
  - The trace holds no anonymous memory: add what the service has of it (anon in memory.stat) to
    all three.

/db, MGLRU of 7.3: 20,000 accesses of 570 pages (2.23M) in 2.00 s
memory  misses  pages read  miss ratio  refaults    stall  remarks
  256K  17,621      17,621      88.11%    14,313   1.76 s
  320K  17,004      17,004      85.02%    14,802   1.70 s
  384K  15,710      15,710      78.55%    13,845   1.57 s
  512K  14,439      14,439      72.19%    12,872   1.44 s
  576K  13,750      13,750      68.75%    12,523   1.38 s
  768K  10,660      10,660      53.30%    10,090   1.07 s
  960K   8,616       8,616      43.08%     8,046   862 ms  memory.low
 1.12M   6,336       6,336      31.68%     5,766   634 ms
 1.44M   2,625       2,625      13.12%     1,796   262 ms  memory.high, knee
 1.81M   1,299       1,299       6.49%       718   130 ms
 2.25M     604         604       3.02%        34  60.4 ms
 2.81M     570         570       2.85%         0    57 ms

recommended
  memory.high  1.44M
  memory.max   1.62M
  memory.low   960K
why
  - memory.high 1.44M is the knee of the curve, the point farthest below the straight line
    between its ends: 1.38M more would save 2,055 misses, the memory up to here saves 14,996.
  - memory.max 1.62M leaves an eighth above memory.high, so that what is in use between two
    rounds of reclaim ends no process.
  - memory.low 960K keeps from neighbours what saves 9,005 misses, half or more of what
    memory.high saves.
  - 570 of the 2,625 misses at memory.high are first accesses of pages, which no memory saves.
  - With the memory.high of 6.12, 1.44M, 7.3 misses 2,625 times instead of 2,048 (+28.2 %).
  - The trace holds no anonymous memory: add what the service has of it (anon in memory.stat) to
    all three.
# Read once: no limit helps.
$ { cat head; echo 'r / log 0 5000'; } >once; mglru plan once --readahead 0 | tail -n +3
/, MGLRU of 7.3: 5,000 accesses of 5,000 pages (19.5M)
memory  misses  pages read  miss ratio  refaults   stall  remarks
  256K   5,000       5,000     100.00%         0  500 ms  memory.high
  320K   5,000       5,000     100.00%         0  500 ms
  384K   5,000       5,000     100.00%         0  500 ms
  448K   5,000       5,000     100.00%         0  500 ms
  576K   5,000       5,000     100.00%         0  500 ms
  704K   5,000       5,000     100.00%         0  500 ms
  896K   5,000       5,000     100.00%         0  500 ms
 1.06M   5,000       5,000     100.00%         0  500 ms
 1.31M   5,000       5,000     100.00%         0  500 ms
 1.69M   5,000       5,000     100.00%         0  500 ms
 2.06M   5,000       5,000     100.00%         0  500 ms
 2.62M   5,000       5,000     100.00%         0  500 ms
 3.31M   5,000       5,000     100.00%         0  500 ms
 4.50M   5,000       5,000     100.00%         0  500 ms
 5.50M   5,000       5,000     100.00%         0  500 ms
    7M   5,000       5,000     100.00%         0  500 ms
 8.50M   5,000       5,000     100.00%         0  500 ms
 10.5M   5,000       5,000     100.00%         0  500 ms
 13.5M   5,000       5,000     100.00%         0  500 ms
   17M   5,000       5,000     100.00%         0  500 ms
   21M   5,000       5,000     100.00%         0  500 ms

recommended
  memory.high  256K
  memory.max   320K
  memory.low   0
why
  - The limit is not the problem: of 5,000 misses at 256K, memory for everything saves only 0.
  - memory.max 320K leaves an eighth above memory.high, so that what is in use between two rounds
    of reclaim ends no process.
  - All of the 5,000 misses at memory.high are first accesses of pages, which no memory saves; a
    service that runs longer than the trace has fewer (--warmup leaves a start out).
  - The trace holds no anonymous memory: add what the service has of it (anon in memory.stat) to
    all three.
# Several memcgs; their own limits are left out, a control line of another memcg is not theirs.
$ { cat head; echo '!mkdir /a'; echo '!set /a memory.max 256K'; for i in 1 2 3; do echo 'r /a data 0 300'; echo 'r /b data 500 70'; done; } >two; mglru plan two --readahead 0 | grep -v '^ .*%' 
two: native, a miss waits 100 us

/a, MGLRU of 7.3: 900 accesses of 300 pages (1.17M)
memory  misses  pages read  miss ratio  refaults  stall  remarks

recommended
  memory.high  1.38M
  memory.max   1.56M
  memory.low   1.38M
why
  - memory.high 1.38M is the knee of the curve, the point farthest below the straight line
    between its ends: 384K more would save 0 misses, the memory up to here saves 600.
  - memory.max 1.56M leaves an eighth above memory.high, so that what is in use between two
    rounds of reclaim ends no process.
  - memory.low 1.38M keeps from neighbours what saves 600 misses, half or more of what
    memory.high saves.
  - All of the 300 misses at memory.high are first accesses of pages, which no memory saves; a
    service that runs longer than the trace has fewer (--warmup leaves a start out).
  - 600 misses go only when the whole working set fits: pages come back when nearly all others
    went by, as in a scan or a loop that no smaller cache holds. Give it all of 1.38M, or less
    for the rest, and let what scans read past the cache (O_DIRECT, POSIX_FADV_DONTNEED).
  - The trace holds no anonymous memory: add what the service has of it (anon in memory.stat) to
    all three.

/b, MGLRU of 7.3: 210 accesses of 70 pages (280K)
memory  misses  pages read  miss ratio  refaults  stall  remarks

recommended
  memory.high  320K
  memory.max   384K
  memory.low   320K
why
  - memory.high 320K is the knee of the curve, the point farthest below the straight line between
    its ends: 512K more would save 0 misses, the memory up to here saves 140.
  - memory.max 384K leaves an eighth above memory.high, so that what is in use between two rounds
    of reclaim ends no process.
  - memory.low 320K keeps from neighbours what saves 140 misses, half or more of what memory.high
    saves.
  - All of the 70 misses at memory.high are first accesses of pages, which no memory saves; a
    service that runs longer than the trace has fewer (--warmup leaves a start out).
  - 140 misses go only when the whole working set fits: pages come back when nearly all others
    went by, as in a scan or a loop that no smaller cache holds. Give it all of 320K, or less
    for the rest, and let what scans read past the cache (O_DIRECT, POSIX_FADV_DONTNEED).
  - The trace holds no anonymous memory: add what the service has of it (anon in memory.stat) to
    all three.
# A target that no limit meets: status 1.
$ mglru plan loop --readahead 0 --target miss-ratio=1% | grep -A 1 target
  - No limit meets the target of miss ratio 1.00 %: with memory for the whole working set (2.12M)
    it is still miss ratio 10.00 %; 400 of those 400 misses are first accesses of pages.
$ mglru plan loop --readahead 0 --target miss-ratio=1% --quiet
[1]
$ mglru plan loop --readahead 0 --target stall=50% --quiet; mglru plan loop --readahead 0 --target misses/s=100000 --quiet
# Anonymous memory without swap.
$ { cat head; for i in 1 2 3; do echo 'a /a heap 0 300'; done; } >heap; mglru plan heap | tail -n +3
/a, MGLRU of 7.3: 900 accesses of 300 pages (1.17M)
memory  misses  pages read  miss ratio  refaults  stall  remarks
  256K       0           0       0.00%         0   0 ns  a process was killed
  320K       0           0       0.00%         0   0 ns  a process was killed
  384K       0           0       0.00%         0   0 ns  a process was killed
  448K       0           0       0.00%         0   0 ns  a process was killed
  576K       0           0       0.00%         0   0 ns  a process was killed
  704K       0           0       0.00%         0   0 ns  a process was killed
  896K       0           0       0.00%         0   0 ns  a process was killed
 1.12M       0           0       0.00%         0   0 ns  a process was killed
 1.38M       0           0       0.00%         0   0 ns  memory.high
 1.75M       0           0       0.00%         0   0 ns

recommended
  memory.high  1.38M
  memory.max   1.56M
  memory.low   0
why
  - No access misses at 1.38M, the least size tried that ends no process.
  - memory.max 1.56M leaves an eighth above memory.high, so that what is in use between two
    rounds of reclaim ends no process.
  - Below 1.38M a process is killed: its anonymous memory fits neither there nor in swap.
$ mglru plan heap --swap 4M | tail -n +3 | head -4
/a, MGLRU of 7.3: 900 accesses of 300 pages (1.17M)
memory  misses  pages read  miss ratio  refaults    stall  remarks
  256K     600         600      66.67%       600    60 ms
  320K     600         600      66.67%       600    60 ms
# JSON, and a page that needs nothing else.
$ mglru plan two --readahead 0 --model 7.3,next --json plan.json --html plan.html --quiet; grep -oE '"[a-z_]+":|"(model|path)": .*' plan.json | sort -u | tr -d '\n'; echo
"accesses":"cold_misses":"curve":"device_latency_ns":"distinct_pages":"duration_ns":"error":"format":"knee_bytes":"memcgs":"memory_bytes":"memory_high":"memory_low":"memory_max":"miss_ratio":"misses":"model": "7.3","model": "next","page_bytes":"pages_read":"path": "/a","path": "/b","path": "two","policy":"rate":"reasons":"recommend":"refaults":"sampling":"stall_ns":"tool":"trace":"upgrades":"version":
$ head -c 15 plan.html; echo; tail -c 8 plan.html; grep -c '<svg' plan.html; grep -c -E 'src=|href=|url\(|@import|<script' plan.html
<!DOCTYPE html>
</html>
2
0
[1]
$ mglru plan loop --json - --readahead 0 | head -3
{
  "tool": "mglru",
  "version": "0.1.0",
# A sample.
$ mglru plan hot --sample 50% --readahead 0 | sed -n '1,6p;$p'
hot: native, a miss waits 100 us

/db, MGLRU of 7.3: 20,000 accesses of 570 pages (2.23M) in 2.00 s, 51.4% of the pages sampled
memory  misses  pages read  miss ratio  refaults    stall  remarks
    2M     889         889       4.45%       319  88.9 ms
 2.25M     570         570       2.85%         0    57 ms  memory.low, memory.high, knee
    readahead is not modelled.
# Outputs.
$ mglru plan loop >/dev/full
2| mglru plan: standard output: write failed: No space left on device
[3]
$ mglru plan loop --json /dev/full --quiet
2| mglru plan: /dev/full: write failed: No space left on device
[3]
$ mglru plan loop --html /dev/full --json also.json --quiet; ls also.json
also.json
2| mglru plan: /dev/full: write failed: No space left on device
$ { sleep 0.2; mglru plan loop; echo "[$?]" >&2; } | true
2| mglru plan: standard output: write failed: Broken pipe
2| [3]
$ mglru plan loop --json loop
2| mglru plan: loop: is the trace, and would be overwritten
[2]
$ mglru plan loop --html nosuch/page.html
2| mglru plan: nosuch/page.html: cannot write: No such file or directory
[2]
$ mglru plan nosuch --html page.html; ls page.html
2| mglru plan: nosuch: cannot open: No such file or directory
2| ls: cannot access 'page.html': No such file or directory
[2]
# Bad input.
$ mglru plan
2| mglru plan: no trace was given
[2]
$ mglru plan loop hot
2| mglru plan: one trace at a time, but both loop and hot were given
[2]
$ mglru plan loop --bogus
2| mglru plan: unknown option --bogus; `mglru plan --help` lists them
[2]
$ mglru plan loop --target
2| mglru plan: --target needs a value
[2]
$ mglru plan loop --target miss-ratio
2| mglru plan: --target: 'miss-ratio' is none of miss-ratio=X, misses/s=X and stall=X%
[2]
$ mglru plan loop --target miss-ratio=x
2| mglru plan: --target miss-ratio=x: 'x' is no number, expected a share as 0.05 or 5%
[2]
$ mglru plan loop --target miss-ratio=5
2| mglru plan: --target miss-ratio=5: a share above 100% cannot be missed: expected 0.05 or 5%
[2]
$ mglru plan loop --target misses/s=5%
2| mglru plan: --target misses/s=5%: '5%' is no number
[2]
$ mglru plan loop --target stall=1% --target stall=2%
2| mglru plan: --target was given twice
[2]
$ mglru plan two --target stall=1%
2| mglru plan: two: --target stall needs the times of the accesses, which this trace does not have
[2]
$ mglru plan two --target misses/s=1
2| mglru plan: two: --target misses/s needs the times of the accesses, which this trace does not have
[2]
$ mglru plan loop --device-latency 0us
2| mglru plan: --device-latency: '0us' is no time such as 100us or 8ms
[2]
$ mglru plan loop --device-latency 100
2| mglru plan: --device-latency: '100' is no time such as 100us or 8ms
[2]
$ mglru plan loop --device-latency 2s
2| mglru plan: --device-latency 2s is above the most, 1s
[2]
$ mglru plan loop --warmup soon
2| mglru plan: --warmup: 'soon' is neither a number of accesses nor a time such as 30s
[2]
$ mglru plan loop --warmup 4000
2| mglru plan: loop: has 4000 page accesses, --warmup leaves none of them
[2]
$ mglru plan two --warmup 1s
2| mglru plan: two: the warm-up outlasts the trace, or the trace has no times: give a number of accesses to --warmup
[2]
$ mglru plan loop --model 6.11
2| mglru plan: --model: '6.11' is none of 6.12, 7.3, next, ours
[2]
$ mglru plan loop --model 7.3,7.3
2| mglru plan: --model 7.3,7.3: '7.3' was given twice
[2]
$ mglru plan loop --policy lru
2| mglru plan: --policy: 'lru' is none of mglru, classic
[2]
$ mglru plan loop --sample 0
2| mglru plan: --sample: '0' is no share of the pages from 0.000001 to 1, as 0.01 or 1%
[2]
$ mglru plan loop --sample 2
2| mglru plan: --sample: '2' is no share of the pages from 0.000001 to 1, as 0.01 or 1%
[2]
$ mglru plan loop --sample 1%
2| mglru plan: --sample 0.01: is too small a part of the 400 pages of /a, expected at least 256 pages
[2]
$ mglru plan loop --sample 1% --readahead 128K
2| mglru plan: --readahead cannot be modelled on a sample of the pages, whose neighbours are missing: leave out --sample
[2]
$ mglru plan loop --readahead 1
2| mglru plan: --readahead 1 is below the least, a page of 4K; 0 is none
[2]
$ mglru plan loop --swap some
2| mglru plan: --swap: 'some' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru plan loop --swap 100
2| mglru plan: --swap 100 is below the least, a page of 4K; 0 is none
[2]
$ mglru plan loop --format yaml
2| mglru plan: --format: 'yaml' is none of text, k8s, systemd (the format of the trace is --trace-format)
[2]
$ mglru plan loop --json x --html x
2| mglru plan: --json and --html both want x
[2]
$ mglru plan loop --plot plan.pdf
2| mglru plan: --plot: the name 'plan.pdf' ends neither in .svg nor in .png
[2]
$ mglru plan loop --html ''
2| mglru plan: --html needs the name of a file
[2]
$ mglru plan -
2| mglru plan: standard input: a plan reads the trace several times, which this does not allow: give a file
[2]
$ cat head >none; mglru plan none
2| mglru plan: none: no page access in the trace
[2]
$ echo 'q' >>none; mglru plan none
2| mglru plan: none: line 2: expected an operation (r w m M x a o f or a ! line), found 'q'
[2]
$ ls
also.json
head
heap
hot
loop
none
once
plan.html
plan.json
two
# What was recorded, and on what: the kernel's own model unless others are asked for; lost events.
$ { echo '#mglru-trace 1 page_size=4096'; echo '!set / kernel 6.18.44-cloud'; echo '!set / lru classic'; echo '!set / events_lost 1200'; for i in 1 2 1 2; do echo "r /a data $i"; done; } >said; mglru plan said | grep -E -A 1 '^/a,|recorded on|lost'
/a, classic LRU of 6.12: 4 accesses of 2 pages (8K)
memory  misses  pages read  miss ratio  refaults   stall  remarks
--
  - The trace was recorded on Linux 6.18.44-cloud with the classic LRU; this plans for the
    classic LRU of 6.12, --policy and --model for others.
  - The recording lost 1,200 events, so accesses are missing from these counts.
  - The trace holds no anonymous memory: add what the service has of it (anon in memory.stat) to
$ mglru plan said --json - | sed -n '/"kernel"/,/"model"/p'
    "kernel": "6.18.44-cloud",
    "lru": "classic",
    "events_lost": 1200
  },
  "policy": "classic",
  "device_latency_ns": 100000,
  "model": "6.12",
$ sed 's/classic/mglru/' said >mg; sed 's/6\.18\.44/7.0.1/' mg >new; for t in mg new; do mglru plan $t | grep '^/a,'; done
/a, MGLRU of 6.12: 4 accesses of 2 pages (8K)
/a, MGLRU of 7.3: 4 accesses of 2 pages (8K)
$ mglru plan said --model 6.12,7.3 | grep -E '^/a,|recorded on'; mglru plan said --policy mglru | grep '^/a,'
/a, MGLRU of 6.12: 4 accesses of 2 pages (8K)
/a, MGLRU of 7.3: 4 accesses of 2 pages (8K)
/a, MGLRU of 6.12: 4 accesses of 2 pages (8K)
$ mglru plan said --format systemd | sed -n "2s/^# //p"
the recording lost 1200 events: accesses are missing
$ mglru replay said --memory 1M | head -2
said: 4 page accesses, pages of 4K, native
1,200 events were lost while it was recorded: accesses are missing
$ mglru replay said --memory 1M,2M --shard 0/2 --json 1.json --quiet; mglru replay said --memory 1M,2M --shard 1/2 --json 2.json --quiet; mglru merge 1.json 2.json | head -2
said: 4 page accesses, pages of 4K, native
1,200 events were lost while it was recorded: accesses are missing
$ for bad in 'lru fancy' 'kernel x' 'events_lost -1'; do { head -1 said; echo "!set / $bad"; echo 'r /a data 1'; } >refused; mglru plan refused; done
2| mglru plan: refused: line 2: !set / lru fancy: Invalid argument
2| mglru plan: refused: line 2: !set / kernel x: Invalid argument
2| mglru plan: refused: line 2: !set / events_lost -1: Invalid argument
[2]
