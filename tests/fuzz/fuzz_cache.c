/* tests/fuzz/fuzz_cache.c - arbitrary bytes as the file of a cache of 4 MiB: header, index, heads
 * of places. data[0]: bit 0 leaves the header as it comes, bit 1 the checksums of entries and
 * heads; else these are made right, so that the bounds alone stand between the bytes and their
 * readers. Then follow how many places were used, the index, and for each place its head and the
 * beginning of its block. */
#include "base/alloc.h"
#include "formats/crc32c.h"
#include "storage/cache/cache_blocks.h"
#include "tests/fuzz/must.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BOUND = 4 << 20, PLACES = 3, ENTRIES = 8, NAME = 64, BODY = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[256], path[300];
static uint8_t block[BLOCK_BYTES];

static void forget(void)
{
    (void)unlink(path);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    if (folder[0] != '\0')
        return;
    (void)snprintf(folder, sizeof(folder), "%.200s/imrec-fuzz-XXXXXX", tmp != NULL ? tmp : "/tmp");
    must(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/" CACHE_FILE, folder);
    (void)atexit(forget);
}

struct bytes_left {
    const uint8_t *p;
    size_t n;
};

static void take(struct bytes_left *from, void *to, size_t n) /* zeros after the end */
{
    const size_t have = n < from->n ? n : from->n;
    memset(to, 0, n);
    memcpy(to, from->p, have);
    from->p += have;
    from->n -= have;
}

static void write_at(const struct cache *c, const void *p, size_t n, uint64_t offset)
{
    must(cache_pwrite(c, p, n, offset));
}

static void write_places(const struct cache *c, struct bytes_left *in, bool raw)
{
    uint8_t body[BODY];
    for (uint64_t place = 1; place <= PLACES; place++) {
        struct cache_head h;
        struct cache_name name = {0};
        take(in, &h, sizeof(h));
        take(in, &name, NAME);
        take(in, body, sizeof(body));
        if (!raw) {
            h.piece[0] = crc32c(0, body, h.entry.bytes < BODY ? h.entry.bytes : BODY);
            h.entry.sum = crc32c(0, h.piece, sizeof(h.piece));
            h.entry.crc = cache_entry_crc(&h.entry);
            name.crc = cache_name_crc(&name);
        }
        write_at(c, &h, sizeof(h), cache_place_at(c, place));
        write_at(c, &name, sizeof(name), cache_place_at(c, place) + sizeof(h));
        write_at(c, body, sizeof(body), cache_place_at(c, place) + HEAD_BYTES);
    }
}

/* The file; its first entry is *first. */
static void write_file(struct bytes_left in, struct cache_entry *first)
{
    struct cache *c;
    struct cache_entry entries[ENTRIES];
    struct cache_header header;
    uint8_t flags, used;
    (void)unlink(path);
    must(cache_open(folder, BOUND, &c, NULL) == IMREC_OK && c->entries == ENTRIES &&
         c->places == PLACES);
    take(&in, &flags, 1);
    if ((flags & 1) != 0) {
        take(&in, &header, sizeof(header));
        write_at(c, &header, sizeof(header), 0);
    } else {
        take(&in, &used, 1);
        must(cache_write_header(c, used));
    }
    take(&in, entries, sizeof(entries));
    for (int i = 0; i < ENTRIES && (flags & 2) == 0; i++)
        entries[i].crc = cache_entry_crc(&entries[i]);
    write_at(c, entries, sizeof(entries), cache_entry_at(0));
    write_places(c, &in, (flags & 2) != 0);
    *first = entries[0];
    cache_close(c);
}

/* A block that is asked for is whole in the cache, or not at all; kept, it is what was kept. */
static void use(struct cache *c, const struct cache_entry *e)
{
    static uint8_t mine[BLOCK_BYTES], back[BLOCK_BYTES];
    struct cache_block b = {e->object, e->block, e->bytes % (uint32_t)(BLOCK_BYTES + 1), "fuzz"};
    if (b.bytes == 0)
        return;
    (void)cache_get(c, &b, 0, block, b.bytes);
    (void)cache_get(c, &b, b.bytes / 3, block, b.bytes - b.bytes / 3);
    memset(mine, 0x5a, sizeof(mine));
    cache_put(c, &b, mine);
    if (cache_get(c, &b, 0, back, b.bytes) == CACHE_HIT && !atomic_load(&c->off) &&
        !atomic_load(&c->full))
        must(memcmp(back, mine, b.bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cache *c;
    struct cache_contents seen;
    struct cache_entry first;
    make_folder();
    write_file((struct bytes_left){data, size}, &first);
    if (cache_contents_read(folder, true, &seen, NULL) == IMREC_OK) {
        must(seen.blocks <= PLACES && seen.count <= seen.blocks);
        must(seen.bytes <= PLACES * BLOCK_BYTES);
        cache_contents_free(&seen);
    }
    if (cache_open(folder, BOUND, &c, NULL) == IMREC_OK) {
        use(c, &first);
        cache_close(c);
        must(cache_empty(folder, NULL) == IMREC_OK);
        must(cache_contents_read(folder, true, &seen, NULL) == IMREC_OK && seen.blocks == 0);
        cache_contents_free(&seen);
    }
    must(imrec_alloc_live() == 0);
    return 0;
}
