# Why it grew by exactly one line.
$ linewise why-size libmemcg_node_0.so libmemcg_node_2.so mem_cgroup_per_node
struct lru_gen_folio  1360 -> 1408  (+48)
    +48 hole before evicted, which is aligned to 64 instead of 8 now (offset 1208 -> 1280)
    aligned to 64 instead of 8

struct lruvec  1624 -> 1728  (+104)
    +16 hole before lrugen, which is aligned to 64 instead of 8 now (offset 176 -> 192)
    +48 lrugen grew
    +40 padding at the end: the size is a multiple of 64 instead of 8 now
    aligned to 64 instead of 8
    26 -> 27 lines

struct mem_cgroup_per_node  2048 -> 2112  (+64)
    +104 lruvec grew
    -40 the spare 40 bytes before lru_zone_size take it up
    32 -> 33 lines

total +64 bytes
$ linewise why-size libmemcg_node_0.so libmemcg_node_2.so mem_cgroup_per_node --json -
{
  "steps": [
    {
      "type": "struct lru_gen_folio",
      "delta": 48,
      "reason": "+48 hole before evicted, which is aligned to 64 instead of 8 now (offset 1208 -> 1280); aligned to 64 instead of 8"
    },
    {
      "type": "struct lruvec",
      "delta": 104,
      "reason": "+16 hole before lrugen, which is aligned to 64 instead of 8 now (offset 176 -> 192); +48 lrugen grew; +40 padding at the end: the size is a multiple of 64 instead of 8 now; aligned to 64 instead of 8; 26 -> 27 lines"
    },
    {
      "type": "struct mem_cgroup_per_node",
      "delta": 64,
      "reason": "+104 lruvec grew; -40 the spare 40 bytes before lru_zone_size take it up; 32 -> 33 lines"
    }
  ],
  "total": 64
}
$ linewise why-size libmemcg_node_0.so libmemcg_node_1.so mem_cgroup_per_node | tail -1
total +0 bytes
# Several types make one array and one total; a page holds the text.
$ linewise why-size libmemcg_node_0.so libmemcg_node_2.so lru_gen_folio lruvec --json - | grep -E '[]["]type|steps|total'
  "steps": [
      "type": "struct lru_gen_folio",
      "type": "struct lru_gen_folio",
      "type": "struct lruvec",
  "total": 152
$ linewise why-size libmemcg_node_0.so libmemcg_node_2.so lruvec --html - | grep -c -e '<pre>struct lru_gen_folio' -e '^total +104' -e '</html>'
3
$ linewise diff libmemcg_node_0.so libmemcg_node_2.so --classes memcg_node.classes --html - | grep -c -e '<pre>struct mem_cgroup_per_node: 2048 -' -e '^17 fields' -e '</html>'
3
# What else changed.
$ linewise diff libmemcg_node_0.so libmemcg_node_2.so --classes memcg_node.classes
struct mem_cgroup_per_node: 2048 -> 2112 bytes (+64)
  moved  304 -> 320 (+16)  lruvec.lrugen.max_seq .. lruvec.lrugen.timestamps (3 fields)
  moved  1640 -> 376 (-1264)  lruvec.lrugen.enabled .. lruvec.lrugen.list (4 fields)
  moved  360 -> 400 (+40)  lruvec.lrugen.folios .. lruvec.lrugen.protected (5 fields)
  moved  1512 -> 1600 (+88)  lruvec.lrugen.evicted .. lruvec.lrugen.refaulted (2 fields)
  moved  1664 -> 1728 (+64)  lruvec.mm_state .. tail (3 fields)

new: note, line 6: reader beside lock (read x lock)
    Each hand-over of lru_lock takes the line of lruvec.lrugen.list away from its readers too.

gone: error, line 25: false sharing (read x atomic)
    Every write to lruvec.lrugen.refaulted takes the line away from the CPUs that read lruvec.lrugen.enabled, lruvec.lrugen.gen, lruvec.lrugen.seg and lruvec.lrugen.list, though they need nothing of what was written.

gone: warning, line 23: false sharing (atomic x lock)
    lruvec.lrugen.protected and lruvec.lrugen.evicted lie together: who writes without the lock steals the line from the holder of lru_lock, who needs nothing of it.

gone: note, line 5: reader beside lock (read x lock)
    Each hand-over of lru_lock takes the line of lruvec.lrugen.min_seq and lruvec.lrugen.timestamps away from its readers too.

17 fields moved, 1 new finding, 3 gone
[1]
$ linewise diff libmemcg_node_2.so libmemcg_node_1.so --classes memcg_node.classes --json - | grep -A 3 -E 'growth|"new"|"gone"'
  "growth": -64,
  "new": [],
  "gone": [
    {
      "type": "struct mem_cgroup_per_node",
      "line": 6,
$ linewise diff libmemcg_node_0.so libmemcg_node_0.so mem_cgroup_per_node
struct mem_cgroup_per_node: 2048 -> 2048 bytes (+0)

0 fields moved, 0 new findings, 0 gone
$ linewise diff libmemcg_node_0.so
2| linewise diff: two files are needed; `linewise diff --help`
[2]
