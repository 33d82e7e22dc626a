# A lock holds on to what is; a check fails on what is worse.
$ linewise lock libmemcg_node_2.so --classes memcg_node.classes -o node.lock; cat node.lock
linewise-lock 1
line 64
type 2112 64 mem_cgroup_per_node
field 320 8 read lruvec.lrugen.max_seq
field 328 16 read lruvec.lrugen.min_seq
field 344 32 read lruvec.lrugen.timestamps
field 376 1 read lruvec.lrugen.enabled
field 377 1 read lruvec.lrugen.gen
field 378 1 read lruvec.lrugen.seg
field 384 16 read lruvec.lrugen.list
field 400 640 lock(lru_lock) lruvec.lrugen.folios
field 1040 320 lock(lru_lock) lruvec.lrugen.nr_pages
field 1360 64 lock(lru_lock) lruvec.lrugen.avg_refaulted
field 1424 64 lock(lru_lock) lruvec.lrugen.avg_total
field 1488 64 lock(lru_lock) lruvec.lrugen.protected
field 1600 64 atomic lruvec.lrugen.evicted
field 1664 64 atomic lruvec.lrugen.refaulted
pair read x lock, lruvec.lrugen.list, lruvec.lrugen.folios
$ linewise check libmemcg_node_2.so --classes memcg_node.classes --lock node.lock
$ linewise check libmemcg_node_0.so --classes memcg_node.classes --lock node.lock
struct mem_cgroup_per_node: line 25: error: false sharing: New: Every write to lruvec.lrugen.refaulted takes the line away from the CPUs that read lruvec.lrugen.enabled, lruvec.lrugen.gen, lruvec.lrugen.seg and lruvec.lrugen.list, though they need nothing of what was written.
    writes  lruvec.lrugen.refaulted
    reads   lruvec.lrugen.enabled
    reads   lruvec.lrugen.gen
    reads   lruvec.lrugen.seg
    reads   lruvec.lrugen.list
struct mem_cgroup_per_node: line 23: warning: false sharing: New: lruvec.lrugen.protected and lruvec.lrugen.evicted lie together: who writes without the lock steals the line from the holder of lru_lock, who needs nothing of it.
    writes  lruvec.lrugen.evicted
    writes  lruvec.lrugen.protected
struct mem_cgroup_per_node: line 5: warning: reader beside lock: New: Each hand-over of lru_lock takes the line of lruvec.lrugen.min_seq and lruvec.lrugen.timestamps away from its readers too.
    writes  lruvec.lrugen.folios
    reads   lruvec.lrugen.min_seq
    reads   lruvec.lrugen.timestamps
