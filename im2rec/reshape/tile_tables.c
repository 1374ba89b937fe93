/* im2rec/reshape/tile_tables.c - a sample of records, coded again for their symbols alone. */
#include "im2rec/reshape/tile_tables.h"

#include "base/error.h"
#include "base/math.h"
#include "dataset/dataset_check.h"
#include "im2rec/reshape/source_sets.h"
#include "im2rec/shared_tables.h"

enum { TELL_EVERY = 1024 /* records */ };

struct sample {
    const struct reshape_job *job;
    const struct imrec_reshape_options *o;
    uint64_t memory;
    struct source_sets in;
    struct codec *codec;
    uint64_t total, wanted;
    uint64_t at, taken; /* records so far */
    struct jpeg_counts counts;
};

/* False: a later record is the next one of the sample. */
static bool is_wanted(struct sample *s)
{
    const uint64_t at = s->at++;
    if (s->taken == s->wanted || at < share_begin(s->total, s->taken, s->wanted))
        return false;
    s->taken++;
    return true;
}

static enum imrec_status
count(struct sample *s, const struct imrec_record *r, struct imrec_error *err)
{
    const struct codec_limits limits = {.max_pixels = CHECK_MAX_PIXELS};
    const struct bytes image = {r->image, r->image_size};
    struct imrec_image_info info;
    struct bytes tiled;
    bool done;
    if (codec_begin_claim(image) > s->memory)
        return IMREC_OK;
    const enum imrec_status st = codec_begin(s->codec, image, &limits, &info, err);
    if (st != IMREC_OK)
        return st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED ? st : IMREC_OK;
    if (codec_tile_jpeg_claim(s->codec) + codec_count_claim(info.width, info.height) > s->memory)
        return IMREC_OK;
    IMREC_TRY(codec_tile_jpeg(s->codec, &done, &tiled, err));
    return done ? codec_count_symbols(s->codec, tiled, &s->counts, err) : IMREC_OK;
}

static enum imrec_status tell(const struct sample *s, struct imrec_error *err)
{
    const struct imrec_progress p = {.total = s->total};
    IMREC_TRY(stop_check(s->job->stop, err));
    if (s->at % TELL_EVERY != 0 || s->o->progress == NULL || s->o->progress(s->o->user, &p))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CANCELLED, "ended by its caller before anything was written");
}

static enum imrec_status read_all(struct sample *s, struct imrec_error *err)
{
    struct imrec_record r;
    struct imrec_error lost;
    size_t shard;
    enum imrec_status st = IMREC_OK;
    while (s->taken < s->wanted &&
           (st = source_sets_next(&s->in, &r, &shard, &lost)) != IMREC_END) {
        IMREC_TRY(tell(s, err));
        if (st == IMREC_OK && is_wanted(s))
            IMREC_TRY(count(s, &r, err));
        if (st != IMREC_OK && st != IMREC_ERR_DATA)
            return imrec_fail(err, st, "%s", lost.message);
    }
    return IMREC_OK;
}

static enum imrec_status run(struct sample *s, struct imrec_error *err)
{
    IMREC_TRY(source_sets_open(s->job->uris, s->job->count, s->o->reader, SOURCE_CLASSES_NONE,
                               &s->in, err));
    s->in.warned = true; /* the run warns */
    IMREC_TRY(source_sets_count(&s->in, &s->total, err));
    s->wanted = min_u64(s->total, SHARED_TABLES_SAMPLE);
    IMREC_TRY(codec_new(&s->codec, err));
    codec_stop_with(s->codec, s->job->stop);
    return read_all(s, err);
}

enum imrec_status tile_tables_sample(const struct reshape_job *j,
                                     const struct imrec_reshape_options *o, uint64_t memory,
                                     struct jpeg_tables *out, struct imrec_error *err)
{
    struct sample s = {.job = j, .o = o, .memory = memory};
    const enum imrec_status st = run(&s, err);
    codec_free(s.codec);
    source_sets_close(&s.in);
    if (st == IMREC_OK)
        jpeg_tables_make(out, &s.counts);
    return st;
}
