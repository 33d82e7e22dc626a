/* SPDX-License-Identifier: MIT */
/* What the parts of the simulated machine share. Not for anybody outside os/. */
#ifndef OS_SIM_SIM_H
#define OS_SIM_SIM_H

#include "os/os.h"

/* Forgets all files. No file is open. */
void sim_files_reset(void);

/* The file calls of the contract, on files in memory. Callers hold the baton (sim.c). */
int sim_file_open(const char *path, enum os_open_mode mode, struct os_file **out);
int sim_file_read(struct os_file *file, void *buffer, size_t bytes, uint64_t offset, size_t *done);
int sim_file_write(struct os_file *file, const void *buffer, size_t bytes, uint64_t offset);
int sim_file_size(struct os_file *file, uint64_t *bytes);
int sim_file_sync(struct os_file *file);
int sim_file_open_direct(const struct os_file *file, struct os_file **out);
int sim_file_readv(struct os_file *file, const struct os_span *spans, unsigned count,
                   uint64_t offset, size_t *done);
int sim_file_writev(struct os_file *file, const struct os_span *spans, unsigned count,
                    uint64_t offset, size_t *done);
int sim_file_datasync(struct os_file *file);
int sim_file_punch(struct os_file *file, uint64_t offset, uint64_t bytes);
int sim_file_resize(struct os_file *file, uint64_t bytes);
void sim_file_close(struct os_file *file);
int sim_file_remove(const char *path);

#endif