[1]
$ linewise check libmemcg_node_0.so --classes memcg_node.classes --lock node.lock --json - | head -17
{
  "findings": [
    {
      "type": "struct mem_cgroup_per_node",
      "line": 25,
      "verdict": "false sharing",
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
      "why": "New: Every write to lruvec.lrugen.refaulted takes the line away from the CPUs that read lruvec.lrugen.enabled, lruvec.lrugen.gen, lruvec.lrugen.seg and lruvec.lrugen.list, though they need nothing of what was written."
# Without a lock every error and warning counts.
$ linewise check libmemcg_node_1.so --classes memcg_node.classes
$ linewise check libmemcg_node_0.so --classes memcg_node.classes | head -1
struct mem_cgroup_per_node: line 25: error: false sharing: Every write to lruvec.lrugen.refaulted takes the line away from the CPUs that read lruvec.lrugen.enabled, lruvec.lrugen.gen, lruvec.lrugen.seg and lruvec.lrugen.list, though they need nothing of what was written.
# Rules.
$ { cat memcg_node.classes; printf 'group mem_cgroup_per_node.counters: lruvec.lrugen.evicted lruvec.lrugen.refaulted\nrule mem_cgroup_per_node: group counters starts a line\nrule mem_cgroup_per_node: group counters fills its lines\nrule mem_cgroup_per_node: no atomic beside read\nrule mem_cgroup_per_node: size at most 2048\n'; } >rules.classes; linewise check libmemcg_node_2.so --classes rules.classes; linewise check libmemcg_node_1.so --classes rules.classes; linewise check libmemcg_node_0.so --classes rules.classes | grep rule
struct mem_cgroup_per_node: line 0: error: broken rule: rules.classes:22: 'size at most 2048': it has 2112 bytes.
struct mem_cgroup_per_node: line 23: error: broken rule: rules.classes:19: 'group counters starts a line': it starts at byte 1512, 40 bytes into a line.
struct mem_cgroup_per_node: line 22: error: broken rule: rules.classes:20: 'group counters fills its lines': lruvec.lrugen.protected lies on its lines.
struct mem_cgroup_per_node: line 25: error: broken rule: rules.classes:20: 'group counters fills its lines': lruvec.lrugen.enabled lies on its lines.
struct mem_cgroup_per_node: line 25: error: broken rule: rules.classes:20: 'group counters fills its lines': lruvec.lrugen.gen lies on its lines.
struct mem_cgroup_per_node: line 25: error: broken rule: rules.classes:20: 'group counters fills its lines': lruvec.lrugen.seg lies on its lines.
struct mem_cgroup_per_node: line 25: error: broken rule: rules.classes:20: 'group counters fills its lines': lruvec.lrugen.list lies on its lines.
struct mem_cgroup_per_node: line 25: error: broken rule: rules.classes:21: 'no atomic beside read': lruvec.lrugen.refaulted and lruvec.lrugen.enabled share a line.
struct mem_cgroup_per_node: line 25: error: broken rule: rules.classes:21: 'no atomic beside read': lruvec.lrugen.refaulted and lruvec.lrugen.gen share a line.
struct mem_cgroup_per_node: line 25: error: broken rule: rules.classes:21: 'no atomic beside read': lruvec.lrugen.refaulted and lruvec.lrugen.seg share a line.
struct mem_cgroup_per_node: line 25: error: broken rule: rules.classes:21: 'no atomic beside read': lruvec.lrugen.refaulted and lruvec.lrugen.list share a line.
# A group that moved, a field that is gone.
$ linewise lock libmemcg_node_2.so --classes rules.classes -o rules.lock; linewise check libmemcg_node_0.so --classes rules.classes --lock rules.lock | grep -E 'moved group|growth'
struct mem_cgroup_per_node: line 23: warning: moved group: Group counters lay at bytes 1600-1727, 0 bytes into a line, on 2 lines; now it lies at 1512-1639, 40 bytes into a line, on 3.
$ sed 's/seg$/segment/' node.lock >gone.lock; linewise check libmemcg_node_2.so --classes memcg_node.classes --lock gone.lock
struct mem_cgroup_per_node: line 0: warning: missing: struct mem_cgroup_per_node has no hot field lruvec.lrugen.segment any more; `linewise lock` accepts it.
[1]
# Lock files that are none.
$ linewise check libmemcg_node_2.so --classes memcg_node.classes --lock nosuch
2| linewise check: nosuch: cannot open: No such file or directory
[2]
$ printf 'linewise-lock 9\n' >new.lock; linewise check libmemcg_node_2.so --classes memcg_node.classes --lock new.lock
2| linewise check: new.lock:1: version '9' of the format, expected 1: write the file anew with `linewise lock`
[2]
$ printf 'linewise-lock 1\nline 64\nfield 0 8 read a\n' >early.lock; linewise check libmemcg_node_2.so --classes memcg_node.classes --lock early.lock
2| linewise check: early.lock:3: expected a 'type' line first
[2]
$ printf 'linewise-lock 1\nline 64\ntype 8 8 s' >torn.lock; linewise check libmemcg_node_2.so --classes memcg_node.classes --lock torn.lock
2| linewise check: torn.lock:3: the last line is torn, expected a line break
[2]
$ printf 'linewise-lock 1\nline 64\ntype 8 8 s\n' >other.lock; linewise check libmemcg_node_2.so --classes memcg_node.classes --lock other.lock
2| linewise check: other.lock: knows no type mem_cgroup_per_node; `linewise lock` adds it
[2]
# The line is the lock's; another one cannot be compared with it.
$ linewise check libmemcg_node_2.so --classes memcg_node.classes --lock node.lock --line 64; linewise check libmemcg_node_2.so --classes memcg_node.classes --lock node.lock --line 128
2| linewise check: --line: 128, but node.lock was written for lines of 64 bytes
[2]
# The facts and the findings for programs, and as a page.
$ linewise lock libmemcg_node_2.so --classes rules.classes --json - | sed -n '1,15p;/groups/,$p'
{
  "line": 64,
  "types": [
    {
      "type": "mem_cgroup_per_node",
      "size": 2112,
      "align": 64,
      "fields": [
        {
          "path": "lruvec.lrugen.max_seq",
          "offset": 320,
          "size": 8,
          "class": "read"
        },
        {
      "groups": [
        {
          "name": "counters",
          "first": 1600,
          "end": 1728
        }
      ],
      "pairs": [
        {
          "pair": "read x lock",
          "first": "lruvec.lrugen.list",
          "second": "lruvec.lrugen.folios"
        }
      ]
    }
  ]
}
$ linewise lock libmemcg_node_2.so --classes rules.classes --json - -o both.lock; ls both.lock
2| linewise lock: --json, --html, --patch and -o exclude each other
2| ls: cannot access 'both.lock': No such file or directory
[2]
$ linewise check libmemcg_node_0.so --classes memcg_node.classes --lock node.lock --html page.html; grep -c -e '<pre>struct mem_cgroup_per_node: line 25: error' -e '</html>' page.html
2
$ linewise check libmemcg_node_2.so --classes memcg_node.classes --lock node.lock --html - | grep -A 1 '<pre>'
<pre>nothing was found
</pre>
$ linewise classes liblayout_cases.so with_atomics --html - | grep -c -e '<pre># Draft' -e '^with_atomics.first: atomic' -e '</html>'
3
# A class file to start from.
$ linewise classes liblayout_cases.so with_atomics | sed 's/^/  /; s/long unsigned int/unsigned long/; s/ *#/ #/g; s/long int/long/'
 # Draft for struct with_atomics, guessed from the names of types alone. Correct each line, give
 # those behind ' #' a class or leave them: read (read by many, seldom written),
 # lock(NAME), atomic (written without a lock), owner (one CPU or thread), cold.
  check with_atomics
  with_atomics.first: atomic # _Atomic int: made for writing without a lock
  with_atomics.second: atomic # _Atomic unsigned long: made for writing without a lock
  with_atomics.third: atomic # void *_Atomic: made for writing without a lock
 #with_atomics.bits: # unsigned int: the type does not tell
 #with_atomics.more: # unsigned int: the type does not tell
 #with_atomics.whole: # long: the type does not tell
 #with_atomics.part: # char: the type does not tell
 #with_atomics.flexible: # char: the type does not tell
$ linewise classes liblayout_cases.so with_atomics --json - | head -9
{
  "classes": [
    {
      "type": "struct with_atomics",
      "path": "first",
      "class": "atomic",
      "reason": "_Atomic int: made for writing without a lock"
    },
    {
