/* storage/cache/cache.h - blocks of objects of stores, kept on this machine's disk.
 *
 * A block is read from the cache only where its object (URI and identity), number, length and
 * checksums (CRC-32C, one for each 64 KiB) are those that are asked for. The file has the size of
 * its bound from the beginning, and nobody writes after its end: the bound holds for any number
 * of processes. */
#ifndef IMREC_STORAGE_CACHE_CACHE_H
#define IMREC_STORAGE_CACHE_CACHE_H

#include "storage/source.h"
#include "storage/store/scope.h"

#define CACHE_FILE      "imrec.cache"        /* in the folder */
#define CACHE_BYTES     ((uint64_t)10 << 30) /* of a new cache, where nobody says how many */
#define CACHE_BYTES_MIN ((uint64_t)4 << 20)

struct cache;

/* Opens the cache in a folder, or makes both. bytes: its bound; 0: the one that it has, or
 * CACHE_BYTES. IMREC_ERR_ARGUMENT: it has another bound, or the file is not a cache. */
IMREC_NODISCARD enum imrec_status
cache_open(const char *folder, uint64_t bytes, struct cache **out, struct imrec_error *err);
void cache_close(struct cache *c); /* after its sources; NULL is allowed */

/* What is opened in the scope from here on is read through the cache, which outlives it. */
void cache_serve(struct cache *c, struct store_scope *scope);

struct cache_totals {
    uint64_t store_bytes, store_reads; /* asked of the sources beneath */
    uint64_t cache_bytes;              /* delivered from the file */
    uint64_t broken_blocks;            /* whose checksum did not match; they were read again */
};
void cache_totals(const struct cache *c, struct cache_totals *out);

/* ---- for people -------------------------------------------------------------------------- */

struct cache_kept { /* of an object, of one version */
    char *name;     /* its URI without name, password and query; the end of a long one */
    uint64_t bytes, blocks, broken;
};
struct cache_contents {
    char *path;
    uint64_t bound, disk_bytes; /* of the file: the second as it occupies the disk */
    uint64_t bytes, blocks, broken;
    struct cache_kept *kept; /* by name */
    size_t count;
};
/* What the cache in a folder has; it is not made, nor changed. `check`: every byte is compared with
 * its checksum; else the heads of blocks alone. */
IMREC_NODISCARD enum imrec_status cache_contents_read(const char *folder, bool check,
                                                      struct cache_contents *out,
                                                      struct imrec_error *err);
void cache_contents_free(struct cache_contents *c); /* zeroed memory is fine */
/* Nothing of it is kept any more, and the disk is free; the file stays, with its bound. Readers
 * that use it continue. */
IMREC_NODISCARD enum imrec_status cache_empty(const char *folder, struct imrec_error *err);

/* A source over `inner` (owned from here on, also on failure); `inner` itself where that has no
 * identity. The URI is part of the key; written are a hash, and what people may see of it. */
IMREC_NODISCARD enum imrec_status cache_source_open(struct cache *c, const char *uri,
                                                    struct source *inner, struct source **out,
                                                    struct imrec_error *err);
#endif
