// SPDX-License-Identifier: MIT
// RocksDB's block caches as subjects of `mglru bench hit --rival`: HyperClockCache, whose look-ups
// take no lock, and LRUCache, sharded with a mutex each. Both as RocksDB itself sets them up: keys
// of 16 bytes, metadata not charged, the estimated charge of an entry being that of a page.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <rocksdb/cache.h>

#include <mglru/error.h>

#include "measure/subject.h"

namespace {

constexpr int kShardBits = -1; // RocksDB's own choice

struct Key {
    char bytes[16];
};

struct State {
    std::shared_ptr<rocksdb::Cache> cache;
    measure_setup setup;
};

// RocksDB hashes keys itself; the bits of a page's number are spread as those of its files are.
Key key_of(uint32_t page)
{
    Key key;
    uint64_t file = 0x9E3779B97F4A7C15u, offset = static_cast<uint64_t>(page) << 12;
    std::memcpy(key.bytes, &file, sizeof(file));
    std::memcpy(key.bytes + sizeof(file), &offset, sizeof(offset));
    return key;
}

void free_page(const rocksdb::Slice &, void *value)
{
    std::free(value);
}

int create(const measure_setup *setup, std::shared_ptr<rocksdb::Cache> cache, void **state)
{
    *state = cache ? new State{std::move(cache), *setup} : nullptr;
    return *state ? 0 : MGLRU_ENOMEM;
}

// Its shards fill unevenly: where all pages are to be resident they need more room than the pages.
size_t capacity_of(const measure_setup *setup)
{
    uint64_t all = static_cast<uint64_t>(setup->pages) * setup->page_bytes;
    return setup->memory_bytes < all ? setup->memory_bytes : all + all / 4;
}

int create_clock(const measure_setup *setup, void **state)
{
    rocksdb::HyperClockCacheOptions options(capacity_of(setup), setup->page_bytes, kShardBits,
                                            false, nullptr, rocksdb::kDontChargeCacheMetadata);
    return create(setup, options.MakeSharedCache(), state);
}

int create_lru(const measure_setup *setup, void **state)
{
    rocksdb::LRUCacheOptions options(capacity_of(setup), kShardBits, false, 0.0, nullptr,
                                     rocksdb::kDefaultToAdaptiveMutex,
                                     rocksdb::kDontChargeCacheMetadata);
    return create(setup, rocksdb::NewLRUCache(options), state);
}

// Brings a page into a new block and the block into the cache; *handle stays NULL without memory.
void bring(State &state, const rocksdb::Slice &key, uint32_t page, rocksdb::Cache::Handle **handle)
{
    size_t bytes = state.setup.page_bytes;
    void *block = std::malloc(bytes);
    if (block == nullptr)
        return;
    std::memcpy(block, state.setup.source + page * bytes, bytes);
    if (!state.cache->Insert(key, block, bytes, free_page, handle).ok())
        *handle = nullptr; // the cache has freed the block
}

int read(void *opaque, measure_reads *reads)
{
    State &state = *static_cast<State *>(opaque);
    for (uint32_t i = 0; i < reads->count; i++) {
        uint32_t page = reads->pages[i];
        Key bytes = key_of(page);
        rocksdb::Slice key(bytes.bytes, sizeof(bytes.bytes));
        rocksdb::Cache::Handle *handle = state.cache->Lookup(key);
        if (handle == nullptr) {
            bring(state, key, page, &handle);
            reads->misses++;
        }
        if (handle == nullptr)
            return MGLRU_ENOMEM;
        const char *block = static_cast<const char *>(state.cache->Value(handle));
        std::memcpy(reads->buffer,
                    block + measure_offset(page, state.setup.page_bytes, reads->bytes),
                    reads->bytes);
        state.cache->Release(handle);
    }
    return 0;
}

void destroy(void *opaque)
{
    delete static_cast<State *>(opaque);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const measure_subject *measure_rivals()
{
    static const measure_subject rivals[] = {
        {"HyperClockCache", create_clock, read, destroy, nullptr, 0},
        {"LRUCache", create_lru, read, destroy, nullptr, 1},
        {nullptr, nullptr, nullptr, nullptr, nullptr, 0},
    };
    return rivals;
}
