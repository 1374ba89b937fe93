/* imrec/pack_items.h - packs images that a callback of the caller returns, one at a time. */
#ifndef IMREC_PACK_ITEMS_H
#define IMREC_PACK_ITEMS_H

#include "imrec/image.h"
#include "imrec/packer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An image to pack: `bytes`, `pixels` or `path`, whichever is the first that is not NULL. The item
 * is zeroed before the source fills it. What it points at must stay valid until the source is
 * called again, or imrec_pack_items() returns. */
struct imrec_pack_item {
    const void *bytes; /* an encoded image (or a sound) of byte_count bytes */
    size_t byte_count;
    struct imrec_image pixels; /* an image of 1, 3 or 4 channels, any stride */
    const char *path;          /* a file, read by a worker; relative paths begin at task->root */
    const double *labels;      /* label_count of them; 0: the image has no label */
    uint32_t label_count;
    uint64_t id;
    const char *name;    /* in OUT.lst, messages and the report; NULL: the path, or "item N" */
    const char *refused; /* a sentence: skips the item for this reason; or NULL */
};

/* Fills the next item. IMREC_END: there are no more. Any other status except IMREC_OK ends the run,
 * and imrec_pack_items() returns it with the source's *err. Called from several threads, one call
 * at a time, and never while a lock is held: it may be slow. */
typedef enum imrec_status
imrec_pack_item_fn(void *user, struct imrec_pack_item *item, struct imrec_error *err);

/* The source of items: fill with imrec_pack_source_init(), then change fields. Everything must stay
 * valid until imrec_pack_items() returns. */
struct imrec_pack_source {
    size_t struct_size;
    imrec_pack_item_fn *next;
    void *user;
    const char *const *classes; /* class_count names, written to OUT.classes.txt; a single label */
    size_t class_count;         /* must then be the number of a class; 0: labels are not classes */
    uint64_t total;             /* number of items; 0: unknown. Another number is an error */
    /* Encoding of items that are pixels; options->encoding, quality and color apply to encoded
     * images. The default is lossless: PNG, level 3, with the channels of the pixels. */
    enum imrec_encoding encoding;
    int64_t quality;
    int64_t color;
    bool numbered; /* ids are 0, 1, ...; when appending they continue those of the set */
};
IMREC_API void imrec_pack_source_init_sized(struct imrec_pack_source *s, size_t size);
static inline void imrec_pack_source_init(struct imrec_pack_source *s)
{
    imrec_pack_source_init_sized(s, sizeof(*s));
}

/* Packs the items of the source, in its order, as imrec_pack() packs a list: same workers, same
 * bytes for any number of threads. The items in flight count against options->memory.
 *
 * task: out, progress and user are used, and root if items are paths (NULL: the current folder);
 * list must be NULL. In progress, total is 0 while it is unknown, and found is the number of items
 * received. options: pass_through=1 stores encoded images as they are; with 0 they are decoded and
 * encoded. All labels of an item are packed. The order is that of the items; shuffle has no effect.
 * list, masks, annotations, part, class_from, new_classes, exts, label_width, resume and append are
 * refused; shards needs source->total, shard_size does not.
 *
 * These end the run with IMREC_ERR_ARGUMENT, and a message that names the item by its number, from
 * 0, and its name: a label that is not finite, or a whole number that float32 cannot represent;
 * another number of labels than the first item has (unless all are boxes); a label that is not the
 * number of a class. An item without a label is stored with label 0: if one has none, all must.
 *
 * A run cannot be resumed, because a source cannot. If it ends early, nothing of the new set
 * remains, and with force=1 the old set is kept until the new one is complete. Returns like
 * imrec_pack(); IMREC_ERR_ARGUMENT if the source has no item. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_pack_items(const struct imrec_pack_task *task, const struct imrec_pack_source *source,
                 const struct imrec_pack_options *options, struct imrec_pack_result *out,
                 struct imrec_error *err);

/* Packs like imrec_pack_items(), and appends the new records to the set task->out like
 * imrec_append(). Ids must be new to the set, unless source->numbered. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_append_items(const struct imrec_pack_task *task, const struct imrec_pack_source *source,
                   const struct imrec_pack_options *options, struct imrec_pack_result *out,
                   struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
