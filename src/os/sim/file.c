/* SPDX-License-Identifier: MIT */
/*
 * Files of the simulated machine: byte arrays under names, in a list. A removed file lives until
 * its last handle is closed. One thread at a time runs in a simulation, so nothing is locked.
 */
#include "os/sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/list.h"

/* Largest file: enough for tests, and an offset gone wrong is found. */
#define FILE_BYTES_MAX (UINT64_C(1) << 30)

struct sim_inode {
    struct list_node link; /* on files, while it has its name */
    char *name;            /* NULL once removed */
    char *data;
    size_t bytes;
    size_t capacity;
    unsigned handles;
};

struct os_file {
    struct sim_inode *inode;
    enum os_open_mode mode;
};

static struct list_node files = {&files, &files};

static struct sim_inode *inode_find(const char *path)
{
    struct list_node *pos;
    list_for_each (pos, &files) {
        struct sim_inode *inode = container_of(pos, struct sim_inode, link);
        if (!strcmp(inode->name, path))
            return inode;
    }
    return NULL;
}

static void inode_drop_if_unused(struct sim_inode *inode)
{
    if (inode->handles || inode->name)
        return;
    free(inode->data);
    free(inode);
}

static void inode_unlink(struct sim_inode *inode)
{
    list_del(&inode->link);
    free(inode->name);
    inode->name = NULL;
    inode_drop_if_unused(inode);
}

void sim_files_reset(void)
{
    while (!list_empty(&files))
        inode_unlink(container_of(files.next, struct sim_inode, link));
}

static struct sim_inode *inode_create(const char *path)
{
    struct sim_inode *inode = calloc(1, sizeof(*inode));
    char *name = strdup(path);
    if (!inode || !name) {
        free(inode);
        free(name);
        return NULL;
    }
    inode->name = name;
    list_add_tail(&files, &inode->link);
    return inode;
}

int sim_file_open(const char *path, enum os_open_mode mode, struct os_file **out)
{
    struct sim_inode *inode = inode_find(path);
    if (!inode && mode == OS_OPEN_READ)
        return MGLRU_ENOENT;
    struct os_file *file = malloc(sizeof(*file));
    if (file && !inode)
        inode = inode_create(path);
    if (!file || !inode) {
        free(file);
        return MGLRU_ENOMEM;
    }
    if (mode == OS_OPEN_CREATE)
        inode->bytes = 0;
    inode->handles++;
    *file = (struct os_file){inode, mode};
    *out = file;
    return MGLRU_OK;
}

int sim_file_read(struct os_file *file, void *buffer, size_t bytes, uint64_t offset, size_t *done)
{
    const struct sim_inode *inode = file->inode;
    if (offset >= inode->bytes)
        return MGLRU_OK;
    size_t left = inode->bytes - (size_t)offset;
    *done = bytes < left ? bytes : left;
    memcpy(buffer, inode->data + offset, *done);
    return MGLRU_OK;
}

static int inode_grow(struct sim_inode *inode, size_t bytes)
{
    if (bytes > inode->capacity) {
        size_t capacity = inode->capacity ? inode->capacity : 4096;
        while (capacity < bytes)
            capacity *= 2;
        char *data = realloc(inode->data, capacity);
        if (!data)
            return MGLRU_ENOMEM;
        inode->data = data;
        inode->capacity = capacity;
    }
    if (bytes > inode->bytes) {
        memset(inode->data + inode->bytes, 0, bytes - inode->bytes);
        inode->bytes = bytes;
    }
    return MGLRU_OK;
}

int sim_file_write(struct os_file *file, const void *buffer, size_t bytes, uint64_t offset)
{
    if (file->mode == OS_OPEN_READ)
        return MGLRU_EIO;
    if (offset > FILE_BYTES_MAX || bytes > FILE_BYTES_MAX - offset)
        return MGLRU_ENOSPC;
    int error = inode_grow(file->inode, (size_t)offset + bytes);
    if (!error && bytes)
        memcpy(file->inode->data + offset, buffer, bytes);
    return error;
}

int sim_file_size(struct os_file *file, uint64_t *bytes)
{
    *bytes = file->inode->bytes;
    return MGLRU_OK;
}

int sim_file_sync(struct os_file *file)
{
    MGLRU_ASSERT(file->inode->handles);
    return MGLRU_OK;
}

/* No page cache of the machine stands between: every transfer is direct. */
int sim_file_open_direct(const struct os_file *file, struct os_file **out)
{
    struct os_file *direct = malloc(sizeof(*direct));
    if (!direct)
        return MGLRU_ENOMEM;
    *direct = *file;
    direct->inode->handles++;
    *out = direct;
    return MGLRU_OK;
}

int sim_file_readv(struct os_file *file, const struct os_span *spans, unsigned count,
                   uint64_t offset, size_t *done)
{
    for (unsigned i = 0; i < count; i++) {
        size_t part = 0;
        sim_file_read(file, spans[i].start, spans[i].bytes, offset + *done, &part);
        *done += part;
        if (part < spans[i].bytes)
            break;
    }
    return MGLRU_OK;
}

int sim_file_writev(struct os_file *file, const struct os_span *spans, unsigned count,
                    uint64_t offset, size_t *done)
{
    for (unsigned i = 0; i < count; i++) {
        int error = sim_file_write(file, spans[i].start, spans[i].bytes, offset + *done);
        if (error)
            return *done ? MGLRU_OK : error;
        *done += spans[i].bytes;
    }
    return MGLRU_OK;
}

int sim_file_datasync(struct os_file *file)
{
    return sim_file_sync(file);
}

int sim_file_punch(struct os_file *file, uint64_t offset, uint64_t bytes)
{
    struct sim_inode *inode = file->inode;
    if (file->mode == OS_OPEN_READ)
        return MGLRU_EIO;
    if (offset >= inode->bytes)
        return MGLRU_OK;
    size_t left = inode->bytes - (size_t)offset;
    memset(inode->data + offset, 0, bytes < left ? (size_t)bytes : left);
    return MGLRU_OK;
}

int sim_file_resize(struct os_file *file, uint64_t bytes)
{
    if (file->mode == OS_OPEN_READ)
        return MGLRU_EIO;
    if (bytes > FILE_BYTES_MAX)
        return MGLRU_ENOSPC;
    if (bytes > file->inode->bytes)
        return inode_grow(file->inode, (size_t)bytes);
    file->inode->bytes = (size_t)bytes;
    return MGLRU_OK;
}

void sim_file_close(struct os_file *file)
{
    MGLRU_CHECK(file->inode->handles);
    file->inode->handles--;
    inode_drop_if_unused(file->inode);
    free(file);
}

int sim_file_remove(const char *path)
{
    struct sim_inode *inode = inode_find(path);
    if (!inode)
        return MGLRU_ENOENT;
    inode_unlink(inode);
    return MGLRU_OK;
}
