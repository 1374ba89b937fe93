/* imrec/fetch.h - the iterator reads records that a function of yours fetches by number: rows of a
 * database, of an archive, of a table in memory. See docs/guide/python_sources.md. */
#ifndef IMREC_FETCH_H
#define IMREC_FETCH_H

#include "imrec/iterator.h"
#include "imrec/records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A record, as your function fills it; zeroed before, but for the id. What it points at must stay
 * valid and unchanged until `release`, or for ever without one; nothing of it is copied before. The
 * size of this struct never changes. */
struct imrec_fetched {
    const void *image; /* a compressed image (any format that the library reads; with audio=1 a
                          sound), at most 2^31 bytes */
    size_t image_bytes;
    const void *mask; /* with masks: its PNG; otherwise it may be NULL */
    size_t mask_bytes;
    const void *labels; /* float, double or int64_t[label_count], as label_dtype says */
    uint32_t label_count;
    enum imrec_label_dtype label_dtype;
    uint64_t id;              /* initially the number; it is delivered with the sample */
    enum imrec_status status; /* not IMREC_OK: this record alone failed */
    const char *why;          /* and why: a sentence, or NULL */
    /* With fields= and images=: named parts (imrec/records.h), those that are asked for and others,
     * in any order, at most 65536. Names and bytes must stay valid as the image must. */
    const struct imrec_field *fields;
    uint32_t field_count;
    uint32_t reserved0;   /* 0 */
    uint64_t reserved[2]; /* 0 */
};

/* Fetches records numbers[0..n), which ascend, into out[0..n); with repeats a number may come more
 * than once. Threads of the library call it, several at once (`threads`), ahead of the batches.
 * *hold, initially NULL, is yours: what `release` needs.
 *
 * A status other than IMREC_OK costs all n samples, with err->message as the reason; *hold is
 * released also then, unless it is NULL. IMREC_ERR_NO_MEMORY and IMREC_ERR_CANCELLED are not about
 * the records: they end the iterator. The function must not close it, throw or jump out. */
typedef enum imrec_status imrec_fetch_fn(void *user, const uint64_t *numbers, uint32_t n,
                                         struct imrec_fetched *out, void **hold,
                                         struct imrec_error *err);
/* Nothing that the call with this hold pointed at is used any more. Any thread; once for each hold
 * that is not NULL, also after the iterator was closed while it fetched. */
typedef void imrec_fetch_release_fn(void *user, void *hold);
/* Nobody waits for records any more: calls that run should end soon, however they like. Called
 * once, by the thread that closes the iterator, perhaps while calls of the others run. */
typedef void imrec_fetch_cancel_fn(void *user);

struct imrec_fetch {
    size_t struct_size; /* sizeof(struct imrec_fetch) */
    const char *name;   /* in messages, and in the fingerprint of positions; required */
    uint64_t count;     /* records; they have the numbers 0 to count - 1 */
    void *user;         /* for the functions; must outlive the iterator */
    imrec_fetch_fn *fetch;
    imrec_fetch_release_fn *release; /* NULL: what `fetch` gives is valid until the end */
    imrec_fetch_cancel_fn *cancel;   /* NULL: calls end by themselves */
    uint64_t fingerprint; /* of the data: a position of other data is refused. 0 where nobody knows;
                             name and count are part of it anyhow */
    uint64_t record_bytes; /* about as many on average, for planning memory; 0: 64 KiB */
    uint32_t at_once;      /* records of a call at most, 1 to 65536; 0: 16 */
    uint32_t threads;      /* that fetch, 1 to 256; 0: 4 */
    /* Records that are cheap to fetch together: block b has those from block_begin[b] up to
     * block_begin[b + 1], or the end; they ascend, from 0. With locality=chunk a block stays
     * together. Valid until the iterator is closed. blocks 0: those of a call. */
    const uint64_t *block_begin;
    uint64_t blocks;
};

/* imrec_iter_open() of such records, which are treated as those of an index: order, shuffle,
 * partitions, order=global, subset (by number), positions. *fetch is copied, its name, too.
 *
 * The options path_imgrec, path_imgidx (other than auto and none), path_root, source, mix, image,
 * label, mask, keep_in_memory and verify_checksums are about files and must not be set:
 * IMREC_ERR_ARGUMENT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_open_fetch(const struct imrec_iter_options *options, const struct imrec_fetch *fetch,
                      struct imrec_iter **out, struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
