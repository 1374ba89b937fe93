/*
 * minibatch/convert/ctf_to_cbf.c - imrec_ctf_to_cbf(): text -> sequences -> chunks of a CBF file.
 *
 * A first pass finds the sequences. Then pieces of some MiB are read and parsed, each in a place of
 * its own, by all threads, and drained into the file in the order of the text: what a thread did
 * does not show.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "base/reuse_buffer.h"
#include "base/sized.h"
#include "formats/cbf/cbf_writer.h"
#include "formats/ctf/ctf_parse.h"
#include "imrec/convert.h"
#include "minibatch/convert/ctf_header.h"
#include "minibatch/corpus/corpus_kind.h"
#include "minibatch/corpus/ctf_pass.h"
#include "parallel/ordered.h"
#include "parallel/workers.h"
#include "storage/sink.h"
#include "storage/source.h"

#define PIECE_BYTES ((uint64_t)2 << 20) /* parsed at once */

#define PARAM_STRUCT struct imrec_convert_options
static const struct param table[] = {IMREC_CONVERT_PARAMS(PARAM_ROW){0}};

struct run {
    const struct imrec_convert_options *o;
    struct ctf_header header;
    struct source *in;
    struct sink *out;
    struct ctf_index index;
    struct cbf_writer *writer;
    imrec_progress_fn *progress;
    void *user;
    struct imrec_convert_result *result;
    struct piece *pieces; /* one for each worker: a place is free when the oldest is added */
    uint32_t workers;
    uint64_t given;              /* pieces */
    struct chunk_stream *stream; /* of what is being added */
};

/* A place of the window. */
struct piece {
    const struct ctf_chunk *c;
    struct ctf_parser *parser;
    struct reuse_buffer text, lengths;
    struct sequence_chunk chunk;
    enum imrec_status status; /* of parsing */
    struct imrec_error error;
};

void imrec_convert_options_init_sized(struct imrec_convert_options *o, size_t size)
{
    struct imrec_convert_options defaults = {0};
    param_defaults(table, &defaults);
    sized_init(o, size, &defaults, sizeof(defaults));
}

static enum imrec_status no_memory(const struct run *r, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to convert %s", r->o->input);
}

/* ---- first pass ------------------------------------------------------------------------- */

static const char *main_alias(const struct ctf_header *h)
{
    for (uint32_t i = 0; i < h->streams; i++)
        if (h->stream[i].defines_mb_size)
            return h->stream[i].alias;
    return NULL;
}

static enum imrec_status find_sequences(struct run *r, struct imrec_error *err)
{
    const struct ctf_index_options o = {
        .name = r->o->input,
        .size = r->in->size,
        .main_alias = main_alias(&r->header),
        .skip_sequence_ids = r->o->skip_sequence_ids,
        .chunk_bytes = PIECE_BYTES,
        .known = r->o->ignore_unknown_inputs ? r->header.stream : NULL,
        .known_streams = r->header.streams,
    };
    return ctf_pass(r->in, &o, &r->index, err);
}

/* ---- a piece: any thread ---------------------------------------------------------------- */

/* Samples of sequence k in the stream that defines the length, or in its longest. */
static uint32_t length_of(const struct run *r, const struct sequence_chunk *c, uint32_t k)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->streams; i++) {
        const uint32_t n = load_le32(c->stream[i].bytes + c->stream[i].offset[k]);
        if (r->header.stream[i].defines_mb_size)
            return n;
        most = n > most ? n : most;
    }
    return most;
}

static enum imrec_status
parse_piece(const struct run *r, struct piece *piece, struct imrec_error *err)
{
    const struct ctf_chunk *c = piece->c;
    if (reuse_buffer_reserve(&piece->text, c->bytes + 1, 1, "", NULL) != IMREC_OK ||
        reuse_buffer_reserve(&piece->lengths, c->sequences, sizeof(uint32_t), "", NULL) != IMREC_OK)
        return no_memory(r, err);
    uint8_t *text = piece->text.p;
    uint32_t *length = piece->lengths.p;
    IMREC_TRY(source_read(r->in, c->offset, text, (size_t)c->bytes, err));
    text[c->bytes] = '\n';
    IMREC_TRY(ctf_parse(piece->parser, c, r->index.sequence + c->first, text, &piece->chunk, err));
    for (uint32_t k = 0; k < piece->chunk.sequences; k++)
        length[k] = length_of(r, &piece->chunk, k);
    piece->chunk.length = length;
    return IMREC_OK;
}

