# Readahead: where the window comes from, where files end, what is counted.
$ { echo '#mglru-trace 1 page_size=4096'; for i in 0 1 2 3 4 5 6 7; do echo "r /a data $i"; done; } >plain
# Without the option there is none; auto is 128K for programs' reads.
$ for r in 0 auto 128K 16K 1M; do mglru replay plain --memory 1M --readahead $r --csv - | grep '^run' | cut -d , -f 7-10,17-19; done
8,0,8,8,0,0,0
8,7,1,16,15,0,0
8,7,1,16,15,0,0
8,7,1,12,11,0,0
8,7,1,48,47,0,0
$ mglru replay plain --memory 1M --csv - | grep '^run' | cut -d , -f 7-10,17-19
8,0,8,8,0,0,0
# The trace may say what its recording had; an option wins.
$ { head -1 plain; echo '!set / read_ahead_kb 16'; tail -n +2 plain; } >said
$ for r in auto 0 128K; do mglru replay said --memory 1M --readahead $r --csv - | grep '^run' | cut -d , -f 7-10,17-19; done
8,7,1,12,11,0,0
8,0,8,8,0,0,0
8,7,1,16,15,0,0
$ mglru plan said --json - | grep pages_read | sort -u; mglru plan said --readahead 0 --json - | grep pages_read | sort -u
          "pages_read": 12,
          "pages_read": 8,
# Readahead ends with the file, where the trace tells its size; an access beyond makes it longer.
$ { head -1 plain; echo 'o /a data 9'; tail -n +2 plain; } >sized; mglru replay sized --memory 1M --readahead auto --csv - | grep '^run' | cut -d , -f 7-10,17-19
8,7,1,9,8,0,0
$ { head -1 plain; echo 'o /a data 3'; tail -n +2 plain; } >sized; mglru replay sized --memory 1M --readahead auto --csv - | grep '^run' | cut -d , -f 7-10,17-19
8,2,6,8,2,0,0
# It survives a conversion.
$ mglru replay said --write-native copy && sed -n 2p copy; mglru replay sized --write-native copy && sed -n 2p copy
!set / read_ahead_kb 16
o /a data 3
# What was read for nothing, and what was written.
$ { head -1 plain; for i in 1 2 3 4 5 6 7 8; do echo "r /a data ${i}00"; echo "r /a data ${i}01"; done; echo 'r /a log 0 300'; echo 'w /a log 0 100'; } >mixed
$ mglru replay mixed --memory 1M --readahead 64K
mixed: 416 page accesses in 18 requests, pages of 4K, native

policy  model  memory  accesses  misses  miss ratio  pages read  ahead  wasted  written  refaults  reclaimed  aged
mglru   7.3        1M       416     119      28.61%         724      8       8       78       192        487    46
# Values that are none.
$ { head -1 plain; echo '!set / read_ahead_kb much'; tail -n +2 plain; } >bad; mglru replay bad --memory 1M --readahead auto
2| mglru replay: bad: line 2: !set / read_ahead_kb much: Invalid argument
[2]
$ { head -1 plain; echo 'o /a data 0'; } >bad; mglru replay bad --memory 1M
2| mglru replay: bad: line 2: expected the pages of the file, 1 to 2^32 - 1, found the end of the line
[2]
$ { head -1 plain; echo 'o /a data 4294967296'; } >bad; mglru replay bad --memory 1M
2| mglru replay: bad: line 2: expected the pages of the file, 1 to 2^32 - 1, found '4294967296'
[2]
