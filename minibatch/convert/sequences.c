/* minibatch/convert/sequences.c - imrec_sequences_*: block after block, sequence after sequence. */
#include "imrec/sequences.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "minibatch/corpus/block.h"
#include "minibatch/corpus/corpus_streams.h"

struct imrec_sequences {
    struct imrec_deserializer d;
    struct corpus *corpus;
    struct block block;
    struct block_scratch scratch;
    uint32_t number, next; /* block that is read, or will be; sequence in it */
    bool loaded;
    struct imrec_stream *stream;
    struct imrec_sequence_stream *view;
    struct imrec_sequences_totals totals;
    imrec_finding_fn *finding;
    void *user;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for sequences");
}

/* ---- opening ----------------------------------------------------------------------------- */

static enum imrec_status list_streams(struct imrec_sequences *s, struct imrec_error *err)
{
    const struct corpus *c = s->corpus;
    s->stream = imrec_zalloc(c->streams + 1, sizeof(*s->stream));
    s->view = imrec_zalloc(c->streams + 1, sizeof(*s->view));
    if (s->stream == NULL || s->view == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < c->streams; i++)
        s->stream[i] = corpus_listed_stream(&c->stream[i]);
    return IMREC_OK;
}

static enum imrec_status open_it(struct imrec_sequences *s, const struct imrec_deserializer *d,
                                 enum imrec_precision precision, struct imrec_error *err)
{
    imrec_deserializer_init(&s->d);
    IMREC_TRY(sized_copy(&s->d, sizeof(s->d), d, "imrec_deserializer_init", err));
    IMREC_TRY(corpus_open(&s->d, precision, false, &s->corpus, err));
    const struct corpus *c = s->corpus;
    s->totals = (struct imrec_sequences_totals){
        .sequences = c->sequences, .samples = c->samples, .chunks = c->chunks};
    for (uint32_t i = 0; i < c->files; i++)
        s->totals.bytes += c->file[i].in->size;
    return list_streams(s, err);
}

enum imrec_status imrec_sequences_open(const struct imrec_deserializer *d,
                                       enum imrec_precision precision, imrec_finding_fn *finding,
                                       void *user, struct imrec_sequences **out,
                                       struct imrec_error *err)
{
    struct imrec_sequences *s = *out = imrec_zalloc(1, sizeof(*s));
    if (s == NULL)
        return no_memory(err);
    s->finding = finding;
    s->user = user;
    const enum imrec_status st = open_it(s, d, precision, err);
    if (st != IMREC_OK) {
        imrec_sequences_close(s);
        *out = NULL;
    }
    return st;
}

/* ---- reading ----------------------------------------------------------------------------- */

static const char *file_of(const struct imrec_sequences *s)
{
    return s->corpus->file[s->corpus->block[s->number].file].name;
}

static enum imrec_status tell_problems(struct imrec_sequences *s, struct imrec_error *err)
{
    for (uint64_t i = 0; i < s->block.problems; i++) {
        const struct ctf_problem *p = &s->block.problem[i];
        if (s->totals.problems == (uint64_t)s->d.max_errors)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, p->offset, "%s", p->message);
        s->totals.problems++;
        const struct imrec_finding f = {.kind = IMREC_FOUND_DAMAGE,
                                        .uri = file_of(s),
                                        .begin = p->offset,
                                        .end = p->offset,
                                        .reason = p->message};
        if (s->finding != NULL)
            s->finding(s->user, &f);
    }
    return IMREC_OK;
}

static struct imrec_sequence_stream seen(const struct stream_info *info, struct sequence_view v)
{
    const bool sparse = info->storage == STREAM_SPARSE;
    return (struct imrec_sequence_stream){
        .samples = v.samples,
        .value_count = sparse ? v.nnz : (uint64_t)v.samples * info->dim,
        .values = v.values,
        .indices = sparse ? v.indices : NULL,
        .counts = sparse ? v.counts : NULL,
    };
}

/* Sequence `place` of the block; false: nothing is left of it. */
static bool show(struct imrec_sequences *s, uint32_t place, struct imrec_sequence *out)
{
    const struct corpus *c = s->corpus;
    const struct sequence_chunk *v = &s->block.view;
    bool any = !c->text;
    for (uint32_t i = 0; i < c->streams; i++) {
        s->view[i] = seen(&c->stream[i], sequence_view(v, i, place, &c->stream[i]));
        any |= s->view[i].samples > 0;
    }
    *out = (struct imrec_sequence){
        .id = v->key != NULL ? v->key[place] : v->first_key + place,
        .uri = file_of(s),
        .stream = s->view,
    };
    return any;
}

/* Of the block that is loaded; false: it has no more. */
static bool next_of_block(struct imrec_sequences *s, struct imrec_sequence *out)
{
    uint32_t place;
    while (s->next < s->corpus->block[s->number].sequences) {
        const uint32_t n = s->next++;
        if (block_find(&s->block, s->corpus, s->number, n, &place) && show(s, place, out)) {
            s->totals.read++;
            return true;
        }
        s->totals.lost++;
    }
    return false;
}

enum imrec_status
imrec_sequences_next(struct imrec_sequences *s, struct imrec_sequence *out, struct imrec_error *err)
{
    for (; s->number < s->corpus->blocks; s->number++) {
        if (!s->loaded) {
            enum imrec_status st = block_load(&s->block, s->corpus, s->number, &s->scratch, err);
            if (st == IMREC_OK)
                st = tell_problems(s, err);
            if (st != IMREC_OK) {
                s->number = s->corpus->blocks; /* nothing is read after it */
                return st;
            }
            s->next = 0;
            s->loaded = true;
        }
        if (next_of_block(s, out))
            return IMREC_OK;
        s->loaded = false;
    }
    return IMREC_END;
}

uint32_t imrec_sequences_streams(const struct imrec_sequences *s, const struct imrec_stream **out)
{
    *out = s->stream;
    return s->corpus->streams;
}

struct imrec_sequences_totals imrec_sequences_totals(const struct imrec_sequences *s)
{
    return s->totals;
}

void imrec_sequences_close(struct imrec_sequences *s)
{
    if (s == NULL)
        return;
    block_free(&s->block);
    reuse_buffer_free(&s->scratch.text);
    corpus_close(s->corpus);
    IMREC_FREE(s->stream, s->view, s);
}