/* ---- adding it: in the order of the text ------------------------------------------------ */

static enum imrec_status spend(struct run *r, struct piece *piece, struct imrec_error *err)
{
    uint64_t n;
    const struct ctf_problem *p = ctf_parser_problems(piece->parser, &n);
    for (uint64_t i = 0; i < n; i++) {
        if (r->result->errors == (uint64_t)r->o->max_errors)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, p[i].offset, "%s", p[i].message);
        if (r->result->errors++ < LOG_LISTED)
            imrec_log(IMREC_LOG_WARNING, "%s; dropped", p[i].message);
    }
    return IMREC_OK;
}

/* Adds sequences [from, to). */
static enum imrec_status
add_part(struct run *r, struct piece *piece, uint32_t from, uint32_t to, struct imrec_error *err)
{
    struct sequence_chunk part = piece->chunk;
    for (uint32_t i = 0; i < part.streams; i++)
        r->stream[i] = (struct chunk_stream){piece->chunk.stream[i].bytes,
                                             piece->chunk.stream[i].offset + from};
    part.stream = r->stream;
    part.length += from;
    part.sequences = to - from;
    return from == to ? IMREC_OK : cbf_writer_add(r->writer, &part, err);
}

/* A sequence that lost all its samples is skipped. */
static bool is_empty(const struct sequence_chunk *c, uint32_t k)
{
    for (uint32_t i = 0; i < c->streams; i++)
        if (load_le32(c->stream[i].bytes + c->stream[i].offset[k]) != 0)
            return false;
    return true;
}

static enum imrec_status add_piece(struct run *r, struct piece *piece, struct imrec_error *err)
{
    uint32_t from = 0;
    IMREC_TRY(spend(r, piece, err));
    for (uint32_t k = 0; k < piece->chunk.sequences; k++)
        if (piece->chunk.length[k] == 0 && is_empty(&piece->chunk, k)) {
            IMREC_TRY(add_part(r, piece, from, k, err));
            from = k + 1;
        }
    return add_part(r, piece, from, piece->chunk.sequences, err);
}

/* ---- the window ------------------------------------------------------------------------- */

static enum ordered_step feed(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct run *r = context;
    (void)worker;
    if (r->given == r->index.chunks)
        return ORDERED_STOP;
    r->pieces[t->place].c = &r->index.chunk[r->given++];
    return ORDERED_LAST;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct run *r = context;
    struct piece *piece = &r->pieces[t->place];
    (void)worker;
    piece->status = parse_piece(r, piece, &piece->error);
}

static enum imrec_status drain(void *context, uint32_t place, struct imrec_error *err)
{
    struct run *r = context;
    struct piece *piece = &r->pieces[place];
    if (piece->status != IMREC_OK) {
        *err = piece->error;
        return piece->status;
    }
    IMREC_TRY(add_piece(r, piece, err));
    const struct imrec_progress p = {.bytes = piece->c->offset + piece->c->bytes,
                                     .total_bytes = r->in->size};
    if (r->progress == NULL || r->progress(r->user, &p))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CANCELLED, "interrupted");
}

/* ---- a run ------------------------------------------------------------------------------ */

