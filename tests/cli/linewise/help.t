# The program and its commands say what they do.
$ linewise --help
usage: linewise COMMAND FILE [ARGUMENT...]

Draws the cache lines of a struct, finds the fields that fight over one, proposes the
cheapest fix, and keeps it. FILE is any ELF file with DWARF, or a kernel with BTF.
Without knowledge who writes what, record a run.

commands:
  list      the types of a file with their sizes, lines and holes
  show      the map of a type: what lies on each line
  conflicts which fields fight over a line, as stories, and which only seem to
  suggest   which members to move so that fewer fields fight, and what it costs
  why-size  why a type has another size than before: the chain of causes
  diff      what moved, what grew, which fights are new, between two files
  classes   a draft of the file that says who reads and writes each field
  lock      writes down a layout that is to stay
  check     fails when a layout is worse than its lock, or breaks a rule
  record    which thread reads and writes what, from a run of a program
  predict   what a recording costs on more CPUs, which fields are to blame
  import    which fields to blame for what perf sampled: perf c2c, perf script

  linewise COMMAND --help   what a command does, its options and examples
  linewise --version        the version

options of every command
  --btf             take BTF where a file has DWARF as well
  --btf-base FILE   what a kernel module's BTF builds on (the running kernel's)

exit status: 0 clean; 1 something was found; 2 usage or bad input; 3 the environment
refused (permission, missing feature, full disk, closed pipe)
$ linewise --version
linewise 0.1.0
$ linewise list --help
usage: linewise list FILE [TYPE...] [--sort KEY] [--holes] [--min-size SIZE]
                     [--line N] [--html FILE] [--json FILE]

Lists the structs, unions and classes of FILE. TYPE is a name, or a pattern as of the
shell ('lru_*').

  --sort KEY       name (default), size, lines, holes, unused: the most first
  --holes          only types with holes
  --min-size SIZE  only types of at least so many bytes
  --line N         bytes of a line (64)
  --html FILE      the table as a page; - is standard output
  --json FILE      the table for programs

size, lines, align: of the type; holes: how many there are between its members;
unused: bytes in them, and bits (+3b) beside bit-fields; padding: behind the last one

examples
  linewise list /sys/kernel/btf/vmlinux 'lru*'
  linewise list ./server --sort unused --min-size 256
  linewise list /boot/vmlinuz-6.12 --json -

exit status: 0 done; 2 usage or bad input, or no type fits; 3 the environment refused
$ linewise show --help
usage: linewise show FILE [TYPE...] [--lines A[-B]] [--classes FILE] [--line N]
                     [--base N|any] [--unicode] [--html FILE] [--json FILE]

Draws what lies on each cache line of TYPE, nested structs at their absolute places.
TYPE is a struct, union, class or typedef; NAME@FILE:LINE or NAME@SIZE picks one of
several of a name. Without TYPE it draws the types that the class file names.

  --lines A[-B]   only these lines of the object, from 0
  --classes FILE  who reads and writes each field: adds R read, L lock, A atomic,
                  O owner, C cold, and the verdict on each line
  --line N        bytes of a line (64); 128 for pairs that are fetched together
  --base N|any    where on a line the object starts (0)
  --unicode       boxes of lines instead of +-|
  --html FILE     a page with the map instead; - is standard output
  --json FILE     one type for programs; - is standard output

examples
  linewise show ./server 'struct connection'
  linewise show /sys/kernel/btf/vmlinux lruvec --lines 0-2
  linewise show vmlinux mem_cgroup_per_node --classes memcg.classes --html map.html

exit status: 0 done; 2 usage or bad input; 3 the environment refused
$ linewise record --help
usage: linewise record [-o FILE] [--watch NAME[=TYPE],...] [--mode MODE]
                       [--max SIZE] -- COMMAND [ARGUMENT...]

Runs COMMAND and writes down which thread reads and writes what. COMMAND is compiled
with -fsanitize=thread and linked with the recorder instead of the sanitizer:

  cc -g -O2 $(pkg-config --cflags linewise-rt) -c server.c
  cc server.o $(pkg-config --libs linewise-rt) -pthread -o server
  linewise record -o server.log -- ./server

Its variables are watched without a word, objects from the heap when the program calls
linewise_watch() of <linewise/watch.h>.

  -o FILE              where to (linewise.log)
  --watch NAME[=TYPE]  only these variables, with commas between
  --mode MODE          log (default); count: how many accesses are watched, no log of
                       them; filter: what the recorder costs alone
  --max SIZE           the log's size (1G); what comes later is lost and counted

Not seen: atomics in inline assembly, libc, libraries that were not compiled so, and
small memcpy and memset that the compiler made (-fno-builtin shows them).

exit status: 0 done; 2 usage, or COMMAND cannot be recorded; 3 the environment refused
$ linewise predict --help
usage: linewise predict LOG [--cpus N[,N...]] [--latency A..B] [--line N]
                        [--program FILE] [--classes-out FILE] [--json FILE]

Predicts from a recording (linewise record) how often CPUs take a line from each other,
per operation, and names the pairs of fields. More CPUs than the program had threads
repeat the threads.

  --cpus N[,N...]     numbers of CPUs, 1..256 (2,8,24)
  --latency A..B      how long a line takes from CPU to CPU, in ns (40..200)
  --line N            bytes of a line: 32, 64, 128 (64)
  --program FILE      where symbols and debug information are (the recorded program)
  --classes-out FILE  a class file of what was recorded, for conflicts and suggest
  --json FILE         the prediction for programs; - is standard output

Misses are the most over three orders of the accesses: as recorded, and by the CPUs'
clocks one and 16 at a time. The slowdown is against the same accesses without them.

examples
  linewise record -o server.log -- ./server && linewise predict server.log
  linewise predict server.log --cpus 2,24,128 --json -
  linewise predict server.log --classes-out server.classes

exit status: 0 done; 2 usage or bad input; 3 the environment refused
$ linewise import --help
usage: linewise import FILE [--program FILE] [--bias N] [--at ADDRESS=TYPE]... [--line N]
                       [--classes-out FILE] [--json FILE]

Names the fields behind what perf sampled with the counters of a CPU. FILE is the text of
`perf c2c report --stdio`, or of `perf script -F comm,tid,ip,addr,data_src`.

  --program FILE      where symbols and debug information are; a kernel's for --at
  --bias N            what the loader added to the program's addresses (0)
  --at ADDRESS=TYPE   at this address is an object of that type, as perf saw it
  --line N            bytes of a line: 32, 64, 128 (64)
  --classes-out FILE  a class file of what was sampled, for conflicts and suggest
  --json FILE         the pairs for programs; - is standard output

examples
  perf c2c record -- ./server && perf c2c report --stdio >c2c.txt
  linewise import c2c.txt --program server --bias 0x555555554000
  linewise import c2c.txt --program vmlinux --at '0xffff888100b52c00=struct lruvec'

exit status: 0 done; 2 usage or bad input; 3 the environment refused
