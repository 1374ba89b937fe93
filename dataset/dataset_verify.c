/*
 * dataset/dataset_verify.c - structure, checksums, index and images of a data set.
 *
 * One batch is read while the workers look at the one before it; findings are told by one
 * thread, in file order, so that they are the same for every number of threads.
 */
#include "base/error.h"
#include "dataset/dataset_check.h"
#include "dataset/dataset_set.h"
#include "dataset/verify_read.h"
#include "formats/crc32c.h"
#include "imrec/dataset.h"
#include "iter/team.h"

#include <stdatomic.h>
#include <stddef.h>

struct verify {
    struct imrec_verify_options o;
    struct imrec_verify_result *result;
    struct verify_reader reader;
    struct verify_batch batch[2];
    int current;        /* being looked at; the other one is being filled */
    bool over;          /* nothing is left to look at */
    _Atomic int failed; /* a status; the first one that was met wins */
    struct imrec_error why;
};

static const char *const finding_names[IMREC_FOUND_KINDS] = {
    [IMREC_FOUND_DAMAGE] = "damage", [IMREC_FOUND_CHECKSUM] = "checksum",
    [IMREC_FOUND_INDEX] = "index",   [IMREC_FOUND_RECORD] = "record",
    [IMREC_FOUND_IMAGE] = "picture", [IMREC_FOUND_SET] = "set",
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
    if (!v->o.structure_only &&
        check_image(codec, image, v->o.max_pixels, &i->warnings, &i->why) == IMREC_OK)
        i->why.status = IMREC_OK;
}

/* ---- telling, one thread ---------------------------------------------------------------- */

static void tell(struct verify *v, const struct verify_item *i)
{
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
                                    .reason = i->why.message};
    if (v->o.finding != NULL)
        v->o.finding(v->o.user, &f);
}

static void tell_set(void *user, const struct imrec_finding *f)
{
    struct verify *v = user;
    v->result->found[f->kind]++;
    v->result->findings++;
    if (v->o.finding != NULL)
        v->o.finding(v->o.user, f);
}

static void fail(struct verify *v, enum imrec_status st, const struct imrec_error *err)
{
    int none = IMREC_OK;
    if (atomic_compare_exchange_strong(&v->failed, &none, (int)st))
        v->why = *err;
}

static void turn(struct verify *v)
{
    const struct verify_batch *b = &v->batch[v->current];
    for (size_t i = 0; i < b->count; i++)
        tell(v, &b->item[i]);
    v->current = !v->current;
    v->over = atomic_load(&v->failed) != IMREC_OK || v->batch[v->current].count == 0;
}

static void fill(struct verify *v, int which)
{
    struct imrec_error err;
    const enum imrec_status st = verify_reader_fill(&v->reader, &v->batch[which], &err);
    if (st != IMREC_OK)
        fail(v, st, &err);
}

/* ---- the team --------------------------------------------------------------------------- */

static void work(struct verify *v)
{
    struct imrec_error err;
    struct codec *codec = NULL;
    const enum imrec_status st = codec_new(&codec, &err);
    if (st != IMREC_OK)
        fail(v, st, &err);
    while (!v->over) {
        struct verify_batch *b = &v->batch[v->current];
#pragma omp single nowait
        fill(v, !v->current);
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < b->count; i++)
            if (codec != NULL)
                look_at(v, codec, b, &b->item[i]);
#pragma omp single
        turn(v);
    }
    codec_free(codec);
}

static enum imrec_status verify_all(struct verify *v, struct imrec_error *err)
{
    const int threads = (int)team_workers(v->o.threads);
    fill(v, v->current);
    v->over = atomic_load(&v->failed) != IMREC_OK || v->batch[v->current].count == 0;
#pragma omp parallel num_threads(threads) default(none) shared(v)
    work(v);
    const enum imrec_status st = (enum imrec_status)atomic_load(&v->failed);
    if (st != IMREC_OK && err != NULL)
        *err = v->why;
    return st;
}

void imrec_verify_options_init(struct imrec_verify_options *o)
{
    *o = (struct imrec_verify_options){.struct_size = sizeof(*o), .max_pixels = CHECK_MAX_PIXELS};
}

enum imrec_status imrec_dataset_verify(const char *uri, const struct imrec_verify_options *o,
                                       struct imrec_verify_result *out, struct imrec_error *err)
{
    struct verify v = {.o = *o, .result = out};
    const struct container_options set = {
        .path_imgrec = uri, .num_parts = 1, .shards = SHARDS_UNSEEN}; /* till below */
    const bool allow_missing =
        o->struct_size > offsetof(struct imrec_verify_options, allow_missing) && o->allow_missing;
    *out = (struct imrec_verify_result){0};
    IMREC_TRY(verify_reader_open(&set, o->progress, o->user, &v.reader, err));
    enum imrec_status st =
        dataset_check_set(uri, &v.reader.walk.files, allow_missing, tell_set, &v, err);
    if (st == IMREC_OK)
        st = verify_all(&v, err);
    out->bytes = v.reader.walk.at.bytes;
    out->indexed = v.reader.indexed;
    verify_batch_free(&v.batch[0]);
    verify_batch_free(&v.batch[1]);
    verify_reader_close(&v.reader);
    return st;
}
