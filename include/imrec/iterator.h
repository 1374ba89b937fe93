/* imrec/iterator.h - reads shards and delivers shuffled and augmented batches. */
#ifndef IMREC_ITERATOR_H
#define IMREC_ITERATOR_H

#include "imrec/iter_params.h"
#include "imrec/traffic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* on_error=replace: the next good sample in the order of its window, wrapping from its end to its
 * beginning, replaces a sample that fails. This is the maximum number of samples that are tried. If
 * all of them fail, or the window has no more, the slot stays zeroed and flagged, as with skip. */
#define IMREC_REPLACE_TRIES 1024

/* How to read a data set: fill with imrec_iter_options_init(), then change fields. struct_size
 * tells the library which fields this caller knows. Text must stay valid until imrec_iter_open()
 * returns. */
struct imrec_iter_options {
    size_t struct_size;
    IMREC_ITER_PARAMS(IMREC_FIELD)
};

/* A tensor of a batch; multi_crop makes several. */
struct imrec_view {
    const void *data;               /* dtype[slots][C][H][W] or [H][W][C], dense */
    const struct imrec_draw *draws; /* of each slot with record_draws=1, else NULL */
    struct imrec_shape shape;       /* of a slot */
    /* uint8, uint16 or int32[slots][H][W], as `masks` says, dense; NULL without. Slots that are
     * padding or have failed contain ignore_label. */
    const void *masks;
    const struct imrec_place *places; /* of each slot with record_places=1, else NULL */
};

/* A field of all slots, as fields= names it: one after another without gaps. */
struct imrec_batch_field {
    const char *name;
    const uint8_t *bytes;    /* of slot i: [offsets[i], offsets[i + 1]); NULL if all are empty */
    const uint64_t *offsets; /* slots + 1 */
    const uint8_t *kinds;    /* of each slot, an enum imrec_field_kind */
};

/* A further image of all slots, as images= names it. */
struct imrec_batch_image {
    const char *name;
    /* Pixels: dtype[slots][C][H][W] or [H][W][C], as `data` of the batch. A map:
     * `type`[slots][H][W], and shape.channels is 1. Dense. Slots that are padding, have failed or
     * lack this image contain zeros; a map its fill=N. */
    const void *data;
    const uint8_t *present;   /* of each slot: 1 = there is an image in it */
    struct imrec_shape shape; /* of a slot */
    enum imrec_image_type type;
};

/* A batch. The iterator owns every pointer, and keeps it valid until the next imrec_iter_next(),
 * _rewind(), _seek() or _close().
 *
 * Not every slot is a sample. With last_batch=pad, the default, the sweep's last batch ends in
 * padding: slots of zeros with label 0. With repeat, and with equal_batches, it ends in samples
 * that are also delivered elsewhere. With on_error=skip failed slots are zeros with label 0. A loop
 * over a batch stops at `count` (padding is last, except for last_batch=wrap with equal_batches)
 * and, if samples may fail, checks `valid`. */
struct imrec_batch {
    const void *data;                /* dtype[batch_size][C][H][W] or [H][W][C], dense; with
                                        data_shape_schedule views[0].shape is its shape */
    const float *labels;             /* batch_size * label_width */
    const uint64_t *ids;             /* of each slot, from the record's header */
    const uint8_t *valid;            /* of each slot: 1 = a real sample that did not fail */
    const enum imrec_status *status; /* of each slot; not IMREC_OK: data and label are 0 */
    const struct imrec_draw *draws;  /* of each slot with record_draws=1, else NULL */
    uint64_t number;                 /* of the batch since opening, from 0 */
    uint64_t sweep;                  /* of its first sample, from 0 */
    uint32_t slots;                  /* batch_size; with last_batch=partial perhaps fewer */
    uint32_t count;                  /* slots of samples of the sweep, including failed ones */
    uint32_t pad;                    /* slots - count: padding, see above */
    uint32_t failed;                 /* of count: slots whose status is not IMREC_OK */
    uint32_t label_width;            /* floats per sample */
    bool sweep_end;                  /* the last sample of a sweep is in this batch */
    uint64_t epoch; /* of its first sample, from 0; an epoch is a sweep, or epoch_size samples */
    bool epoch_end; /* the last sample of an epoch is in this batch */
    const struct imrec_view *views; /* the batch's tensors; data and draws are those of views[0] */
    uint32_t view_count;            /* 1; with multi_crop all its crops */
    uint32_t repeats;               /* num_views: consecutive slots that a sample fills */
    const void *masks;              /* those of views[0]; NULL without */
    /* With dtype_label=float64 double[slots * label_width], with int64 int64_t[...]: the exact
     * labels of the list or source; `labels` are these, rounded. 0 where labels are 0. NULL with
     * float32. */
    const void *typed_labels;
    uint32_t replaced; /* on_error=replace: of count, slots with another sample of the window
                          (pixels, labels, id, draws) instead of one that failed */
    const struct imrec_batch_field *fields; /* field_count, in the order of fields=; NULL without */
    uint32_t field_count;
    /* Those that images= names after the first, each view_count times: image i of views[t] is
     * images[i * view_count + t]. With images=none there are no pixels: `data` and views[t].data
     * are NULL, and the shapes are 0. */
    const struct imrec_batch_image *images;
    uint32_t image_count;             /* names times view_count; 0 without */
    const struct imrec_place *places; /* those of views[0]; NULL without record_places=1 */
};

