/* storage/cache/cache_file.h - the file of a cache: header, index, places of blocks; its lock. */
#ifndef IMREC_STORAGE_CACHE_CACHE_FILE_H
#define IMREC_STORAGE_CACHE_CACHE_FILE_H

#include "base/threads.h"
#include "storage/cache/cache.h"

#include <stdatomic.h>

#define BLOCK_BYTES  ((uint64_t)1 << 20)
#define PIECE_BYTES  ((uint64_t)64 << 10)
#define PIECES       (BLOCK_BYTES / PIECE_BYTES)
#define HEADER_BYTES 4096
#define HEAD_BYTES   4096       /* of a place, its name included */
#define NO_PLACE     UINT64_MAX /* of an entry that was removed */

struct cache_object { /* hashes of its URI; of URI, identity and size */
    uint64_t uri, whole[2];
};

/* In the index, and at the head of each place. */
struct cache_entry {
    struct cache_object object;
    uint64_t block;
    uint64_t place;      /* from 1; 0: the entry is empty, and always was */
    uint32_t bytes, sum; /* sum: of the checksums of its pieces */
    uint32_t touched;    /* minutes since 1970; not in `crc` */
    uint32_t crc;        /* of all fields before `touched` */
    uint64_t zero;
};

struct cache_head { /* of a place; its bytes follow */
    struct cache_entry entry;
    uint32_t piece[PIECES]; /* CRC-32C */
};

#define NAME_MOST (HEAD_BYTES - sizeof(struct cache_head) - 2 * sizeof(uint32_t))
struct cache_name {      /* after it: for people, nothing depends on it */
    uint32_t crc, bytes; /* crc: of `bytes` and of that much text */
    char text[NAME_MOST];
};

struct cache_header { /* of the file; what is not in it follows from the bound */
    char magic[8];
    uint64_t bound, used; /* bytes; places that were ever taken */
    uint32_t block_bytes, crc;
};

struct cache {
    int fd;
    char *path;
    uint64_t bound, places, entries; /* entries: a power of two */
    struct mutex lock;               /* of writing in this process */
    struct cache_object *mine;       /* opened by this process */
    uint64_t mine_count, mine_room;
    uint64_t *victims; /* entries whose blocks may go; looked for again now and then */
    uint64_t victim_count;
    uint64_t looked_ns; /* when; 0: never */
    atomic_bool full, off;
    atomic_uint_least64_t store_bytes, store_reads, cache_bytes, broken_blocks;
};

uint64_t cache_entry_at(uint64_t entry);                        /* offsets in the file */
uint64_t cache_place_at(const struct cache *c, uint64_t place); /* of its head */
uint32_t cache_entry_crc(const struct cache_entry *e);
bool cache_pread(const struct cache *c, void *to, size_t n, uint64_t offset);
/* false and errno */
bool cache_pwrite(const struct cache *c, const void *p, size_t n, uint64_t offset);
bool cache_read_header(const struct cache *c, struct cache_header *out); /* and checks it */
/* One that is there, of any bound; IMREC_ERR_IO where there is none. */
IMREC_NODISCARD enum imrec_status
cache_open_old(const char *folder, struct cache **out, struct imrec_error *err);
uint32_t cache_name_crc(const struct cache_name *n);
bool cache_write_header(const struct cache *c, uint64_t used);
/* The lock of the file, waited for at most that long; the caller holds the mutex. */
bool cache_lock(const struct cache *c, uint32_t milliseconds);
void cache_unlock(const struct cache *c);
void cache_turn_off(struct cache *c,
                    int error); /* nothing is written any more; it is logged once */
#endif
