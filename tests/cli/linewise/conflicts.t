# Fights as stories, and what is none.
$ linewise conflicts libmemcg_node_0.so --classes memcg_node.classes
struct mem_cgroup_per_node: 2048 bytes, 32 lines of 64, aligned to 64

line 25: error: false sharing (read x atomic)
  written  lruvec.lrugen.refaulted[...], bytes 1600-1639, atomic
  read     lruvec.lrugen.enabled, bytes 1640, read
           lruvec.lrugen.gen, bytes 1641, read
           lruvec.lrugen.seg, bytes 1642, read
           lruvec.lrugen.list, bytes 1648-1663, read

    CPU A (no lock)                       CPU B (reader)
    write lruvec.lrugen.refaulted[...]    read lruvec.lrugen.enabled  -> miss
    write lruvec.lrugen.refaulted[...]    read lruvec.lrugen.enabled  -> miss

    Every write to lruvec.lrugen.refaulted takes the line away from the CPUs that read
    lruvec.lrugen.enabled, lruvec.lrugen.gen, lruvec.lrugen.seg and lruvec.lrugen.list, though
    they need nothing of what was written.

line 23: warning: false sharing (atomic x lock)
  written  lruvec.lrugen.protected[...], bytes 1472-1511, lock(lru_lock)
           lruvec.lrugen.evicted[0][0][0-2], bytes 1512-1535, atomic

    CPU A (no lock)                           CPU B (holds lru_lock)
    write lruvec.lrugen.evicted[0][0][0-2]    write lruvec.lrugen.protected[...]  -> miss
    write lruvec.lrugen.evicted[0][0][0-2]    write lruvec.lrugen.protected[...]  -> miss

    lruvec.lrugen.protected and lruvec.lrugen.evicted lie together: who writes without the lock
    steals the line from the holder of lru_lock, who needs nothing of it.

No fight:

line 5: note: reader beside lock (read x lock)
  written  lruvec.lrugen.folios[0][0][0-1], bytes 360-383, lock(lru_lock)
  read     lruvec.lrugen.min_seq[1], bytes 320-327, read
           lruvec.lrugen.timestamps[], bytes 328-359, read

    CPU A (holds lru_lock)                   CPU B (reader)
    write lruvec.lrugen.folios[0][0][0-1]    read lruvec.lrugen.min_seq[1]  -> miss
    write lruvec.lrugen.folios[0][0][0-1]    read lruvec.lrugen.min_seq[1]  -> miss

    Each hand-over of lru_lock takes the line of lruvec.lrugen.min_seq and
    lruvec.lrugen.timestamps away from its readers too.

lines 6-22: note: true sharing (lock x same lock)
  written  lruvec.lrugen.folios[...], bytes 384-999, lock(lru_lock)
           lruvec.lrugen.nr_pages[], bytes 1000-1319, lock(lru_lock)
           lruvec.lrugen.avg_refaulted[], bytes 1320-1383, lock(lru_lock)
           lruvec.lrugen.avg_total[], bytes 1384-1447, lock(lru_lock)
           lruvec.lrugen.protected[0][0][0-2], bytes 1448-1471, lock(lru_lock)

    CPU A (holds lru_lock)             CPU B (holds lru_lock)
    write lruvec.lrugen.folios[...]    (waits for the lock)
    write lruvec.lrugen.folios[...]    takes the lock, wants what A wrote

    lruvec.lrugen.folios, lruvec.lrugen.nr_pages, lruvec.lrugen.avg_refaulted,
    lruvec.lrugen.avg_total and lruvec.lrugen.protected are written under lru_lock only. These
    lines move between CPUs only when the lock does, and the next holder needs the values
    anyway: no fight, and nothing to split.

1 error, 1 warning, 2 notes
[1]
$ linewise conflicts libmemcg_node_1.so mem_cgroup_per_node --classes memcg_node.classes
struct mem_cgroup_per_node: 2048 bytes, 32 lines of 64, aligned to 64

