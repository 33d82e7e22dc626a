# Nested structs first, then line by line; neighbours of a few bytes share a box, lines that one array
# fills are one.
$ linewise show linewise-types 'struct server' | sed 's|declared at .*/|declared at |'
struct server: 704 bytes, 11 lines of 64, aligned to 64
  declared at types.c:42
  packets[]  struct packet  32 bytes at 16
  stats      struct stats   136 bytes at 80

line 0, bytes 0-63
+---------+---------+-----------------+------------+
| address | enabled | (hole: 7 bytes) | packets[*] |
| 0-7     | 8       | 9-15            | 16-63      |
+---------+---------+-----------------+------------+

line 1, bytes 64-127
+------------+--------------+-----------------+--------------------------------------+
| packets[1] | stats.name[] | (hole: 3 bytes) | stats.reads[0][*], stats.reads[1][0] |
| 64-79      | 80-84        | 85-87           | 88-127                               |
+------------+--------------+-----------------+--------------------------------------+

line 2, bytes 128-191, in stats
+---------------+----------------------------+
| reads[1][1-3] | misses[0][*], misses[1][0] |
| 128-151       | 152-191                    |
+---------------+----------------------------+

line 3, bytes 192-255
+----------------------+------------------+
| stats.misses[1][1-3] | clients[0][0][*] |
| 192-215              | 216-255          |
+----------------------+------------------+

lines 4-8, bytes 256-575
+----------------------------------------------------------------------------------------------+
| clients[0][0][2], clients[0][1][*], clients[1-2][*][*], clients[3][0][*], clients[3][1][0-1] |
| 256-575                                                                                      |
+----------------------------------------------------------------------------------------------+

line 9, bytes 576-639
+--------------------+------------------+
| clients[3][1][1-2] | (hole: 40 bytes) |
| 576-599            | 600-639          |
+--------------------+------------------+

line 10, bytes 640-703
+----------+-----------+---------+---------------------+
| requests | elsewhere | corner  | (padding: 40 bytes) |
| 640-647  | 648-655   | 656-663 | 664-703             |
+----------+-----------+---------+---------------------+

3 holes, 50 bytes; padding at the end: 40 bytes
# Some lines, with classes and verdicts, in boxes of lines.
$ printf 'server.enabled: read\nserver.requests: atomic\nserver.elsewhere: read\nstats.reads: lock(big)\nstats.misses: atomic\n' >classes
$ linewise show linewise-types server --classes classes --lines 1-3 --unicode | sed /declared/d
struct server: 704 bytes, 11 lines of 64, aligned to 64
  stats  struct stats  136 bytes at 80

line 1, bytes 64-127: note: true sharing (lock x same lock)
┌────────────┬──────────────┬─────────────────┬──────────────────────────────────────┐
│ packets[1] │ stats.name[] │ (hole: 3 bytes) │ stats.reads[0][*], stats.reads[1][0] │
│ 64-79      │ 80-84        │ 85-87           │ 88-127                               │
│            │              │                 │ L lock(big)                          │
└────────────┴──────────────┴─────────────────┴──────────────────────────────────────┘

line 2, bytes 128-191, in stats: warning: false sharing (atomic x lock)
┌───────────────┬────────────────────────────┐
│ reads[1][1-3] │ misses[0][*], misses[1][0] │
│ 128-151       │ 152-191                    │
│ L lock(big)   │ A atomic                   │
└───────────────┴────────────────────────────┘

line 3, bytes 192-255
┌──────────────────────┬──────────────────┐
│ stats.misses[1][1-3] │ clients[0][0][*] │
│ 192-215              │ 216-255          │
│ A atomic             │                  │
└──────────────────────┴──────────────────┘

3 holes, 50 bytes; padding at the end: 40 bytes
$ linewise show linewise-types server --classes classes --lines 4 --line 128 --base 64 | sed /declared/d
struct server: 704 bytes, 6 lines of 128, aligned to 64

lines 3-4, bytes 320-575
+----------------------------------------------------------+
| clients[1-2][*][*], clients[3][0][*], clients[3][1][0-1] |
| 320-575                                                  |
+----------------------------------------------------------+

