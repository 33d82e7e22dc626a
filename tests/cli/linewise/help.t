# The program and its commands say what they do.
$ linewise --help
usage: linewise COMMAND FILE [ARGUMENT...]

Draws the cache lines of a struct, finds the fields that fight over one, proposes the
cheapest fix, and keeps it. FILE is any ELF file with DWARF, or a kernel with BTF.

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
                     [--line N] [--json FILE]

Lists the structs, unions and classes of FILE. TYPE is a name, or a pattern as of the
shell ('lru_*').

  --sort KEY       name (default), size, lines, holes, unused: the most first
  --holes          only types with holes
  --min-size SIZE  only types of at least so many bytes
  --line N         bytes of a line (64)
  --json FILE      the table for programs; - is standard output

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