lines 6-23: note: true sharing (lock x same lock)
  written  lruvec.lrugen.folios[], bytes 384-1023, lock(lru_lock)
           lruvec.lrugen.nr_pages[], bytes 1024-1343, lock(lru_lock)
           lruvec.lrugen.avg_refaulted[], bytes 1344-1407, lock(lru_lock)
           lruvec.lrugen.avg_total[], bytes 1408-1471, lock(lru_lock)
           lruvec.lrugen.protected[], bytes 1472-1535, lock(lru_lock)

    CPU A (holds lru_lock)          CPU B (holds lru_lock)
    write lruvec.lrugen.folios[]    (waits for the lock)
    write lruvec.lrugen.folios[]    takes the lock, wants what A wrote

    lruvec.lrugen.folios, lruvec.lrugen.nr_pages, lruvec.lrugen.avg_refaulted,
    lruvec.lrugen.avg_total and lruvec.lrugen.protected are written under lru_lock only. These
    lines move between CPUs only when the lock does, and the next holder needs the values
    anyway: no fight, and nothing to split.

0 errors, 0 warnings, 1 note
$ linewise conflicts libmemcg_node_2.so --classes memcg_node.classes --unicode | head -8
struct mem_cgroup_per_node: 2112 bytes, 33 lines of 64, aligned to 64

line 6: note: reader beside lock (read x lock)
  written  lruvec.lrugen.folios[0][0][0-2], bytes 400-447, lock(lru_lock)
  read     lruvec.lrugen.list, bytes 384-399, read

    CPU A (holds lru_lock)                   CPU B (reader)
    write lruvec.lrugen.folios[0][0][0-2]    read lruvec.lrugen.list  → miss
