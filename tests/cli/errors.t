# Every refusal is one line on standard error that says what is wrong, and exit status 2.
$ printf '#mglru-trace 1 page_size=4096\nr /a data 0 10\nw /a out 5\nr /b data 0 2\n' >t.native
$ mglru
2| mglru: no command given; `mglru --help` lists them
[2]
$ mglru bogus
2| mglru: no command is named 'bogus'; `mglru --help` lists them
[2]
$ mglru replay
2| mglru replay: no trace was given; - is standard input
[2]
$ mglru replay --bogus
2| mglru replay: unknown option --bogus; `mglru replay --help` lists them
[2]
$ mglru replay t.native --json
2| mglru replay: --json needs a value
[2]
$ mglru replay t.native --explain=1
2| mglru replay: --explain takes no value
[2]
$ mglru replay t.native --memory
2| mglru replay: --memory needs a value
[2]
$ mglru replay t.native --memory 1Q
2| mglru replay: --memory: '1Q' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --memory ''
2| mglru replay: --memory: '' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --memory -4K
2| mglru replay: --memory: '-4K' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --memory 0
2| mglru replay: --memory: the size must not be 0
[2]
$ mglru replay t.native --memory 99999999999999999999
2| mglru replay: --memory: '99999999999999999999' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --memory 16777216T
2| mglru replay: --memory: '16777216T' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --memory 1M,
2| mglru replay: --memory: '' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --memory 1M,1024K
2| mglru replay: --memory 1M,1024K: a size was given twice
[2]
$ mglru replay t.native --memory 1M --memory 2M
2| mglru replay: --memory was given twice: give a list, as in 256M,512M
[2]
$ mglru replay t.native --memory 8M..4M
2| mglru replay: --memory 8M..4M: the range runs backwards: the smaller size comes first
[2]
$ mglru replay t.native --memory 1M..
2| mglru replay: --memory: '' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --memory 1M..2M,4M
2| mglru replay: --memory: '1M..2M' is no size: expected bytes, or a number with K, M, G or T
[2]
# The documented minimum: 64 pages for the kernel's algorithms, one page for the others.
$ mglru replay t.native --memory 262143
2| mglru replay: --memory 262143 is below the minimum of mglru and classic: 262144 bytes, 64 pages
[2]
$ mglru replay t.native --policy lru --memory 4095
2| mglru replay: --memory 4095 is below the minimum of a policy: 4096 bytes, 1 page
[2]
$ mglru replay t.native --policy lru,mglru --memory 4096
2| mglru replay: --memory 4096 is below the minimum of mglru and classic: 262144 bytes, 64 pages
[2]
$ mglru replay t.native --policy lru --memory 4096 --quiet
$ mglru replay t.native --policy mglru,classic --memory 256K --quiet
# Policies and models.
$ mglru replay t.native --policy bogus --memory 1M
2| mglru replay: --policy: 'bogus' is none of mglru, classic, lru, fifo, clock, 2q, arc, lirs, s3fifo, sieve, w-tinylfu, belady
[2]
$ mglru replay t.native --policy lru,lru --memory 1M
2| mglru replay: --policy lru,lru: 'lru' was given twice
[2]
$ mglru replay t.native --policy lru
2| mglru replay: --policy lru needs --memory: only mglru and classic know the limits that a trace sets
[2]
$ mglru replay t.native --model 6.11
2| mglru replay: --model: '6.11' is none of 6.12, 7.3, next, ours
[2]
$ mglru replay t.native --model 6.12,7.3,6.12
2| mglru replay: --model 6.12,7.3,6.12: '6.12' was given twice
[2]
$ mglru replay t.native --aging bogus
2| mglru replay: --aging: 'bogus' is none of per-folio, batched, splice
[2]
$ mglru replay t.native --aging batched --policy classic
2| mglru replay: --aging concerns mglru only, which --policy does not name
[2]
$ mglru replay t.native --aging splice --model ours,7.3
2| mglru replay: --aging splice belongs to model ours: model 7.3 ages as its kernel does, per-folio or batched
[2]
$ mglru replay - --policy belady --memory 1M
2| mglru replay: --policy belady reads the trace twice, which standard input does not allow: give a file
[2]
# Options that only the kernel's algorithms know.
$ mglru replay t.native --policy lru --memory 1M --swap 1M
2| mglru replay: --swap concerns mglru and classic only, which --policy does not name
[2]
$ mglru replay t.native --policy lru --memory 1M --swappiness 60
2| mglru replay: --swappiness concerns mglru and classic only, which --policy does not name
[2]
$ mglru replay t.native --policy lru --memory 1M --readahead auto
2| mglru replay: --readahead concerns mglru and classic only, which --policy does not name
[2]
$ mglru replay t.native --policy lru --memory 1M --stat-flush always
2| mglru replay: --stat-flush concerns mglru and classic only, which --policy does not name
[2]
$ mglru replay t.native --policy lru --memory 1M --explain
2| mglru replay: --explain concerns mglru and classic only, which --policy does not name
[2]
$ mglru replay t.native --policy lru --memory 1M --aging batched
2| mglru replay: --aging concerns mglru only, which --policy does not name
[2]
# They ignore the model and the kernel's charge.
$ mglru replay t.native --policy lru --memory 1M --model 6.12 --kernel-charge 0 --quiet
# Values.
$ mglru replay t.native --swap lots
2| mglru replay: --swap: 'lots' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --swap 4095
2| mglru replay: --swap 4095 is below the least, a page of 4K; 0 is none
[2]
$ mglru replay t.native --swappiness 201
2| mglru replay: --swappiness: '201' is not in 0..200
[2]
$ mglru replay t.native --kernel-charge some
2| mglru replay: --kernel-charge: 'some' is none of auto, 0 and a size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --readahead some
2| mglru replay: --readahead: 'some' is none of 0, auto and a size: expected bytes, or a number with K, M, G or T
[2]
$ mglru replay t.native --stat-flush 0
2| mglru replay: --stat-flush: '0' is none of always, a time such as 2s or 500ms, and a number of accesses
[2]
$ mglru replay t.native --stat-flush 2q
2| mglru replay: --stat-flush: '2q' is none of always, a time such as 2s or 500ms, and a number of accesses
[2]
$ mglru replay t.native --stat-flush 2s
2| mglru replay: --stat-flush 2s: t.native has no times: give a number of accesses, or always
[2]
$ mglru replay t.native --every 0
2| mglru replay: --every: '0' is no number of accesses from 1 on
[2]
$ mglru replay t.native --shard 1
2| mglru replay: --shard: '1' is no I/N with I in 0..N-1
[2]
$ mglru replay t.native --shard 2/2
2| mglru replay: --shard: '2/2' is no I/N with I in 0..N-1
[2]
$ mglru replay t.native --shard 0/2
2| mglru replay: --shard: 2 shards for 1 run
[2]
# Outputs.
$ mglru replay t.native --memory 1M,2M --miss-bits bits
2| mglru replay: --miss-bits: 2 runs do not fit into one file: put %p (policy), %m (model), %b (bytes) or %i (number of the run) into its name
[2]
$ mglru replay t.native --memory 1M,2M --miss-bits bits-%p
2| mglru replay: --miss-bits bits-%p: two runs would write to bits-mglru: tell them apart by %p, %m, %b or %i
[2]
$ mglru replay t.native --memory 1M,2M --miss-bits bits-%z
2| mglru replay: --miss-bits bits-%z: after % only p, m, b, i and % have a meaning
[2]
$ mglru replay t.native --json - --csv -
2| mglru replay: --json and --csv both want standard output
[2]
$ mglru replay t.native --json same --csv same
2| mglru replay: --json and --csv both want same
[2]
$ mglru replay t.native --json ''
2| mglru replay: --json needs the name of a file
[2]
$ mglru replay t.native --json t.native
2| mglru replay: t.native: is the trace, and would be overwritten
[2]
$ mglru replay t.native --csv .
2| mglru replay: .: cannot write: Is a directory
[2]
$ mglru replay t.native --csv nosuch/result.csv
2| mglru replay: nosuch/result.csv: cannot write: No such file or directory
[2]
$ mglru replay t.native --memory 1M --plot curve.svg
2| mglru replay: --plot draws a curve over at least two sizes of --memory, or a series with --every
[2]
$ mglru replay t.native --memory 1M,2M --plot curve.pdf
2| mglru replay: --plot: the name 'curve.pdf' ends neither in .svg nor in .png
[2]
# Traces.
$ mglru replay nosuch
2| mglru replay: nosuch: cannot open: No such file or directory
[2]
$ mglru replay .
2| mglru replay: .: is a directory, expected a trace file
[2]
$ : >empty; mglru replay empty
2| mglru replay: empty: is empty, expected a trace
[2]
$ mglru replay t.native --format bogus 2>&1 | cut -c 1-58
mglru replay: t.native: unknown trace format 'bogus', expe
$ printf '#mglru-trace 1 page_size=4096\n# nothing\n' >nothing; mglru replay nothing
2| mglru replay: nothing: no page access in the trace
[2]
$ printf '#mglru-trace 1 page_size=4096\nr /a data 0\nq /a data 0\n' >bad; mglru replay bad --json j
2| mglru replay: bad: line 3: expected an operation (r w m M x a o f or a ! line), found 'q'
[2]
$ printf '#mglru-trace 1 page_size=4096\nr /a data 0\nr /a data 1' >torn; mglru replay torn
2| mglru replay: torn: line 3: the last line is torn, expected a line break
[2]
$ printf '#mglru-trace 1 page_size=16384\nr /a data 0\n' >big; mglru replay t.native big
2| mglru replay: big: pages of 16384 bytes, but t.native has pages of 4096: traces replayed as one must agree
[2]
$ printf '#mglru-trace 1 page_size=16384\nr /a data 0\n' >big; mglru replay big --memory 512K
2| mglru replay: --memory 524288 is below the minimum of mglru with pages of 16384 bytes: 1048576 bytes, 64 pages
[2]
$ printf '#mglru-trace 1 page_size=512\nr /a data 0\n' >small; mglru replay small --memory 512K; mglru replay small --memory 512K --policy lru --quiet
2| mglru replay: small: pages of 512 bytes: mglru knows 4096 to 65536
# A name with a line break is still one line.
$ mglru replay "$(printf "no\nsuch")"
2| mglru replay: no?such: cannot open: No such file or directory
[2]
# Nothing was left behind.
$ ls
bad
big
empty
nothing
small
t.native
torn
$ mglru replay t.native --columns page=0 --memory 1M
2| mglru replay: t.native: a column map fits csv only, the trace is native
[2]
$ mglru replay t.native --readahead 3 --memory 1M
2| mglru replay: --readahead 3 is below the least, a page of 4K; 0 is none
[2]
# A signal ends the longest access there can be: one line, and nothing half-written is left.
$ printf '#mglru-trace 1 page_size=4096\nr / f 0 4294967296\n' >long
$ timeout -k 5 -s TERM 0.3 mglru replay long --memory 1M --policy mglru,lru --csv out.csv; echo $?
124
2| mglru replay: interrupted
$ ls out.csv* 2>/dev/null | wc -l
0
