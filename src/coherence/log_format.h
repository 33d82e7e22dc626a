/* SPDX-License-Identifier: MIT */
/*
 * The recorder's log as it lies in a file: what the runtime writes and log.h reads.
 *
 * Records of 24 bytes, little-endian. The first is the header, the last LOG_END; a log without it
 * is torn. Records of one thread are in order; those of different threads are merged by time.
 *
 *   kind         time      address            bytes          thread   skipped
 *   LOG_READ..   when      first byte         at most 4096   who      accesses left out before
 *   LOG_ACQUIRE  when      lock               0              who
 *   LOG_RELEASE  when      lock               0              who
 *   LOG_START    created   thread that made it 0           the new one
 *   LOG_OBJECT   when      first byte         how many       who      length of the name
 *   LOG_MODULE   0         load bias          0              0        length of the path
 *   LOG_MARK     when      operations ended   0              who
 *   LOG_TOTAL    0         how many           which LOG_*    0
 *   LOG_END      ticks/s   records before it  0              0
 *
 * A name follows its record in as many records as it fills, padded with zeros.
 */
#ifndef COHERENCE_LOG_FORMAT_H
#define COHERENCE_LOG_FORMAT_H

#include <stdint.h>

#define LOG_MAGIC "linewise"
#define LOG_VERSION 1u
/* Changes with any field or meaning above. */
#define LOG_LAYOUT 0x24084212u
#define LOG_NAME_MAX 255u
/* Longer accesses (copies) are several records. */
#define LOG_ACCESS_MAX 4096u

enum log_kind {
    LOG_READ = 1,
    LOG_WRITE,
    LOG_ATOMIC,
    LOG_ACQUIRE,
    LOG_RELEASE,
    LOG_START,
    LOG_OBJECT,
    LOG_MODULE,
    LOG_MARK,
    LOG_TOTAL,
    LOG_END
};

/* Sums over all threads, and what a call cost here, in picoseconds. */
enum log_total {
    LOG_TOTAL_FILTERED, /* accesses outside of what was watched */
    LOG_TOTAL_COUNTED,
    LOG_TOTAL_LOGGED,
    LOG_TOTAL_LOST, /* accesses for which there was no room */
    LOG_TOTAL_LOST_OBJECTS,
    LOG_TOTAL_LOST_THREADS, /* threads beyond the bound: nothing of them is known */
    LOG_TOTAL_FILTER_PS,
    LOG_TOTAL_COUNT_PS,
    LOG_TOTAL_LOG_PS,
    LOG_TOTALS
};

struct log_header {
    char magic[8];
    uint32_t version;
    uint32_t layout;
    uint32_t record_bytes;
    uint32_t zero;
};

struct log_record {
    uint64_t time;
    uint64_t address;
    uint32_t bytes;
    uint16_t thread;
    uint8_t kind; /* enum log_kind */
    uint8_t skipped;
};

_Static_assert(sizeof(struct log_header) == 24, "part of the format");
_Static_assert(sizeof(struct log_record) == 24, "part of the format");

#endif