# The same for programs.
$ linewise conflicts libmemcg_node_0.so --classes memcg_node.classes --json - | head -21
{
  "findings": [
    {
      "type": "struct mem_cgroup_per_node",
      "line": 25,
      "last_line": 25,
      "verdict": "false sharing",
      "pair": "read x atomic",
      "severity": "error",
      "readers": [
        "lruvec.lrugen.enabled",
        "lruvec.lrugen.gen",
        "lruvec.lrugen.seg",
        "lruvec.lrugen.list"
      ],
      "writers": [
        "lruvec.lrugen.refaulted"
      ],
      "why": "Every write to lruvec.lrugen.refaulted takes the line away from the CPUs that read lruvec.lrugen.enabled, lruvec.lrugen.gen, lruvec.lrugen.seg and lruvec.lrugen.list, though they need nothing of what was written."
    },
    {
# Lines of 128, and bases that an allocator chooses.
$ linewise conflicts liblayout_cases.so mem_cgroup_before --classes cases.classes | tail -1
0 errors, 0 warnings, 0 notes
$ linewise conflicts liblayout_cases.so mem_cgroup_before --classes cases.classes --line 128 | tail -1
1 error, 0 warnings, 0 notes
$ linewise conflicts liblayout_cases.so address_space_before --classes cases.classes | tail -1
0 errors, 0 warnings, 0 notes
$ linewise conflicts liblayout_cases.so address_space_before --classes cases.classes --base any
struct address_space_before: 200 bytes, 4 lines of 64, aligned to 8

line 2: error: false sharing (read x atomic)
  written  i_mmap_rwsem[], bytes 128-167, atomic
  read     i_mmap, bytes 80-95, read

    CPU A (no lock)                 CPU B (reader)
    write i_mmap_rwsem[]            read i_mmap  -> miss
    write i_mmap_rwsem[]            read i_mmap  -> miss

    Every write to i_mmap_rwsem takes the line away from the CPUs that read i_mmap, though they
    need nothing of what was written. (Object starts at 40, 48, 56 behind a line.)

1 error, 0 warnings, 0 notes
[1]
# Data of one lock that padding parts; a type that malloc does not align.
$ linewise conflicts liblayout_cases.so bcb_after --classes cases.classes
struct bcb_after: 192 bytes, 3 lines of 64, aligned to 64

lines 1-2: warning: split under one lock (split)
  written  vpid, bytes 64-71, lock(BCB_mutex)
           iopage_buffer, bytes 72-79, lock(BCB_mutex)
           fcnt, bytes 128-131, lock(BCB_mutex)
           latch_mode, bytes 132-135, lock(BCB_mutex)

    vpid, iopage_buffer, fcnt and latch_mode are used under BCB_mutex only, yet padding spreads
    them over more lines than they need. Their lines move with the lock, so no CPU is spared a
    miss by the padding; the holder takes more of them. Keep data of one lock together.

No fight:

lines 1-2: note: true sharing (lock x same lock)
  written  vpid, bytes 64-71, lock(BCB_mutex)
           iopage_buffer, bytes 72-79, lock(BCB_mutex)
           fcnt, bytes 128-131, lock(BCB_mutex)
           latch_mode, bytes 132-135, lock(BCB_mutex)

    CPU A (holds BCB_mutex)         CPU B (holds BCB_mutex)
    write vpid                      (waits for the lock)
    write vpid                      takes the lock, wants what A wrote

    vpid, iopage_buffer, fcnt and latch_mode are written under BCB_mutex only. These lines move
    between CPUs only when the lock does, and the next holder needs the values anyway: no fight,
    and nothing to split.

0 errors, 1 warning, 1 note
[1]
$ printf 'pool_head_after.limit: read\n' >malloc.classes; linewise conflicts liblayout_cases.so --classes malloc.classes
struct pool_head_after: 192 bytes, 3 lines of 64, aligned to 64

warning: alignment not kept

    struct pool_head_after is aligned to 64, which the compiler takes for granted, but what
    allocates it keeps 16 only: the lines below are not sure. Allocate it with aligned_alloc()
    and say so by 'alloc pool_head_after: 64' in the class file, or look at all bases by --base
    any.

0 errors, 1 warning, 0 notes
[1]
# Elements with a CPU each.
$ printf 'mem_cgroup_after.vmstats[]: owner\nalloc mem_cgroup_after: 64\n' >each.classes; linewise conflicts liblayout_cases.so --classes each.classes
struct mem_cgroup_after: 2816 bytes, 44 lines of 64, aligned to 64

lines 18-27: warning: elements share lines (element x element)
  written  vmstats[], bytes 1152-1791, owner, a CPU each

    Elements of vmstats are 8 bytes apart and each is written by another CPU: 8 of them share a
    line of 64. Make it per-CPU data, or pad the element to a line.

0 errors, 1 warning, 0 notes
[1]
# As a page that needs no other file.
$ linewise conflicts libmemcg_node_0.so --classes memcg_node.classes --html page.html; grep -c -e '<pre>struct mem_cgroup_per_node' -e '-&gt; miss' -e '</html>' page.html; grep -c -e '<script' -e 'http' -e 'src=' page.html
8
0
[1]
# What is wrong is one line.
$ linewise conflicts libmemcg_node_0.so --classes memcg_node.classes --html page.html --json -
2| linewise conflicts: --json, --html, --patch and -o exclude each other
[2]
$ linewise conflicts liblayout_cases.so
2| linewise conflicts: --classes is needed: layout alone does not say who writes; `linewise classes liblayout_cases.so TYPE` drafts the file
[2]
$ linewise conflicts liblayout_cases.so --classes nosuch
2| linewise conflicts: nosuch: cannot open: No such file or directory
[2]
$ printf 'pool_head_after.limit: reed\n' >bad.classes; linewise conflicts liblayout_cases.so --classes bad.classes
2| linewise conflicts: bad.classes:1: 'reed' is no class, expected read, lock(NAME), atomic, owner or cold
[2]
$ printf 'nosuch.limit: read\n' >none.classes; linewise conflicts liblayout_cases.so --classes none.classes 2>&1 | cut -c 1-60
linewise conflicts: liblayout_cases.so: no type is named nos
$ printf 'pool_head_after.limits: read\npool_head_after.limit: read\n' >odd.classes; linewise conflicts liblayout_cases.so --classes odd.classes 2>&1 >/dev/null
linewise conflicts: odd.classes:1: struct pool_head_after has no field that fits 'pool_head_after.limits'
[1]
$ : >empty.classes; linewise conflicts liblayout_cases.so --classes empty.classes
2| linewise conflicts: no type was given, and empty.classes names none
[2]
$ linewise conflicts liblayout_cases.so pool_head_after --classes cases.classes --base 8192
2| linewise conflicts: --base: '8192' is neither 'any' nor a number of bytes below a line
[2]
