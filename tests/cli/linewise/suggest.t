# needs cc patch
# Proposals, cheapest first: the author's own move, said to be luck; a sure one has its price.
$ linewise suggest libmemcg_node_0.so --classes memcg_node.classes
struct mem_cgroup_per_node: residual conflict 426, 2048 bytes

1. residual 0, +0 bytes (then 2048), 4 fields moved
  move lruvec.lrugen.enabled, gen, seg, list before folios
  holds by luck of where it starts; to keep it:
    _Static_assert(offsetof(struct mem_cgroup_per_node, lruvec.lrugen) % 64 == 48, "lruvec.lrugen: lines of its groups");

2. residual 420, +0 bytes (then 2048), 3 fields moved
  move lruvec.lrugen.max_seq, min_seq, timestamps to the end of struct lru_gen_folio
  holds by luck of where it starts; to keep it:
    _Static_assert(offsetof(struct mem_cgroup_per_node, lruvec.lrugen) % 64 == 48, "lruvec.lrugen: lines of its groups");

3. residual 0, +64 bytes (then 2112), 0 fields moved, with padding
  align lruvec.lrugen.folios to 64: it starts a line
  holds wherever the struct starts
[1]
$ linewise suggest libmemcg_node_0.so --classes memcg_node.classes --json - | head -19
{
  "suggestions": [
    {
      "type": "struct mem_cgroup_per_node",
      "moves": [
        {
          "fields": [
            "lruvec.lrugen.enabled",
            "lruvec.lrugen.gen",
            "lruvec.lrugen.seg",
            "lruvec.lrugen.list"
          ],
          "before": "lruvec.lrugen.folios",
          "type": "struct lru_gen_folio"
        }
      ],
      "aligned": [],
      "moved": 4,
      "growth": 0,
$ linewise suggest libmemcg_node_1.so --classes memcg_node.classes
struct mem_cgroup_per_node: residual conflict 0, 2048 bytes

no fight to remove
# A struct that nobody may take apart.
$ printf 'struct u { char a; int b; } __attribute__((packed)) u;\n' >u.c; cc -g -c u.c; printf 'u.a: read\nu.b: atomic\n' >u.classes; linewise suggest u.o --classes u.classes
struct u: residual conflict 100, 5 bytes

its members cannot be moved: the layout is packed, a union, or not what the rules of C give
# As a patch, which mends what it says.
$ printf 'struct s {\n    /* read by all */\n    int limit;\n\n    // written by all,\n    // each time\n    long used;\n    char *name; /* fixed */\n    char room[64];\n    long end;\n};\nstruct s s;\n' >s.c; cc -g -c s.c
$ printf 's.limit: read\ns.name: read\ns.used: atomic\nalloc s: 64\n' >s.classes; linewise conflicts s.o --classes s.classes | tail -1
1 error, 0 warnings, 0 notes
$ linewise suggest s.o --classes s.classes | head -4
struct s: residual conflict 200, 96 bytes

1. residual 0, +0 bytes (then 96), 1 field moved
  move used before end
$ linewise suggest s.o --classes s.classes --patch | tee s.patch; patch -s -p1 <s.patch; cc -g -c s.c; linewise conflicts s.o --classes s.classes | tail -1
--- a/s.c
+++ b/s.c
@@ -2,11 +2,11 @@
     /* read by all */
     int limit;
 
-    // written by all,
-    // each time
-    long used;
     char *name; /* fixed */
     char room[64];
+    // written by all,
+    // each time
+    long used;
     long end;
 };
 struct s s;
0 errors, 0 warnings, 0 notes
$ linewise suggest s.o --classes s.classes --patch
# Where the text does not bear it out, nothing is written.
$ printf 'struct t { int limit; long used; char room[64]; long end; } t;\n' >t.c; cc -g -c t.c; printf 't.limit: read\nt.used: atomic\nalloc t: 64\n' >t.classes; linewise suggest t.o --classes t.classes --patch 2>&1 | sed 's|: /[^ ]*/|: |'
linewise suggest: --patch: t.c: members share a line, move them by hand: used
$ linewise suggest libmemcg_node_0.so --classes memcg_node.classes --patch 2>&1 | sed 's|^.*/||'
memcg_node.h: stands under another #if than its new neighbour: enabled
$ mv s.c moved.c; printf 's.limit: read\ns.room: atomic\nalloc s: 64\n' >s2.classes; linewise suggest s.o --classes s2.classes --patch 2>&1 | sed 's|: [^ ]*/s.c|: s.c|'
linewise suggest: --patch: s.c: cannot open: No such file or directory
