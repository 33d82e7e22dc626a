# What perf sampled, with the names of fields: a dentry at 0x7f3a10001000, whose name is read while its
# reference count is written. The texts are made by hand in the columns of perf 6.
$ linewise import c2c.txt
c2c.txt: 6,021 samples on 1 lines; 217 loads met a line that another CPU had modified
measured, not predicted; whose store a load met is told by the stores sampled on its line

pairs of fields, share of these loads
    0.8571  address 0x7f3a10001040: false sharing
            read     +0
            written  +24
    0.0968  address 0x7f3a10001040: false sharing
            read     +8
            written  +24
    0.0461  address 0x7f3a10001040: true sharing
            read     +24
            written  +24
$ linewise import c2c.txt --program liblayout_cases.so --at '0x7f3a10001000=struct dentry_before' --classes-out dentry.classes
c2c.txt: 6,021 samples on 1 lines; 217 loads met a line that another CPU had modified
measured, not predicted; whose store a load met is told by the stores sampled on its line

pairs of fields, share of these loads
    0.9539  dentry_before, line 1: false sharing
            read     d_iname[]
            written  d_lockref
    0.0461  dentry_before, line 1: true sharing
            read     d_lockref
            written  d_lockref
$ grep ^dentry dentry.classes | grep -v cold
dentry_before.d_iname: read 8  # 2800 reads, 0 writes, 0 of them atomic
dentry_before.d_lockref: atomic 10  # 222 reads, 2998 writes, 0 of them atomic
$ linewise conflicts liblayout_cases.so --classes dentry.classes 'struct dentry_before' | sed -n '/^line/,/^$/p'
line 1: error: false sharing (read x atomic)
  written  d_lockref, bytes 88-95, atomic
  read     d_iname[8-31], bytes 64-87, read

$ linewise import c2c.txt --program liblayout_cases.so --at '0x7f3a10001000=struct dentry_before' --json -
{
  "samples": 6021,
  "left_out": 0,
  "hitm": 217,
  "unknown_writer": 0,
  "pairs": [
    {
      "type": "dentry_before",
      "line": 1,
      "reader": "d_iname[]",
      "writer": "d_lockref",
      "kind": "false",
      "both_write": false,
      "share": 0.953917
    },
    {
      "type": "dentry_before",
      "line": 1,
      "reader": "d_lockref",
      "writer": "d_lockref",
      "kind": "true",
      "both_write": false,
      "share": 0.0460829
    }
  ]
}
$ linewise import script.txt --program liblayout_cases.so --at '0x7f3a10001000=struct dentry_before'
script.txt: 5 samples on 1 lines; 2 loads met a line that another CPU had modified
measured, not predicted; whose store a load met is told by the stores sampled on its line

pairs of fields, share of these loads
    0.5000  dentry_before, line 1: false sharing
            read     d_iname[]
            written  d_lockref
    0.5000  dentry_before, line 1: true sharing
            read     d_lockref
            written  d_lockref
# Refused.
$ linewise import
2| linewise import: no file was given; `perf c2c report --stdio` makes one
[2]
$ linewise import nowhere
2| linewise import: nowhere: No such file or directory
[2]
$ linewise import c2c.txt script.txt
2| linewise import: one file at a time; 'script.txt' is a second
[2]
$ linewise import c2c.txt --at dentry
2| linewise import: --at: 'dentry' is no ADDRESS=TYPE, as in '0x4040=struct foo'
[2]
$ linewise import c2c.txt --at 0x10=
2| linewise import: --at: '0x10=' is no ADDRESS=TYPE, as in '0x4040=struct foo'
[2]
$ linewise import c2c.txt --bias here
2| linewise import: --bias: 'here' is no number
[2]
$ linewise import c2c.txt --line 65
2| linewise import: --line: '65' is none of 32, 64, 128
[2]
$ linewise import c2c.txt --bogus
2| linewise import: unknown option --bogus; `linewise import --help` lists them
[2]
$ linewise import liblayout_cases.so
2| linewise import: liblayout_cases.so: neither perf c2c report --stdio ('Shared Cache Line Distribution Pareto') nor perf script with data_src ('|OP ')
[2]
$ linewise import .
2| linewise import: .: expected a regular file
[2]
$ cat c2c.txt | linewise import /dev/stdin
2| linewise import: /dev/stdin: expected a regular file
[2]
$ sed 's/2798/many/' c2c.txt >t; linewise import t
2| linewise import: t: line 29: expected number, counts and address of a line
[2]
$ sed 's/ 9.68%/19,68%/' c2c.txt >t; linewise import t
2| linewise import: t: line 32: expected shares in percent of the line's counts
[2]
$ grep -v STORE script.txt | sed 's/HitM/None/' >t; linewise import t
t: 4 samples on 1 lines; 0 loads met a line that another CPU had modified
measured, not predicted; whose store a load met is told by the stores sampled on its line

pairs of fields, share of these loads
    none
$ grep 'N/A|LVL N/A|SNP' script.txt >t; linewise import t
2| linewise import: t: no load or store with an address was sampled
[2]
$ sed 's/7f3a10001058 /7f3a1000105x /' script.txt >t; linewise import t
2| linewise import: t: line 3: expected an address and data_src before |OP, as perf script -F comm,tid,ip,addr,data_src prints them
[2]
$ linewise import c2c.txt --program nowhere 2>&1 | sed 's/: No.*//' | sed -n 1,2p
linewise import: nowhere: no symbols can be read; variables have no names
linewise import: nowhere: cannot read: no such file; fields are told by their offsets
$ linewise import c2c.txt --program liblayout_cases.so --at '0x7f3a10001000=struct bogus' | sed -n 5,6p
    0.8571  address 0x7f3a10001040: false sharing
            read     +0
2| linewise import: liblayout_cases.so: no type is named bogus
