# Control lines become what an administrator would write; refusals name the line and the errno text.
$ echo '{ echo "#mglru-trace 1 page_size=4096"; cat; } >t' >trace
$ for line in '!set /a memory.max 12X' '!set / memory.max 1M' '!set /a memory.bogus 1' '!set / swappiness 300' '!rmdir /never' '!read /a memory.bogus' '!lru_gen enabled maybe' '!age /a 7 60' '!evict /a 0 99 60'; do printf 'r /a data 0\n%s\n' "$line" | sh trace; mglru replay t --memory 4M; done
2| mglru replay: t: line 3: !set /a memory.max 12X: Invalid argument
2| mglru replay: t: line 3: !set / memory.max 1M: No such file or directory
2| mglru replay: t: line 3: !set /a memory.bogus 1: No such file or directory
2| mglru replay: t: line 3: !set / swappiness 300: Invalid argument
2| mglru replay: t: line 3: !rmdir /never: No such file or directory
2| mglru replay: t: line 3: !read /a memory.bogus: No such file or directory
2| mglru replay: t: line 3: !lru_gen enabled maybe: Invalid argument
2| mglru replay: t: line 3: !age /a 7 60: Invalid argument
2| mglru replay: t: line 3: !evict /a 0 99 60: Invalid argument
[2]
# A memcg with children cannot be removed; a removed one must be made again.
$ printf 'r /a/b data 0 5\n!rmdir /a\n' | sh trace; mglru replay t
2| mglru replay: t: line 3: !rmdir /a: Device or resource busy
[2]
$ printf 'r /a data 0 5\n!rmdir /a\nr /a data 0 5\n' | sh trace; mglru replay t
2| mglru replay: t: line 4: memcg /a was removed before and not made again
[2]
$ printf 'r /a data 0 5\n!rmdir /a\n!mkdir /a\nr /a data 3 5\n!mkdir /a\n' | sh trace; mglru replay t --memory 4M --csv - | grep -e '^run' -e '^memcg' | cut -d , -f 6-11
,10,2,8,8,0
/a,10,2,8,8,0
$ printf 'r /a/b data 0 5\na /a/b heap 0 3\n!rmdir /a/b\n!rmdir /a\nr /c data 0 5\n' | sh trace; mglru replay t --memory 4M --csv - | grep -e '^run' -e '^memcg' | cut -d , -f 6-11
,13,5,5,5,3
/a,8,0,5,5,3
/a/b,8,0,5,5,3
/c,5,5,0,0,0
# What the kernel accepts. The classic run keeps the classic LRU whatever the trace switches.
$ printf '%s\n' '!mkdir /a' '!set /a memory.max 2M' '!set /a memory.low 512K' '!set / swappiness 100' '!set / min_ttl_ms 0' '!lru_gen enabled 0x0001' '!lru_gen min_ttl_ms 1000' 'r /a data 0 100' '!age /a 0 60' '!evict /a 0 0 60 10' '!read /a memory.stat' '!read / lru_gen' '!lru_gen enabled 0' '!lru_gen enabled y' | sh trace; mglru replay t --policy mglru,classic --model 6.12,7.3,next,ours --csv - | grep '^run' | cut -d , -f 2,3,6-11,13
mglru,6.12,,100,0,100,100,0,1
mglru,7.3,,100,0,100,100,0,1
mglru,next,,100,0,100,100,0,1
mglru,ours,,100,0,100,100,0,1
classic,6.12,,100,0,100,100,0,0
classic,7.3,,100,0,100,100,0,0
classic,next,,100,0,100,100,0,0
classic,ours,,100,0,100,100,0,0
# Limits below --memory hold; without it the trace's own do: 600 pages twice over.
$ { echo '!set /a memory.max 1M'; for i in 1 2; do echo 'r /a data 0 600'; echo 'r /b other 0 600'; done; } | sh trace; for m in --memory=16M --quiet; do mglru replay t $m --csv - | grep '^memcg' | cut -d , -f 5,6,7,9; done
16777216,/a,1200,1200
16777216,/b,1200,600
0,/a,1200,1200
0,/b,1200,600
# Out of memory without swap: the memcg with most anonymous memory loses its process; its accesses
# are skipped until it opens a file again. 200 + 40 of 256 pages are in use when /b asks for more.
$ printf 'a /a heap 0 200\na /b heap 0 40\na /b heap 40 100\na /a heap 0 10\na /b heap 0 10\no /a log\na /a heap 0 10\n' | sh trace; mglru replay t --memory 1M --kernel-charge 0
t: 370 page accesses in 6 requests, pages of 4K, native