3 holes, 50 bytes; padding at the end: 40 bytes
$ linewise show linewise-types server --classes classes --lines 0 --base any | sed /declared/d
struct server: 704 bytes, 11 lines of 64, aligned to 64
  packets[]  struct packet  32 bytes at 16

line 0, bytes 0-63
+---------+---------+-----------------+------------+
| address | enabled | (hole: 7 bytes) | packets[*] |
| 0-7     | 8       | 9-15            | 16-63      |
|         | R read  |                 |            |
+---------+---------+-----------------+------------+

3 holes, 50 bytes; padding at the end: 40 bytes
drawn for an object at a line's start; 3 findings at some base, see `linewise conflicts --base any`
# Bit-fields, unions, holes of bits.
$ linewise show linewise-types packet | sed /declared/d
struct packet: 32 bytes, 1 line of 64, aligned to 8

line 0, bytes 0-31
+------------------------+----------------+------+-----------------+-----------------------------+
| version, length, flags | (hole: 3 bits) | kind | (hole: 4 bytes) | queue | weights[] | bytes[] |
| 0.0-2.4                | 2.5-2.7        | 3    | 4-7             | 8-31                        |
+------------------------+----------------+------+-----------------+-----------------------------+
+---------------------+
| (outside: 32 bytes) |
|                     |
+---------------------+

2 holes, 35 bits; padding at the end: 0 bytes
$ linewise show linewise-types packet --json -
{
  "type": "struct packet",
  "size": 32,
  "align": 8,
  "lines": 1,
  "source": "DWARF 5, x86-64, little-endian",
  "fields": [
    {
      "path": "version",
      "offset": 0,
      "size": 1,
      "line": 0,
      "last_line": 0,
      "class": null,
      "type": "unsigned int",
      "bit_offset": 0,
      "bit_size": 4
    },
    {
      "path": "length",
      "offset": 0,
      "size": 1,
      "line": 0,
      "last_line": 0,
      "class": null,
      "type": "unsigned int",
      "bit_offset": 4,
      "bit_size": 4
    },
    {
      "path": "flags",
      "offset": 1,
      "size": 2,
      "line": 0,
      "last_line": 0,
      "class": null,
      "type": "unsigned int",
      "bit_offset": 0,
      "bit_size": 13
    },
    {
      "path": "kind",
      "offset": 3,
      "size": 1,
      "line": 0,
      "last_line": 0,
      "class": null,
      "type": "char"
    },
    {
      "path": "queue",
      "offset": 8,
      "size": 16,
      "line": 0,
      "last_line": 0,
      "class": null,
      "type": "struct link"
    },
    {
      "path": "weights[]",
      "offset": 8,
      "size": 24,
      "line": 0,
      "last_line": 0,
      "class": null,
      "type": "double"
    },
    {
      "path": "bytes[]",
      "offset": 8,
      "size": 20,
      "line": 0,
      "last_line": 0,
      "class": null,
      "type": "char"
    }
  ],
  "holes": [
    {
      "offset": 2,
      "size": 0,
      "bit_offset": 5,
      "bit_size": 3,
      "kind": "hole"
    },
    {
      "offset": 4,
      "size": 4,
      "kind": "hole"
    }
  ],
  "nested": []
}
# A typedef without a tag, and one of several layouts.
$ linewise show linewise-types point | sed /declared/d
point: 8 bytes, 1 line of 64, aligned to 4

line 0, bytes 0-7
+------+---------------------+
| x, y | (outside: 56 bytes) |
| 0-7  |                     |
+------+---------------------+

0 holes, 0 bytes; padding at the end: 0 bytes
$ linewise show linewise-types pair@12 | sed /declared/d
struct pair: 12 bytes, 1 line of 64, aligned to 4

line 0, bytes 0-11
+---------+---------------------+
| a, b, c | (outside: 52 bytes) |
| 0-11    |                     |
+---------+---------------------+

0 holes, 0 bytes; padding at the end: 0 bytes
# A page that needs nothing else.
$ linewise show linewise-types server packet --classes classes --html page.html && grep -c 'class="line"' page.html
8
$ grep -c -e '<script' -e 'http:' -e 'https:' -e 'src=' page.html
0
[1]
$ grep -o '<p class="says error">.*' page.html
<p class="says error">error: false sharing (read x atomic)</p>
