/* dataset/dataset_verify.c - structure, checksums, index and images of a data set.
 *
 * Workers take turns at reading a batch of records and check their own while others read on;
 * findings are reported in file order, so that they are the same for every number of threads. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/threads.h"
#include "dataset/dataset_check.h"
#include "dataset/dataset_set.h"
#include "dataset/record_reader.h"
#include "dataset/verify_read.h"
#include "formats/crc32c.h"
#include "imrec/dataset.h"
#include "parallel/ordered.h"
#include "parallel/workers.h"

#include <stddef.h>

#define HELD_BYTES ((uint64_t)64 << 20) /* of records that are read and not yet reported */

struct verify {
    struct imrec_verify_options o;
    struct imrec_verify_result *result; /* drain's */
    struct verify_reader reader;        /* feed's */
    uint32_t batches;                   /* that may be on their way */
    struct verify_batch *batch;         /* their memory ... */
    struct verify_batch **at;           /* ... and the one at each place of the window */
    struct codec **codec;               /* of each worker */
    uint32_t workers;
    enum imrec_status status; /* the reader failed */
    struct imrec_error why;
    struct mutex caller; /* held while one of its callbacks runs */
    struct mutex lock;   /* of what follows */
    struct cond told;
    uint64_t held;               /* bytes */
    struct verify_batch **spare; /* not in use; the one used last goes first: it is in the cache */
    uint32_t spares;
};

static const char *const finding_names[IMREC_FOUND_KINDS] = {
    [IMREC_FOUND_DAMAGE] = "damage", [IMREC_FOUND_CHECKSUM] = "checksum",
    [IMREC_FOUND_INDEX] = "index",   [IMREC_FOUND_RECORD] = "record",
    [IMREC_FOUND_IMAGE] = "image",   [IMREC_FOUND_SET] = "set",
    [IMREC_FOUND_FILE] = "file",
};

const char *imrec_finding_name(enum imrec_finding_kind kind)
{
    return (unsigned)kind < IMREC_FOUND_KINDS ? finding_names[kind] : "unknown";
}

/* ---- one item, any thread --------------------------------------------------------------- */

static void look_at(const struct verify *v, struct codec *codec, const struct verify_batch *b,
                    struct verify_item *i)
{
    if (!i->is_record) /* there may be no arena */
        return;
    const uint8_t *record = b->arena + i->record;
    if (i->framed_bytes != 0) {
        const uint32_t crc = i->summed ? crc32c(0, b->arena + i->framed, i->framed_bytes) : 0;
        i->kind = IMREC_FOUND_CHECKSUM;
        i->end = i->begin + i->framed_bytes;
        if (!i->summed || crc != i->crc) {
            (void)imrec_error_at(&i->why, IMREC_ERR_CORRUPT, i->begin,
                                 "the record's checksum is 0x%08x, its bytes have 0x%08x", i->crc,
                                 crc);
            return; /* whatever its image is, it is not what was packed */
        }
    }
    if (i->is_metadata)
        return;
    if (!i->is_image) {
        i->kind = IMREC_FOUND_RECORD;
        (void)imrec_error_at(&i->why, IMREC_ERR_CORRUPT, i->begin,
                             "%zu bytes begin with no well-formed image record header",
                             i->record_bytes);
        return;
    }
    i->kind = IMREC_FOUND_IMAGE;
    const struct bytes image = {record + i->image, i->image_bytes};
    const struct bytes mask = {b->arena + i->mask, i->mask_bytes};
    if (!v->o.structure_only &&
        check_image(codec, image, mask, v->o.max_pixels, &i->warnings, &i->why) == IMREC_OK)
        i->why.status = IMREC_OK;
}

/* ---- telling, one thread at a time ------------------------------------------------------ */

static void call_finding(struct verify *v, const struct imrec_finding *f)
{
    mutex_lock(&v->caller);
    if (v->o.finding != NULL)
        v->o.finding(v->o.user, f);
    mutex_unlock(&v->caller);
}

/* Of an image that is a file of its own, the name first: nobody knows it by its place. */
static const char *
reason_of(const struct verify *v, const struct verify_item *i, struct imrec_error *named)
{
    const struct container *c = &v->reader.walk.reader->container;
    const struct record_ref ref = {.shard = i->shard, .offset = i->begin};
    char name[96];
    if (!i->is_record || !c->kind->apart)
        return i->why.message;
    (void)container_describe(c, &ref, &i->why, name);
    (void)imrec_fail(named, i->why.status, "%s: %s", name, i->why.message);
    return named->message;
}

static void tell(struct verify *v, const struct verify_item *i)
{
    struct imrec_error named;
    v->result->records += i->is_record;
    v->result->images += i->is_record && i->is_image && !i->is_metadata;
    v->result->metadata += i->is_metadata;
    v->result->checksums += i->is_record && i->framed_bytes != 0;
    v->result->warnings += i->warnings != 0 && i->why.status == IMREC_OK;
    if (i->why.status == IMREC_OK) {
        v->result->decoded += i->is_record && !i->is_metadata && !v->o.structure_only;
        return;
    }
    v->result->found[i->kind]++;
    v->result->findings++;
    const struct imrec_finding f = {.kind = i->kind,
                                    .uri = v->reader.walk.files.shards.uri[i->shard],
                                    .shard = i->shard,
                                    .begin = i->begin,
                                    .end = i->end,
                                    .id = i->id,
                                    .reason = reason_of(v, i, &named)};
    call_finding(v, &f);
}

static void tell_set(void *user, const struct imrec_finding *f)
{
    struct verify *v = user;
    v->result->found[f->kind]++;
    v->result->findings++;
    call_finding(v, f);
}

