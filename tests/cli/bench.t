# What `mglru bench` prints, without its figures: they depend on the machine. Small caches and one
# short slice, which even a busy machine grants.
$ mglru bench hit --jobs 1 --runs 1 --slices 1 --slice 100us --size 1M --no-progress | sed '1s/:.*/: MACHINE/; s/ *[0-9][0-9,.]*  */ N /g; s/   */  /g'
hit: MACHINE

case  variant  jobs  metric  median  least  most  unit
resident  ours N cpu_per_read N  N  N ns
resident  ours N rate N  N  N reads/s
read-through  ours N cpu_per_read N  N  N ns
read-through  ours N rate N  N  N reads/s
read-through  ours N hit_ratio N  N  N share
resident  ours-huge-pages N cpu_per_read N  N  N ns
resident  ours-huge-pages N rate N  N  N reads/s
read-through  ours-huge-pages N cpu_per_read N  N  N ns
read-through  ours-huge-pages N rate N  N  N reads/s
read-through  ours-huge-pages N hit_ratio N  N  N share
resident  mutex N cpu_per_read N  N  N ns
resident  mutex N rate N  N  N reads/s
read-through  mutex N cpu_per_read N  N  N ns
read-through  mutex N rate N  N  N reads/s
read-through  mutex N hit_ratio N  N  N share
resident  compute N cpu_per_read N  N  N ns
resident  compute N rate N  N  N reads/s
$ mglru bench hit --jobs 1 --runs 1 --slices 1 --slice 100us --size 1M --json b.json --quiet; echo $?
0
$ for key in bench version machine rows case variant jobs cpus metric unit median min max runs predicted; do grep -q "\"$key\":" b.json || echo "$key is missing"; done
$ grep '"variant"' b.json | sort | uniq -c
      2       "variant": "compute",
      5       "variant": "mutex",
      5       "variant": "ours",
      5       "variant": "ours-huge-pages",
$ mglru bench refault --jobs 1 --runs 1 --slices 1 --slice 100us --size 6M --json - | sed -n 's/.*"metric": //p'
"refaults",
"rate",
"cpu_per_refault",
"reclaiming_read_p99.9",
"longest_read",
"rate",
"cpu_per_read",
"as_long_p99.9",
"as_long_longest",
"rss_to_limit",
$ printf '1\n2\n3\n1\n2\n' >keys
$ mglru bench replay keys --runs 2 --size 1M --json - | grep -c '"case": "trace"'
8
# Both kernels' ways move all pages, in reverse and in order; a used page is not protected by age.
$ mglru bench aging --size 2M --runs 1 --slices 1 --slice 100us --json aging.json --quiet; grep -A9 -E '"case": "what was moved"' aging.json | grep -E '"(variant|metric|median)"' | sed 's/^ *//'
"variant": "per-folio",
"metric": "left in order of use",
"median": 0.0323429,
"variant": "per-folio",
"metric": "counted as protected",
"median": 9999,
"variant": "batched",
"metric": "left in order of use",
"median": 0.999886,
"variant": "batched",
"metric": "counted as protected",
"median": 8749,
"variant": "splice",
"metric": "left in order of use",
"median": 0.999886,
"variant": "splice",
"metric": "counted as protected",
"median": 0,
# Refused command lines.
$ mglru bench
2| mglru bench: no benchmark was named: hit, refault, fault, fallocate, rstat, aging or replay
[2]
$ mglru bench hot
2| mglru bench: no benchmark is named 'hot': hit, refault, fault, fallocate, rstat, aging or replay
[2]
$ mglru bench hit --jobs 0
2| mglru bench: --jobs 0: expected a number from 1 to 64
[2]
$ mglru bench hit --jobs 1,2,3,4,5,6,7,8,9
2| mglru bench: --jobs 1,2,3,4,5,6,7,8,9: at most 8 numbers
[2]
$ mglru bench hit --slice 1us
2| mglru bench: --slice 1us: expected a time from 100us to 1s
[2]
$ mglru bench hit --size 1K
2| mglru bench: --size 1K: expected a size of at least 1M
[2]
$ mglru bench hit trace
2| mglru bench: unexpected argument trace
[2]
$ mglru bench hit --rival nothing.so
2| mglru bench: nothing.so: no such file, or not readable
[2]
$ echo >empty.so
$ mglru bench hit --rival empty.so
2| mglru bench: empty.so: ./empty.so: file too short
[2]
$ mglru bench refault --rival empty.so
2| mglru bench: --rival: only hit has rivals
[2]
$ mglru bench replay
2| mglru bench: replay needs a trace
[2]
$ mglru bench replay missing
2| mglru bench: missing: cannot open: No such file or directory
[2]
$ mglru bench fault --layout old
2| mglru bench: --layout old: expected before, after or ours
[2]
$ mglru bench fault --cpus 1,257
2| mglru bench: --cpus 257: expected a number from 1 to 256
[2]
$ mglru bench hit --cpus 8
2| mglru bench: --layout, --cpus: hit compares no layouts
[2]
