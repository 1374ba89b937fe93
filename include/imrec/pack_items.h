/* imrec/pack_items.h - images that a caller hands over, one at a time, into record shards. */
#ifndef IMREC_PACK_ITEMS_H
#define IMREC_PACK_ITEMS_H

#include "imrec/image.h"
#include "imrec/packer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One image to pack: `bytes`, `pixels` or `path`, the first of them that is not NULL. The item is
 * zeroed before the source fills it. What it points to must stay until the source is called again,
 * or imrec_pack_items() returns. */
struct imrec_pack_item {
    const void *bytes; /* an encoded image (or a sound), byte_count of them */
    size_t byte_count;
    struct imrec_image pixels; /* an image of 1, 3 or 4 channels, any stride */
    const char *path;          /* a file, read by a worker; relative paths begin at task->root */
    const double *labels;      /* label_count of them; 0: the image has no label */
    uint32_t label_count;
    uint64_t id;
    const char *name;    /* in OUT.lst, messages and the report; NULL: the path, or "item N" */
    const char *refused; /* a sentence: there is nothing to pack, the item is skipped; or NULL */
};

/* Fills the next item. IMREC_END: there are no more. Any other status but IMREC_OK ends the run,
 * and imrec_pack_items() returns it with what the source wrote to *err. Called from several
 * threads, one call at a time, and never while a lock is held: it may take its time. */
typedef enum imrec_status
imrec_pack_item_fn(void *user, struct imrec_pack_item *item, struct imrec_error *err);

/* Where items come from: fill with imrec_pack_source_init(), then change fields. All is borrowed
 * until imrec_pack_items() returns. */
struct imrec_pack_source {
    size_t struct_size;
    imrec_pack_item_fn *next;
    void *user;
    const char *const *classes; /* class_count names, written to OUT.classes.txt; a single label */
    size_t class_count;         /* must then be the number of a class; 0: labels are no classes */
    uint64_t total;             /* items that will come; 0: unknown. Another number is an error */
    /* How items that are pixels are encoded; options->encoding, quality and color are for encoded
     * images. The preset loses nothing: PNG, level 3, with the channels that the pixels have. */
    enum imrec_encoding encoding;
    int64_t quality;
    int64_t color;
    bool numbered; /* ids are places, 0, 1, ...: appended, they go on behind those of the set */
};
IMREC_API void imrec_pack_source_init_sized(struct imrec_pack_source *s, size_t size);
static inline void imrec_pack_source_init(struct imrec_pack_source *s)
{
    imrec_pack_source_init_sized(s, sizeof(*s));
}

/* Packs what the source gives, in its order, as imrec_pack() packs a list: same workers, same
 * bytes for any number of threads. The items in flight count against options->memory.
 *
 * task: out, progress and user count, and root where items are paths (NULL: the current folder);
 * list must be NULL. progress tells total = 0 while nobody knows it, found is the number of items
 * that came. options: pass_through=1 stores encoded images as they are; with 0 they are decoded
 * and encoded. All labels of an item are packed, in the order of the items, whatever shuffle says.
 * list, masks, annotations, part, class_from, new_classes, exts, label_width, resume and append are
 * refused; shards needs source->total, shard_size does not.
 *
 * These end the run with IMREC_ERR_ARGUMENT, and name the item by its number, from 0, and its
 * name: a label that is not finite, or a whole number that float32 does not have; another number
 * of labels than the first item has (unless all are boxes); a label that is the number of no class.
 * An item without a label is stored with label 0: if one has none, all must.
 *
 * A run cannot be resumed, because a source cannot: whatever ends it, nothing of the new set is
 * left, and with force=1 the old set stands until the new one is whole. Returns as imrec_pack()
 * does; IMREC_ERR_ARGUMENT where the source has no item. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_pack_items(const struct imrec_pack_task *task, const struct imrec_pack_source *source,
                 const struct imrec_pack_options *options, struct imrec_pack_result *out,
                 struct imrec_error *err);

/* Packs as imrec_pack_items(), and puts the new records behind those of the set task->out, as
 * imrec_append() does. Ids must be new to the set, unless source->numbered. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_append_items(const struct imrec_pack_task *task, const struct imrec_pack_source *source,
                   const struct imrec_pack_options *options, struct imrec_pack_result *out,
                   struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