policy  model  memory  accesses  misses  miss ratio  first touches  refaults  reclaimed  aged  remarks
mglru   7.3        1M       360       0       0.00%            350         0          0     0  OOM, 10 skipped

memcg  policy  model  memory  accesses  misses  miss ratio  first touches  refaults  reclaimed  aged  remarks
/a     mglru   7.3        1M       210       0       0.00%            210         0          0     0  OOM, 10 skipped

/b     mglru   7.3        1M       150       0       0.00%            140         0          0     0
$ mglru replay t --memory 1M --kernel-charge 0 --json - | grep -e oom -e skipped
      "oom": true,
      "skipped": 10,
          "oom_events": 1,
          "skipped": 10
          "oom_events": 0,
          "skipped": 0
# Skipped accesses have their miss bits too. With swap nobody is killed.
$ mglru replay t --memory 1M --kernel-charge 0 --miss-bits bits --quiet; wc -c <bits
47
$ mglru replay t --memory 1M --swap 1M --csv - | grep '^run' | cut -d , -f 7-11,15
370,20,10,10,340,0
# --swappiness wins over the trace: at 0 and 1 file pages go, at 200 anonymous ones.
$ { echo '!set / swappiness 200'; for i in 1 2 3; do echo 'a /a heap 0 200'; echo 'r /a data 0 200'; done; } | sh trace; for s in 0 1 200; do mglru replay t --memory 1M --swap 4M --swappiness $s --json - | grep -e pswpout | sed -n 1p; done; mglru replay t --memory 1M --swap 4M --json - | grep -e pswpout | sed -n 1p
        "pswpout": 0,
        "pswpout": 0,
        "pswpout": 455,
        "pswpout": 455,
# A memcg full of pages dirtied through a mapping is not out of memory: they are written back.
$ for i in 1 2 3; do echo 'M /a data 0 200'; done | sh trace; mglru replay t --memory 280K --policy mglru,classic --kernel-charge 0 --csv - | grep '^run' | cut -d , -f 2,7,15
mglru,600,0
classic,600,0
# No memory for an open file: the process that wanted it is killed, the others go on.
$ { echo '!set /a memory.max 0'; printf 'r /a data 0\nr /b data 0 3\nr /a data 1\n'; } | sh trace; mglru replay t --memory 1M --json - | grep -e oom -e skipped -e '"accesses"'
    "accesses": 5,
      "accesses": 3,
      "oom": true,
      "skipped": 2,
          "accesses": 0,
          "oom_events": 1,
          "skipped": 2
          "accesses": 3,
          "oom_events": 0,
          "skipped": 0
# The classic LRU decides by counters as of their last flush, so each result states the schedule.
$ printf 'r / data 0 9\n' | sh trace; for f in --quiet --stat-flush=always --stat-flush=500; do mglru replay t --memory 1M --policy classic,mglru $f --json - | grep stat_flush; done
      "stat_flush": "20000 accesses",
      "stat_flush": null,
      "stat_flush": "always",
      "stat_flush": null,
      "stat_flush": "500 accesses",
      "stat_flush": null,
$ printf '@5 r / data 0 9\n' | sh trace; for f in --quiet --stat-flush=500ms; do mglru replay t --memory 1M --policy classic $f --json - | grep stat_flush; done
      "stat_flush": "2s",
      "stat_flush": "500ms",
