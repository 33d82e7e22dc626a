# All types of a program, by name; those that only a typedef names are there as well.
$ linewise list linewise-types | sed '1s|^.*/||'
linewise-types: DWARF 5, x86-64, little-endian; 8 of 8 types
     size   lines  align  holes    unused  padding  type
        8       1      8      0         0        0  counter_like
       16       1      8      0         0        0  struct link
       32       1      8      2      4+3b        0  struct packet
       16       1      8      1         6        0  struct pair
       12       1      4      0         0        0  struct pair
        8       1      4      0         0        0  point
      704      11     64      2        47       40  struct server
      136       3      8      1         3        0  struct stats
# The most of something first, and filters.
$ linewise list linewise-types --sort size --min-size 60 | sed 1d
     size   lines  align  holes    unused  padding  type
      704      11     64      2        47       40  struct server
      136       3      8      1         3        0  struct stats
$ linewise list linewise-types --sort unused --holes | sed 1d
     size   lines  align  holes    unused  padding  type
      704      11     64      2        47       40  struct server
       16       1      8      1         6        0  struct pair
       32       1      8      2      4+3b        0  struct packet
      136       3      8      1         3        0  struct stats
$ linewise list linewise-types --line 128 'struct s*' point | sed 1d
     size   lines  align  holes    unused  padding  type
        8       1      4      0         0        0  point
      704       6     64      2        47       40  struct server
      136       2      8      1         3        0  struct stats
# For programs.
$ linewise list linewise-types packet --json - | sed 's|"file": ".*/|"file": "|'
{
  "types": [
    {
      "name": "packet",
      "kind": "struct",
      "size": 32,
      "align": 8,
      "lines": 1,
      "holes": 2,
      "hole_bytes": 4,
      "hole_bits": 3,
      "padding": 0,
      "file": "types.c",
      "file_line": 24
    }
  ]
}
# The same as a page, in which nothing of the file is markup.
$ linewise list linewise-types packet --html - | sed -n '/^<p>/,$p'
<p>linewise-types: DWARF 5, x86-64, little-endian; 1 of 8 types
<table><tr><th>type</th><th class="n">size</th><th class="n">lines</th><th class="n">align</th><th class="n">holes</th><th class="n">unused</th><th class="n">padding</th></tr>
<tr><td>struct packet</td><td class="n">32</td><td class="n">1</td><td class="n">8</td><td class="n">2</td><td class="n">4+3b</td><td class="n">0</td></tr>
</table>
</html>
$ cp linewise-types '<b>&'; linewise list '<b>&' pair --html - >page; grep -c '<b>' page; grep -c '&lt;b&gt;&amp;' page
0
3
$ linewise list linewise-types packet --html - | grep -c -i -e 'src=' -e 'href=' -e '<script'
0
[1]
$ linewise list linewise-types --html a --json b
2| linewise list: --json and --html exclude each other
[2]
