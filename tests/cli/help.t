# The program and each command say what they do; the lists of policies and formats are cut off here,
# since other tests cover them.
$ mglru --help
usage: mglru COMMAND [ARGUMENT...]

Linux page reclaim in user space: how often would a workload miss at other memory
limits, on other kernels, under other policies?

commands:
  record   record which pages of files a program accesses, as the kernel sees it
  replay   replay a trace under memory limits, as the kernel or another policy would
  plan     say how much memory a workload needs: memory.high, .max and .low
  merge    join the results of `mglru replay --shard` into one
  bench    measure the library on this machine: hits, refaults, replays
  ctl      control the page cache of a running program
  top      watch the memory cgroups of a running program's page cache

  mglru COMMAND --help   what a command does, its options and examples
  mglru --version        the version

exit status: 0 done; 1 a check found something; 2 usage or bad input; 3 the environment
refused (permission, missing feature, full disk, closed pipe)

example:
  mglru replay trace.gz --memory 256M,512M,1G --model 6.12,7.3 --policy mglru,classic
$ mglru -h | sed -n 1p
usage: mglru COMMAND [ARGUMENT...]
$ mglru --version
mglru 0.1.0
$ mglru replay --help | sed '/^policies/,/^examples/d'
usage: mglru replay TRACE... [OPTION...]

Replays the page accesses of a trace under memory limits and tells how many miss. Several
traces are replayed one after another as one; - is standard input.

what to run
  --memory SIZE[,SIZE...]  memory.max of all memcgs of the trace together
  --memory A..B            12 sizes from A to B, geometric. Without --memory only the limits
                           that the trace sets hold
  --policy P[,P...]        mglru (default), classic, or a policy of the list below
  --model M[,M...]         kernel of mglru and classic: 6.12, 7.3 (default), next, ours
  --aging A                per-folio, batched, or splice (model ours only)
  --swap SIZE              size of swap; none by default
  --swappiness N           0..200, wins over what the trace sets
  --kernel-charge C        kernel memory charged to memcgs: auto (default), 0, or a SIZE each
  --readahead SIZE|auto    largest window of readahead, 0 (default): none; auto: what the trace
                           says, else 128K where it holds reads of programs (native format)
  --stat-flush T|N|always  how often counters are brought up to date that the classic LRU
                           decides by: a time as 2s or 500ms, a number of accesses, always
  --shard I/N              only the runs whose number modulo N is I, from 0; join the --json
                           files with `mglru merge`

the trace
  --format F               found by content unless given; list below
  --columns MAP            columns of a csv, from 0, as in time=0,page=4,count=5
  --write-native FILE      writes the trace in the native format; given without any option
                           that concerns a run, it only converts

results
  --every N                a point of a series every N accesses
  --explain                what evicted the pages that were needed again
  --json FILE, --csv FILE  the table for programs; FILE - is standard output
  --plot FILE.svg|.png     the curve over sizes, or the series, drawn by gnuplot
  --miss-bits FILE         one bit an access, 1 a miss. For several runs FILE must hold %p
                           (policy), %m (model), %b (bytes) or %i (number of the run)
  --quiet                  no table; --no-progress: no progress bar

SIZE is bytes, or a number with K, M, G or T (powers of 1024). The least memory is 64 pages
(256K) for mglru and classic, one page for the others.

  mglru replay db.trace --memory 256M,512M,1G --policy mglru,classic --model 6.12,7.3
  mglru replay db.trace --memory 64M..1G --policy mglru,lru,belady --plot curve.svg
  mglru replay db.trace --memory 32M --model 6.12 --explain
  zcat db.trace.gz | mglru replay - --memory 1G --json result.json --quiet
  mglru replay disk.vscsi --write-native disk.trace.native

exit status: 0 done; 2 usage or bad input; 3 the environment refused
$ mglru replay -h | grep -c -e '^  native ' -e '^  lru ' -e '^  belady '
3
$ mglru record --help
usage: mglru record [OPTION...] (-- COMMAND [ARGUMENT...] | --cgroup PATH | --pid N)

Records which pages of which files programs access, from the kernel's tracepoints, with what
they fork. The trace is for `mglru plan` and `mglru replay`: record while memory is not
scarce, then every limit can be tried on it. Needs root, and Linux 6.10 or later.

whom
  -- COMMAND       a command, from its start to its end
  --cgroup PATH    what is in a cgroup and below it, and what joins it: a folder, or its
                   path below the mount, as in system.slice/nginx.service
  --pid N          a running process

how long
  --duration T     at most that time: 60s, 10m. A command runs on after it
  --max-size SIZE  at most so large a trace, 1M or more
                   SIGINT, SIGTERM and SIGHUP end a recording too, and go on to the command

how
  -o FILE          the trace, - for standard output; .zst, .gz, .xz compress
                   (mglru.trace.zst)
  --buffer SIZE    memory of the kernel for events, for each CPU; larger where events are
                   lost (a 64th of the memory for all CPUs, at most 16M each)

examples
  mglru record -o db.trace.zst -- sqlite3 shop.db '.read queries.sql'
  mglru record -o web.trace.zst --cgroup system.slice/nginx.service --duration 1h
  mglru record --pid 1234 --max-size 100M
  mglru plan db.trace.zst

exit status: that of the command, or the signal that ended it; 0 done; 2 usage, no such
target, or nothing was accessed; 3 the environment refused (permission, no tracefs, no
tracepoint, full disk, more than 1 % of the events lost)
$ mglru ctl --help
usage: mglru ctl SOCKET read NAME | write NAME TEXT | mkdir PATH | rmdir PATH
       mglru ctl SOCKET list | metrics

Controls the page cache of a program that listens at SOCKET (mglru_control_open), by the
names of the kernel's files.

requests
  read             prints the file NAME: of a memcg, as /a/b/memory.max, or of the cache:
                   lru_gen, lru_gen_full, enabled, min_ttl_ms, swappiness
  write            writes TEXT to it, as echo into the kernel's file
  mkdir            makes the memcg at PATH, whose parent exists
  rmdir            removes it; one that the program uses, or that has children, is busy
  list             prints all memcgs as a table, the names of its columns first
  metrics          prints figures of all memcgs as OpenMetrics text

examples
  mglru ctl /run/server/cache write /gold/memory.low 8G
  mglru ctl /run/server/cache read lru_gen
  mglru ctl /run/server/cache write lru_gen '+ 2 0 7'
  mglru ctl /run/server/cache metrics > /var/lib/node-exporter/cache.prom

exit status: 0 done; 2 usage, or the cache refused; 3 the environment refused
$ mglru top --help
usage: mglru top SOCKET [--once] [--json FILE]

Shows the memory cgroups of the page cache of a program that listens at SOCKET, parents before
children, with what is below them: memory and limits, and hits, misses, pages read, refaults,
pages reclaimed and generations a second. Keys: q quits, arrows or j and k scroll.

options
  --once           prints the table once, counts since the memcgs were made; so it is as well
                   where input or output is no terminal
  --json FILE      writes one look for programs; FILE - is standard output

examples
  mglru top /run/server/cache
  mglru top /run/server/cache --json - | jq '.memcgs[] | select(.events_oom > 0).path'

exit status: 0 done; 2 usage; 3 the environment refused, or the cache hung up
