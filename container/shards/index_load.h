/* container/shards/index_load.h - the binary index of a shard: its header, and the blocks that are
 * asked for. */
#ifndef IMREC_CONTAINER_SHARDS_INDEX_LOAD_H
#define IMREC_CONTAINER_SHARDS_INDEX_LOAD_H

#include "formats/recordio/index_blocks.h"
#include "storage/source.h"

struct index_shard { /* the one that an index must be of */
    const char *uri;
    struct source *source; /* borrowed */
    uint64_t size;
    bool extents; /* its records are found by walking (extents.h): of others they are RecordIO's */
};

/* Whether the name of an index is that of a binary one, .idxb; else it is text. */
bool index_is_binary(const char *name);
/* Whether there is an object of that name, such as an index next to a shard. What far stores have
 * is looked at by is_it(), unless NULL: a web server may answer with a page for every name. An
 * error where that cannot be known: without its index a shard has another order and other
 * partitions. */
IMREC_NODISCARD enum imrec_status index_is_there(const char *name, bool (*is_it)(struct source *f),
                                                 bool *there, struct imrec_error *err);
/* The identity of a shard, as the header of its binary index has it; all else is 0. */
IMREC_NODISCARD enum imrec_status
index_of_shard(const struct index_shard *s, struct index_blocks *out, struct imrec_error *err);

/* Reads the header of the binary index `name`, opened as *f, and checks it as far as the shard's
 * size tells. IMREC_ERR_CORRUPT names both. On failure *f is NULL. */
IMREC_NODISCARD enum imrec_status index_open(const char *name, const struct index_shard *s,
                                             struct source **f, struct index_blocks *out,
                                             struct imrec_error *err);
/* Whether the shard still has the first bytes that the header knows: one read of the shard. */
IMREC_NODISCARD enum imrec_status index_check_shard(const char *name, const struct index_shard *s,
                                                    const struct index_blocks *h,
                                                    struct imrec_error *err);
/* Gives out entries [begin, end), ascending by offset, `n` at a time; reads and checks the blocks
 * that have them, and no other ones. */
typedef enum imrec_status
index_take(void *user, const struct index_entry *e, size_t n, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
index_read(const char *name, struct source *f, const struct index_blocks *h, uint64_t begin,
           uint64_t end, index_take *take, void *user, struct imrec_error *err);
/* All three: every entry of `name`. */
IMREC_NODISCARD enum imrec_status index_load(const char *name, const struct index_shard *s,
                                             index_take *take, void *user, struct index_blocks *out,
                                             struct imrec_error *err);

struct sink;
/* Appends the whole index of e[0..n), ascending by offset: header and blocks. *h has the shard's
 * identity, its number, hash_before and whether the entries are complete; the rest is filled in. */
IMREC_NODISCARD enum imrec_status index_write(struct sink *to, struct index_blocks *h,
                                              const struct index_entry *e, uint64_t n,
                                              struct imrec_error *err);
#endif