static bool show_progress(void *user, const struct imrec_progress *p)
{
    struct verify *v = user;
    mutex_lock(&v->caller);
    const bool goes_on = v->o.progress == NULL || v->o.progress(v->o.user, p);
    mutex_unlock(&v->caller);
    return goes_on;
}

/* ---- the window ------------------------------------------------------------------------- */

/* Waits for room, then takes an empty batch. Other workers hold what fills the room, and give it
 * back without the feed. */
static struct verify_batch *take_batch(struct verify *v)
{
    mutex_lock(&v->lock);
    while (v->held >= HELD_BYTES)
        cond_wait(&v->told, &v->lock);
    struct verify_batch *b = v->spare[--v->spares];
    mutex_unlock(&v->lock);
    return b;
}

static void give_back(struct verify *v, struct verify_batch *b)
{
    const uint64_t held = b->capacity;
    verify_batch_clear(b);
    mutex_lock(&v->lock);
    v->held -= held;
    v->spare[v->spares++] = b;
    cond_wake_all(&v->told);
    mutex_unlock(&v->lock);
}

static enum ordered_step feed(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct verify *v = context;
    struct verify_batch *b = take_batch(v);
    (void)worker;
    v->at[t->place] = b;
    v->status = verify_reader_fill(&v->reader, b, &v->why);
    if (v->status != IMREC_OK || b->count == 0)
        return ORDERED_STOP;
    mutex_lock(&v->lock);
    v->held += b->capacity;
    mutex_unlock(&v->lock);
    return ORDERED_LAST;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct verify *v = context;
    const struct verify_batch *b = v->at[t->place];
    for (size_t i = 0; i < b->count; i++)
        look_at(v, v->codec[worker], b, &b->item[i]);
}

static enum imrec_status drain(void *context, uint32_t place, struct imrec_error *err)
{
    struct verify *v = context;
    struct verify_batch *b = v->at[place];
    (void)err;
    for (size_t i = 0; i < b->count; i++)
        tell(v, &b->item[i]);
    give_back(v, b);
    return IMREC_OK;
}

static enum imrec_status verify_all(struct verify *v, struct imrec_error *err)
{
    const struct ordered_options o = {.name = "threads",
                                      .tasks = 1,
                                      .places = v->batches,
                                      .workers = v->workers,
                                      .wake_at = v->batches / 2,
                                      .context = v,
                                      .feed = feed,
                                      .work = work,
                                      .drain = drain};
    IMREC_TRY(ordered_run(&o, err));
    if (v->status != IMREC_OK && err != NULL)
        *err = v->why;
    return v->status;
}

/* ---- a run ------------------------------------------------------------------------------ */

/* Two batches for each worker, and some more that wait while an older one takes long. */
static enum imrec_status prepare(struct verify *v, struct imrec_error *err)
{
    v->workers = workers_count(v->o.threads);
    v->batches = 2 * v->workers + 32;
    v->batch = imrec_zalloc(v->batches, sizeof(*v->batch));
    v->at = imrec_zalloc(v->batches, sizeof(struct verify_batch *));
    v->spare = imrec_zalloc(v->batches, sizeof(struct verify_batch *));
    v->codec = imrec_zalloc(v->workers, sizeof(struct codec *));
    if (v->batch == NULL || v->at == NULL || v->spare == NULL || v->codec == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u workers", v->workers);
    for (uint32_t i = 0; i < v->batches; i++)
        v->spare[v->spares++] = &v->batch[i];
    for (uint32_t i = 0; i < v->workers; i++)
        IMREC_TRY(codec_new(&v->codec[i], err));
    return IMREC_OK;
}

static void release(struct verify *v)
{
    for (uint32_t i = 0; v->codec != NULL && i < v->workers; i++)
        codec_free(v->codec[i]);
    for (uint32_t i = 0; v->batch != NULL && i < v->batches; i++)
        verify_batch_free(&v->batch[i]);
    IMREC_FREE(v->codec, v->spare, v->at, v->batch);
    cond_destroy(&v->told);
    mutex_destroy(&v->lock);
    mutex_destroy(&v->caller);
}

void imrec_verify_options_init_sized(struct imrec_verify_options *o, size_t size)
{
    const struct imrec_verify_options defaults = {.max_pixels = CHECK_MAX_PIXELS};
    sized_init(o, size, &defaults, sizeof(defaults));
}

enum imrec_status imrec_dataset_verify(const char *uri, const struct imrec_verify_options *o,
                                       struct imrec_verify_result *out, struct imrec_error *err)
{
    struct verify v = {.result = out};
    struct container_options set = {
        .path_imgrec = uri, .num_parts = 1, .shards = SHARDS_UNSEEN}; /* till below */
    *out = (struct imrec_verify_result){0};
    imrec_verify_options_init(&v.o);
    IMREC_TRY(sized_copy(&v.o, sizeof(v.o), o, "imrec_verify_options_init", err));
    IMREC_TRY(reader_options_take(v.o.reader, &set, err));
    IMREC_TRY(dataset_walk_open(&set, show_progress, &v, &v.reader.walk, err));
    mutex_init(&v.caller);
    mutex_init(&v.lock);
    cond_init(&v.told);
    enum imrec_status st =
        dataset_check_set(&set, &v.reader.walk.files, v.o.allow_missing, tell_set, &v, err);
    if (st == IMREC_OK)
        st = prepare(&v, err);
    if (st == IMREC_OK)
        st = verify_all(&v, err);
    out->bytes = v.reader.walk.at.bytes;
    out->indexed = v.reader.indexed;
    release(&v);
    verify_reader_close(&v.reader);
    return st;
}
