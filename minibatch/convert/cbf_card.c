/* minibatch/convert/cbf_card.c - imrec_cbf_card(). */
#include "base/alloc.h"
#include "base/error.h"
#include "container/walk/cbf_file.h"
#include "formats/cbf/cbf_chunk.h"
#include "imrec/cbf.h"

#include <inttypes.h>

struct owned {
    struct cbf_header h;
    struct imrec_cbf_stream *stream;
};

struct reading {
    const char *uri;
    struct imrec_cbf_card *card;
    imrec_finding_fn *finding;
    void *user;
};

static enum imrec_status note(void *user, const struct cbf_fault *fault, struct imrec_error *err)
{
    struct reading *r = user;
    r->card->findings++;
    r->card->lost += fault->lost;
    struct imrec_finding f = {.kind = IMREC_FOUND_DAMAGE, .uri = r->uri, .lost = fault->lost};
    f.begin = f.end = err->offset;
    f.reason = err->message;
    if (r->finding != NULL)
        r->finding(r->user, &f);
    return IMREC_OK;
}

static enum imrec_status read_chunks(struct source *in, const struct cbf_header *h,
                                     struct reading *r, struct imrec_error *err)
{
    const struct cbf_reading how = {.on_fault = note, .user = r};
    struct cbf_chunk c = {0};
    uint64_t first = 0;
    enum imrec_status st = IMREC_OK;
    uint8_t *raw =
        h->largest_chunk < SIZE_MAX ? imrec_realloc(NULL, (size_t)h->largest_chunk + 1, 1) : NULL;
    if (raw == NULL)
        st = IMREC_NO_MEMORY(err, "no memory for a chunk of %" PRIu64 " bytes", h->largest_chunk);
    for (uint32_t i = 0; i < h->chunks && st == IMREC_OK; first += h->chunk[i++].sequences) {
        const struct cbf_chunk_entry *e = &h->chunk[i];
        st = source_read(in, e->offset, raw, (size_t)e->bytes, err);
        if (st == IMREC_OK)
            st = cbf_chunk_parse(h, i, (struct bytes){raw, (size_t)e->bytes}, first, &how, &c, err);
    }
    cbf_chunk_free(&c);
    imrec_free(raw);
    return st;
}

static enum imrec_status
read_all(struct source *in, bool data, struct reading *r, struct imrec_error *err)
{
    struct imrec_cbf_card *out = r->card;
    struct owned *o = out->owner = imrec_zalloc(1, sizeof(*o));
    if (o == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a card");
    IMREC_TRY(cbf_file_header(in, r->uri, &o->h, err));
    o->stream = imrec_zalloc(o->h.streams, sizeof(*o->stream));
    if (o->stream == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a card");
    for (uint32_t i = 0; i < o->h.streams; i++)
        o->stream[i] = (struct imrec_cbf_stream){
            .name = o->h.stream[i].name,
            .sparse = o->h.stream[i].storage == STREAM_SPARSE,
            .dim = o->h.stream[i].dim,
            .precision = o->h.stream[i].element == STREAM_DOUBLE ? IMREC_PRECISION_DOUBLE
                                                                 : IMREC_PRECISION_FLOAT};
    out->stream = o->stream;
    out->streams = o->h.streams;
    out->bytes = in->size;
    out->chunks = o->h.chunks;
    out->sequences = o->h.sequences;
    out->samples = o->h.samples;
    out->largest_chunk = o->h.largest_chunk;
    return data ? read_chunks(in, &o->h, r, err) : IMREC_OK;
}

enum imrec_status imrec_cbf_card(const char *uri, bool data, imrec_finding_fn *finding, void *user,
                                 struct imrec_cbf_card *out, struct imrec_error *err)
{
    struct reading r = {uri, out, finding, user};
    struct source *in;
    *out = (struct imrec_cbf_card){0};
    IMREC_TRY(source_open(uri, &in, err));
    const enum imrec_status st = read_all(in, data, &r, err);
    source_close(in);
    if (st != IMREC_OK)
        imrec_cbf_card_free(out);
    return st;
}

void imrec_cbf_card_free(struct imrec_cbf_card *c)
{
    struct owned *o = c->owner;
    if (o != NULL) {
        cbf_header_free(&o->h);
        IMREC_FREE(o->stream, o);
    }
    *c = (struct imrec_cbf_card){0};
}
