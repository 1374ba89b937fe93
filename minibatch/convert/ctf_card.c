/* minibatch/convert/ctf_card.c - imrec_ctf_card(). */
#include "base/alloc.h"
#include "base/error.h"
#include "formats/ctf/ctf_look.h"
#include "formats/text.h"
#include "imrec/ctf.h"
#include "minibatch/corpus/corpus_kind.h"
#include "minibatch/corpus/ctf_pass.h"

#define CHUNK_BYTES ((uint64_t)32 << 20)

struct owned {
    struct ctf_look look;
    struct imrec_ctf_input input[CTF_LOOK_INPUTS];
};

static enum imrec_status no_memory(const char *uri, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "%.200s: no memory for its card", uri);
}

static void list(struct owned *o, struct imrec_ctf_card *out)
{
    for (uint32_t i = 0; i < o->look.inputs; i++) {
        const struct ctf_seen *s = &o->look.input[i];
        o->input[i] = (struct imrec_ctf_input){
            .alias = s->alias,
            .sparse = s->sparse,
            .varies = s->varies && !s->sparse,
            .samples = s->samples,
            .width = s->width,
            .max_index = s->largest,
        };
    }
    out->input = o->input;
    out->inputs = o->look.inputs;
}

/* The lines of the first bytes; if there is but part of one, that. */
static enum imrec_status look(struct source *in, struct owned *o, struct imrec_ctf_card *out,
                              const char *uri, struct imrec_error *err)
{
    size_t n = (size_t)(in->size < IMREC_CTF_LOOKED ? in->size : IMREC_CTF_LOOKED);
    uint8_t *p = imrec_realloc(NULL, n + 1, 1);
    enum imrec_status st = p == NULL ? no_memory(uri, err) : source_read(in, 0, p, n, err);
    if (st == IMREC_OK && n < in->size && text_whole_lines(p, n) > 0)
        n = text_whole_lines(p, n);
    out->looked = n;
    if (st == IMREC_OK && !ctf_look_at(&o->look, (struct bytes){p, n}))
        st = no_memory(uri, err);
    imrec_free(p);
    list(o, out);
    return st;
}

static enum imrec_status pass(struct source *in, const struct ctf_index_options *o,
                              struct imrec_ctf_card *out, struct imrec_error *err)
{
    struct ctf_index x;
    IMREC_TRY(ctf_pass(in, o, &x, err));
    out->sequences = x.sequences;
    out->samples = x.samples;
    out->chunks = x.chunks;
    for (uint64_t i = 0; i < x.sequences; i++)
        out->longest = x.sequence[i].length > out->longest ? x.sequence[i].length : out->longest;
    out->has_ids = x.numbered;
    ctf_index_free(&x);
    return IMREC_OK;
}

void imrec_ctf_card_free(struct imrec_ctf_card *c)
{
    struct owned *o = c->owner;
    if (o != NULL)
        ctf_look_free(&o->look);
    imrec_free(o);
    *c = (struct imrec_ctf_card){0};
}

enum imrec_status imrec_ctf_card(const char *uri, bool skip_sequence_ids, uint64_t chunk_bytes,
                                 struct imrec_ctf_card *out, struct imrec_error *err)
{
    struct source *in;
    *out = (struct imrec_ctf_card){0};
    IMREC_TRY(source_open(uri, &in, err));
    const struct ctf_index_options io = {
        .name = uri,
        .size = in->size,
        .skip_sequence_ids = skip_sequence_ids,
        .chunk_bytes = chunk_bytes != 0 ? chunk_bytes : CHUNK_BYTES,
    };
    struct owned *o = out->owner = imrec_zalloc(1, sizeof(*o));
    enum imrec_status st = o == NULL ? no_memory(uri, err) : corpus_kind_check(in, uri, false, err);
    if (st == IMREC_OK)
        st = pass(in, &io, out, err);
    out->bytes = in->size;
    if (st == IMREC_OK)
        st = look(in, o, out, uri, err);
    source_close(in);
    if (st != IMREC_OK)
        imrec_ctf_card_free(out);
    return st;
}
