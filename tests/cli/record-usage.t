# Command lines that cannot be meant are refused before anything happens.
$ mglru record
2| mglru record: whom to record? -- COMMAND, --cgroup PATH or --pid N
[2]
$ mglru record --pid 1 -- true
2| mglru record: a command, --cgroup and --pid exclude each other
[2]
$ mglru record --pid 1 --cgroup /
2| mglru record: a command, --cgroup and --pid exclude each other
[2]
$ mglru record --pid 0
2| mglru record: --pid: '0' is no number of a process
[2]
$ mglru record --pid 1x
2| mglru record: --pid: '1x' is no number of a process
[2]
$ mglru record --pid 99999999999
2| mglru record: --pid: '99999999999' is no number of a process
[2]
$ mglru record --cgroup ''
2| mglru record: --cgroup needs the path of a cgroup
[2]
$ mglru record --duration 0s -- true
2| mglru record: --duration: '0s' is no time such as 500ms, 60s, 10m or 1h
[2]
$ mglru record --duration 60 -- true
2| mglru record: --duration: '60' is no time such as 500ms, 60s, 10m or 1h
[2]
$ mglru record --max-size 4K -- true
2| mglru record: --max-size 4K is below the least, 1024K
[2]
$ mglru record --max-size much -- true
2| mglru record: --max-size: 'much' is no size: expected bytes, or a number with K, M, G or T
[2]
$ mglru record --buffer 1K -- true
2| mglru record: --buffer 1K is below the least, 64K
[2]
$ mglru record -o a -o b -- true
2| mglru record: -o was given twice
[2]
$ mglru record -o '' -- true
2| mglru record: -o needs the name of a file
[2]
$ mglru record --follow -- true
2| mglru record: unknown option --follow; `mglru record --help` lists them
[2]
$ mglru record -o
2| mglru record: -o needs a value
[2]
# What stands behind the command is the command's.
$ mglru record --pid 1 true --help
2| mglru record: a command, --cgroup and --pid exclude each other
[2]