static enum imrec_status prepare(struct run *r, struct imrec_error *err)
{
    const struct ctf_parse_options o = {.name = r->o->input,
                                        .stream = r->header.stream,
                                        .streams = r->header.streams,
                                        .skip_sequence_ids = r->o->skip_sequence_ids,
                                        .ignore_unknown = r->o->ignore_unknown_inputs,
                                        .frame_mode = r->header.frame_mode,
                                        .max_problems = (uint64_t)r->o->max_errors};
    r->workers = workers_count(r->o->threads);
    r->pieces = imrec_zalloc(r->workers, sizeof(*r->pieces));
    r->stream = imrec_zalloc(r->header.streams, sizeof(*r->stream));
    if (r->pieces == NULL || r->stream == NULL)
        return no_memory(r, err);
    for (uint32_t i = 0; i < r->workers; i++)
        IMREC_TRY(ctf_parser_new(&o, &r->pieces[i].parser, err));
    return IMREC_OK;
}

static void release(struct run *r)
{
    for (uint32_t i = 0; r->pieces != NULL && i < r->workers; i++) {
        ctf_parser_free(r->pieces[i].parser);
        reuse_buffer_free(&r->pieces[i].text);
        reuse_buffer_free(&r->pieces[i].lengths);
    }
    IMREC_FREE(r->pieces, r->stream);
}

static enum imrec_status add_all(struct run *r, struct imrec_error *err)
{
    IMREC_TRY(prepare(r, err));
    const struct ordered_options o = {.name = "threads",
                                      .tasks = 1,
                                      .places = r->workers,
                                      .workers = r->workers,
                                      .context = r,
                                      .feed = feed,
                                      .work = work,
                                      .drain = drain};
    return ordered_run(&o, err);
}

static enum imrec_status to_sink(void *user, const void *p, size_t n, struct imrec_error *err)
{
    return sink_append(user, p, n, err);
}

static enum imrec_status convert(struct run *r, struct imrec_error *err)
{
    const struct ctf_header *h = &r->header;
    IMREC_TRY(source_open(r->o->input, &r->in, err));
    IMREC_TRY(corpus_kind_check(r->in, r->o->input, false, err));
    r->result->bytes_read = r->in->size;
    IMREC_TRY(find_sequences(r, err));
    IMREC_TRY(sink_open(r->o->output, &r->out, err));
    IMREC_TRY(cbf_writer_new(h->stream, h->streams, (uint64_t)r->o->chunk_size, to_sink, r->out,
                             &r->writer, err));
    IMREC_TRY(add_all(r, err));
    IMREC_TRY(cbf_writer_finish(r->writer, err));
    const struct cbf_written done = cbf_writer_written(r->writer);
    r->result->sequences = done.sequences;
    r->result->samples = done.samples;
    r->result->chunks = done.chunks;
    r->result->bytes = done.bytes;
    struct sink *gone = r->out;
    r->out = NULL;
    return sink_commit(gone, err);
}

enum imrec_status imrec_ctf_to_cbf(const struct imrec_convert_options *options,
                                   imrec_progress_fn *progress, void *user,
                                   struct imrec_convert_result *out, struct imrec_error *err)
{
    struct imrec_convert_options o;
    struct imrec_convert_result ignored;
    struct run r = {.o = &o, .progress = progress, .user = user, .result = out ? out : &ignored};
    *r.result = (struct imrec_convert_result){0};
    imrec_convert_options_init(&o);
    IMREC_TRY(sized_copy(&o, sizeof(o), options, "imrec_convert_options_init", err));
    IMREC_TRY(param_check(table, &o, err));
    IMREC_TRY(ctf_header_load(&o, &r.header, err));
    o.skip_sequence_ids |= r.header.skip_sequence_ids;
    o.ignore_unknown_inputs |= r.header.ignore_unknown_inputs;
    o.max_errors = o.max_errors > 0 ? o.max_errors : r.header.max_errors;
    const enum imrec_status st = convert(&r, err);
    if (r.result->errors > LOG_LISTED)
        imrec_log(IMREC_LOG_WARNING, "%.200s: samples dropped: %llu; not listed above: %llu",
                  o.input, (unsigned long long)r.result->errors,
                  (unsigned long long)r.result->errors - LOG_LISTED);
    sink_abort(r.out);
    cbf_writer_free(r.writer);
    release(&r);
    ctf_index_free(&r.index);
    source_close(r.in);
    ctf_header_free(&r.header);
    return st;
}