/* Times and counts since opening; times are sums over all workers, in ns. */
struct imrec_iter_stats {
    uint64_t io_wait_ns; /* the feed waited for bytes */
    uint64_t feed_ns;    /* the serial step, without that wait */
    uint64_t
        decode_ns; /* workers: compressed to pixels; kernels that run row by row inside it too */
    uint64_t augment_ns;       /* workers: resize and kernels that do not run inside the decode */
    uint64_t consumer_wait_ns; /* workers waited because every batch was ready: slow consumer */
    uint64_t next_wait_ns;     /* the consumer waited in imrec_iter_next() */
    uint64_t bytes_read;       /* from storage */
    uint64_t images;           /* samples made without failure */
    uint64_t failed;           /* slots that failed and were not replaced */
    uint64_t damaged_ranges;   /* reported */
    uint64_t memory_bytes;     /* in use by the iterator now */
    uint64_t memory_planned_bytes; /* the sum that memory_limit is compared with */
    uint32_t workers;
    char advice[160];  /* one sentence: what limits the speed */
    uint64_t decodes;  /* runs of a decoder: one for all views of a sample */
    uint64_t views;    /* images made: num_views times the crops of multi_crop for each sample */
    uint64_t replaced; /* slots with another sample instead of one that failed */
    uint64_t self_checked; /* JPEGs that self_check compared */
    bool indexed; /* order and partition are by record (index, CBF files, source), otherwise by
                     bytes and cells of the shards */
};

/* Sets every field to its default. The inline form passes the caller's size of the struct. */
IMREC_API void imrec_iter_options_init_sized(struct imrec_iter_options *o, size_t size);
static inline void imrec_iter_options_init(struct imrec_iter_options *o)
{
    imrec_iter_options_init_sized(o, sizeof(*o));
}

struct imrec_iter; /* opaque; one consumer thread at a time */

/* Sets one field from "key=value". An unknown key is IMREC_ERR_ARGUMENT, whose message suggests the
 * nearest name; a bad value is one whose message names the range. The text must outlive *o.
 * preset=NAME sets all fields of the recipe at once; later calls change them. (If a C caller sets
 * the field `preset` itself, opening sets the fields of the recipe that still have their default.)
 */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_iter_options_set(struct imrec_iter_options *o,
                                                                   const char *key_value,
                                                                   struct imrec_error *err);

/* Opens the shards, starts the workers, and stores the iterator in *out. On failure *out is NULL
 * and nothing runs. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_open(const struct imrec_iter_options *options, struct imrec_iter **out,
                struct imrec_error *err);

/* Blocks until the next batch, in the planned order, is ready.
 *   IMREC_OK        *out is a batch; with on_error=skip it may contain failed slots, with replace
 *                   slots of other samples (and failed ones if none was found).
 *   IMREC_END       once after the last batch of a sweep (with epoch_size: of an epoch), without
 *                   a batch; the call after it begins the next one. After max_samples, or the sweep
 *                   of epoch_size=FULL_DATA_SWEEP, always.
 *   IMREC_ERR_DATA  on_error=stop, and at least one slot failed or a damaged range was found:
 *                   *out is delivered nevertheless, with failed slots zeroed and flagged in
 *                   `status`; *err describes the first failure (shard, offset, id, reason). The
 *                   following call continues with the next batch.
 *   other errors    no batch; only imrec_iter_close() is allowed afterwards. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_next(struct imrec_iter *it, struct imrec_batch *out, struct imrec_error *err);

/* Waits at most `milliseconds` until imrec_iter_next() would return at once, and returns whether it
 * would. For callers that must handle something else meanwhile, such as signals. */
