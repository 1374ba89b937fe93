/* storage/cache/cache_blocks.h - one block of an object, from the file and into it. */
#ifndef IMREC_STORAGE_CACHE_CACHE_BLOCKS_H
#define IMREC_STORAGE_CACHE_CACHE_BLOCKS_H

#include "storage/cache/cache_file.h"

struct cache_block {
    struct cache_object object;
    uint64_t number;
    uint32_t bytes;   /* BLOCK_BYTES, less at the end of the object */
    const char *name; /* for people; of cache_put() alone */
};

enum cache_found {
    CACHE_MISS,
    CACHE_HIT,
    CACHE_BROKEN,    /* there, and not as written */
    CACHE_NO_MEMORY, /* not looked at; cache_get() calls it a miss */
};

/* Bytes [from, from + n) of the block; `to` holds anything unless it is a hit. Any thread. */
enum cache_found
cache_get(struct cache *c, const struct cache_block *b, uint32_t from, void *to, uint32_t n);
/* Whether all of a place is as it was written, and found: *b is what it holds. `whole`: its bytes
 * are checked, too; else its head alone. */
enum cache_found cache_look(struct cache *c, uint64_t place, bool whole, struct cache_block *b);
/* Whether a block that is missing may find a place: else it need not be read whole. */
bool cache_has_room(struct cache *c);
/* Keeps a block, if it can. */
void cache_put(struct cache *c, const struct cache_block *b, const void *bytes);
/* This process reads the object: its blocks stay. false: no memory. */
bool cache_add_mine(struct cache *c, const struct cache_object *o);
#endif
