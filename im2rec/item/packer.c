/* im2rec/item/packer.c - a worker: its life, its memory, and its share of the budget. */
#include "im2rec/item/packer_state.h"

#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/shard/shard_kinds.h"

#include <inttypes.h>
#include <stdio.h>

/* Of buffers that a worker keeps from image to image, by kind: codec, scratch, what is augmented,
 * masks, pixels and records; and of a file. */
#define KEPT_BYTES ((size_t)4 << 20)
#define KEPT_FILE  ((size_t)16 << 20)
/* Of an image that leaves the C library little to keep. */
#define SMALL_BYTES ((uint64_t)16 << 20)

enum imrec_status
packer_new(const struct packer_options *given, struct packer **out, struct imrec_error *err)
{
    const struct imrec_pack_options *o = given->all;
    struct packer *k = *out = imrec_zalloc(1, sizeof(*k));
    if (k == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a worker");
    k->o = k->all = o;
    k->of_pixels = given->of_pixels;
    k->kind = shard_kinds[o->format];
    k->root = given->root;
    k->budget = given->budget;
    k->counts = given->counts;
    k->head = BUF_INIT(RECORD_MAX);
    k->record = BUF_INIT(RECORD_MAX);
    k->labels = BUF_INIT(RECORD_MAX);
    enum imrec_status st = codec_new(&k->codec, err);
    if (st == IMREC_OK)
        st = resize_scratch_new(&k->scratch, err);
    if (st == IMREC_OK) {
        codec_stop_with(k->codec, k->root->stop);
        codec_share_tables(k->codec, given->tables);
        resize_scratch_stop_with(k->scratch, k->root->stop);
    }
    k->augments = o->augment[0] != '\0';
    if (st == IMREC_OK && k->augments)
        st = augmenting_init(&k->augmenting, o->augment, pack_options_channels(o), err);
    if (st == IMREC_OK)
        st = quality_target_init(&k->target, o->quality_target, k->root->stop, err);
    if (st == IMREC_OK)
        st = item_targets_init(&k->targets, o, k->root->stop, err);
    if (st == IMREC_OK)
        st = item_fields_init(&k->fields, o, k->root, err);
    if (st == IMREC_OK)
        st = item_example_init(&k->example, o, k->fields.names.count != 0, err);
    if (st != IMREC_OK) {
        packer_free(k);
        *out = NULL;
    }
    return st;
}

void packer_free(struct packer *k)
{
    if (k == NULL)
        return;
    codec_free(k->codec);
    resize_scratch_free(k->scratch);
    image_free(&k->decoded);
    image_free(&k->upright);
    image_free(&k->resized);
    augmenting_free(&k->augmenting);
    item_targets_free(&k->targets);
    item_fields_free(&k->fields);
    item_example_free(&k->example);
    quality_target_free(&k->target);
    imrec_free(k->file.p);
    buf_free(&k->head);
    buf_free(&k->record);
    buf_free(&k->labels);
    imrec_free(k);
}

static void drop_file(struct packer *k)
{
    imrec_free(k->file.p);
    k->file = (struct file_bytes){NULL, 0, 0};
}

void packer_trim(struct packer *k, bool all)
{
    const size_t most = all ? 0 : KEPT_BYTES;
    struct image *const images[] = {&k->decoded, &k->upright, &k->resized};
    size_t held = k->record.cap;
    codec_trim(k->codec, most);
    resize_scratch_trim(k->scratch, most);
    augmenting_trim(&k->augmenting, most);
    item_targets_trim(&k->targets, most);
    item_fields_trim(&k->fields, most);
    quality_target_trim(&k->target, most);
    item_example_trim(&k->example, all ? 0 : KEPT_FILE);
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
        held += images[i]->capacity;
    if (k->file.capacity > (most != 0 ? KEPT_FILE : 0))
        drop_file(k);
    if (held > most) {
        buf_free(&k->record);
        for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
            image_free(images[i]);
    }
    if (k->held > SMALL_BYTES)
        imrec_alloc_trim();
    k->held = 0;
}

/* ---- what went wrong -------------------------------------------------------------------- */

bool packer_fine(struct pack_item *p, enum imrec_status st, const struct imrec_error *err)
{
    if (st == IMREC_OK)
        return true;
    if (pack_item_cancelled(p, st, err))
        return false;
    pack_item_skip(p,
                   st == IMREC_ERR_NO_MEMORY     ? REASON_NO_MEMORY
                   : st == IMREC_ERR_UNSUPPORTED ? REASON_UNSUPPORTED
                   : st == IMREC_ERR_LIMIT       ? REASON_TOO_LARGE
                                                 : REASON_DAMAGED,
                   "%s", err->message);
    return false;
}

/* ---- the budget ------------------------------------------------------------------------- */

bool packer_hold(struct packer *k, struct pack_item *p, struct budget_need need)
{
    const struct budget_share *s = &p->share;
    const uint64_t most = budget_most((uint64_t)k->o->memory);
    if (need.work > most) {
        pack_item_skip(p, REASON_TOO_LARGE,
                       "packing it takes %" PRIu64 " MiB, and memory=%" PRId64 " leaves %" PRIu64
                       " MiB for one image",
                       (need.work >> 20) + 1, k->o->memory, most >> 20);
        return false;
    }
    if (need.work <= s->has.work && (s->as_oldest || need.record <= s->has.record))
        return true;
    k->waits = !budget_try(k->budget, &p->share, p->outcome.index, need);
    k->wanted = need;
    k->held = need.work > k->held ? need.work : k->held;
    return !k->waits;
}

bool packer_wait(struct packer *k, struct pack_item *p)
{
    item_targets_drop(&k->targets);
    packer_trim(k, true);
    budget_drop(k->budget, &p->share);
    if (budget_take(k->budget, &p->share, p->outcome.index, k->wanted))
        return true;
    p->failed = IMREC_ERR_CANCELLED;
    return false;
}