IMREC_API bool imrec_iter_wait(struct imrec_iter *it, uint32_t milliseconds);

/* Keeps data, masks and further images of the last delivered batch valid until
 * imrec_kept_release(). The iterator continues with other memory: that of batches released before,
 * or new memory. All other pointers of the batch are valid until the next call, as usual.
 * IMREC_ERR_LIMIT: with everything that is kept, the sum would exceed memory_limit; nothing has
 * changed. IMREC_ERR_ARGUMENT: there is no batch, or it is already kept. */
struct imrec_kept;
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_keep(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err);
/* Closes the iterator like imrec_iter_close(), but keeps the last delivered batch, without other
 * memory. *out is NULL if there is no batch. On failure (no memory for a few bytes) the iterator is
 * not closed. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_close_keeping(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err);
/* Releases a kept batch, from any thread, also after imrec_iter_close(). NULL is allowed. */
IMREC_API void imrec_kept_release(struct imrec_kept *k);

/* Counts the samples of a sweep of this partition: from the index or manifest, otherwise by reading
 * the heads of all records, once. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_samples(struct imrec_iter *it, uint64_t *samples, struct imrec_error *err);

/* Goes to the start of the next sweep, from anywhere; with epoch_size an epoch begins there. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_rewind(struct imrec_iter *it, struct imrec_error *err);

/* Returns the position after the last delivered batch, as JSON text (docs/formats/position.md). The
 * iterator owns it; it is valid until the next call. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_position(struct imrec_iter *it, const char **json, struct imrec_error *err);

/* With order=global: the position of sample `sample` (from 0; at most imrec_iter_samples()) of a
 * sweep, made from these numbers alone. It equals the one that every rank has there. The iterator
 * stays where it is; its text is valid until the next call. IMREC_ERR_ARGUMENT: another order, or
 * numbers that a sweep does not have. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_position_at(struct imrec_iter *it, uint64_t sweep, uint64_t sample, const char **json,
                       struct imrec_error *err);

/* A number that is equal on all ranks of a job, whatever their part_index, if they agree about
 * data, seeds, order, num_parts, batch size, mix_group, last_batch, epoch_size and max_samples.
 * Compare it when a job begins. */
IMREC_API uint64_t imrec_iter_fingerprint(const struct imrec_iter *it);

/* Goes to a position of the same data, seed, partition and order; batch size, threads and prefetch
 * depth may differ. With equal_batches=1 it may be the position of any of the num_parts partitions:
 * each goes to its own place after the same number of samples of the sweep. Without an index this
 * call finds that place by reading the partition from the beginning of the sweep (twice, if its own
 * samples are being repeated); it decodes nothing. With order=global it is the
 * position of any rank of a job of any num_parts, and the batch of the job (global_batch_size) must
 * be the same. On failure the iterator stays where it was. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_seek(struct imrec_iter *it, const char *json, struct imrec_error *err);

/* Returns the index in use: that of the first shard, as it was opened or found (path_imgidx). NULL:
 * none is used. Valid as long as the iterator. */
IMREC_API const char *imrec_iter_index(const struct imrec_iter *it);

/* Returns where metrics= are: the option as it was given, of port 0 with the port that the system
 * gave ("127.0.0.1:43567"). NULL: there are none. Valid as long as the iterator. */
IMREC_API const char *imrec_iter_metrics(const struct imrec_iter *it);

IMREC_API void imrec_iter_get_stats(struct imrec_iter *it, struct imrec_iter_stats *out);

/* Fills *out with what was moved since opening, its shards' side files included. Any thread. The
 * inline form passes the caller's size of the struct. */
IMREC_API void
imrec_iter_get_traffic_sized(struct imrec_iter *it, struct imrec_traffic *out, size_t size);
static inline void imrec_iter_get_traffic(struct imrec_iter *it, struct imrec_traffic *out)
{
    imrec_iter_get_traffic_sized(it, out, sizeof(*out));
}

/* Stops the workers, also in the middle of a batch, and frees everything. NULL is allowed. */
IMREC_API void imrec_iter_close(struct imrec_iter *it);

#ifdef __cplusplus
}
#endif
#endif
