/*
 * formats/ctf/ctf_parse.c - the sequences of a chunk of text to values.
 *
 * Every stream has a buffer in which its sequences stand one behind the other as in CBF. A
 * sample is appended value by value and taken back if it proves bad. What of a sparse stream stands
 * behind the values (indices, counts) is collected apart and appended when the sequence ends.
 */
#include "formats/ctf/ctf_parser.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------ */

bool ctf_reserve(struct ctf_parser *p, struct bytes_room *b, size_t more)
{
    if (more <= b->room - b->n)
        return true;
    size_t room = b->room < 4096 ? 4096 : b->room + b->room / 2;
    if (room < b->n + more)
        room = b->n + more;
    uint8_t *grown = imrec_realloc(b->p, room, 1);
    if (grown == NULL) {
        p->no_memory = p->stop = true;
        return false;
    }
    b->p = grown;
    b->room = room;
    return true;
}

/* ---- sequences --------------------------------------------------------------------------- */

static bool begin_sequence(struct ctf_parser *p, uint32_t number)
{
    p->lines = p->most = 0;
    for (uint32_t i = 0; i < p->o.streams; i++) {
        struct stream *s = &p->stream[i];
        const size_t head = s->info->storage == STREAM_DENSE ? 4 : 8;
        s->begin = s->offset[number] = s->out.n;
        s->samples = s->nnz = 0;
        s->index.n = s->count.n = 0;
        if (!ctf_reserve(p, &s->out, head))
            return false;
        s->out.n += head;
    }
    return true;
}

static void forget_sequence(struct ctf_parser *p)
{
    for (uint32_t i = 0; i < p->o.streams; i++) {
        struct stream *s = &p->stream[i];
        s->out.n = s->begin + (s->info->storage == STREAM_DENSE ? 4 : 8);
        s->samples = s->nnz = 0;
        s->index.n = s->count.n = 0;
    }
}

static void append(struct ctf_parser *p, struct bytes_room *to, const struct bytes_room *from)
{
    if (from->n == 0 || !ctf_reserve(p, to, from->n))
        return;
    memcpy(to->p + to->n, from->p, from->n);
    to->n += from->n;
}

/* What can be said of a sequence only when all of it is there. */
static void check_sequence(struct ctf_parser *p, const struct ctf_sequence *q, bool had_errors)
{
    const uint8_t *begin = p->text + (q->offset - p->chunk->offset);
    p->line_begin = begin;
    if (p->o.frame_mode && p->most > 1) {
        (void)ctf_complain(p, begin,
                           "frameMode: a sequence of %" PRIu32 " samples; exactly one is right",
                           p->most);
        forget_sequence(p);
        return;
    }
    for (uint32_t i = 0; i < p->o.streams; i++)
        if (p->o.stream[i].defines_mb_size && p->stream[i].samples == 0 && p->most > 0) {
            if (!had_errors)
                (void)ctf_complain(p, begin,
                                   "the sequence has no sample of input '%.40s', which "
                                   "defines its length",
                                   p->o.stream[i].alias);
            forget_sequence(p);
        }
}

static void end_sequence(struct ctf_parser *p)
{
    for (uint32_t i = 0; i < p->o.streams; i++) {
        struct stream *s = &p->stream[i];
        store_le32(s->out.p + s->begin, s->samples);
        if (s->info->storage == STREAM_DENSE)
            continue;
        store_le32(s->out.p + s->begin + 4, s->nnz);
        append(p, &s->out, &s->index);
        append(p, &s->out, &s->count);
    }
}

static void read_sequence(struct ctf_parser *p, uint32_t number, const struct ctf_sequence *q)
{
    const uint8_t *at = p->text + (q->offset - p->chunk->offset), *const end = at + q->bytes;
    const uint64_t problems = p->problems;
    if (!begin_sequence(p, number))
        return;
    while (at < end && !p->stop) {
        const uint8_t *lf = memchr(at, '\n', (size_t)(end - at));
        p->line_begin = at;
        p->line_end = lf != NULL ? lf : end;
        at = lf != NULL ? lf + 1 : end;
        p->line_end -= p->line_end > p->line_begin && p->line_end[-1] == '\r';
        p->line++;
        ctf_read_line(p);
    }
    if (!p->stop)
        check_sequence(p, q, p->problems > problems);
    end_sequence(p);
}

/* ---- chunks ------------------------------------------------------------------------------ */

static bool make_room(struct ctf_parser *p, uint32_t sequences)
{
    if (sequences <= p->sequence_room)
        return true;
    const size_t n = (size_t)sequences + 1;
    uint32_t *length = imrec_realloc(p->length, n, sizeof(*length));
    p->length = length != NULL ? length : p->length;
    uint64_t *key = imrec_realloc(p->key, n, sizeof(*key));
    p->key = key != NULL ? key : p->key;
    bool all = length != NULL && key != NULL;
    for (uint32_t i = 0; i < p->o.streams; i++) {
        uint64_t *offset = imrec_realloc(p->stream[i].offset, n, sizeof(*offset));
        p->stream[i].offset = offset != NULL ? offset : p->stream[i].offset;
        all &= offset != NULL;
    }
    p->sequence_room = all ? sequences : p->sequence_room;
    return all;
}

static enum imrec_status no_memory(const struct ctf_parser *p, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                          "%.120s: no memory for the values of a chunk of %" PRIu64 " bytes",
                          p->o.name, p->chunk->bytes);
}

enum imrec_status ctf_parse(struct ctf_parser *p, const struct ctf_chunk *chunk,
                            const struct ctf_sequence *sequence, const uint8_t *text,
                            struct sequence_chunk *out, struct imrec_error *err)
{
    p->chunk = chunk;
    p->text = text;
    p->problems = p->line = 0;
    p->stop = p->no_memory = false;
    if (!make_room(p, chunk->sequences))
        return no_memory(p, err);
    for (uint32_t i = 0; i < p->o.streams; i++) {
        p->stream[i].out.n = 0;
        p->stream[i].line = 0;
    }
    for (uint32_t i = 0; i < chunk->sequences; i++) {
        p->length[i] = sequence[i].length;
        p->key[i] = sequence[i].key;
        read_sequence(p, i, &sequence[i]); /* behind a stop: empty */
        if (p->no_memory)
            return no_memory(p, err);
    }
    for (uint32_t i = 0; i < p->o.streams; i++) {
        p->stream[i].offset[chunk->sequences] = p->stream[i].out.n;
        p->view[i] = (struct chunk_stream){p->stream[i].out.p, p->stream[i].offset};
    }
    *out = (struct sequence_chunk){.sequences = chunk->sequences,
                                   .streams = p->o.streams,
                                   .length = p->length,
                                   .key = p->key,
                                   .samples = chunk->samples,
                                   .stream = p->view};
    return IMREC_OK;
}

const struct ctf_problem *ctf_parser_problems(const struct ctf_parser *p, uint64_t *count)
{
    *count = p->problems;
    return p->problem;
}

/* ---- life -------------------------------------------------------------------------------- */

enum imrec_status
ctf_parser_new(const struct ctf_parse_options *o, struct ctf_parser **out, struct imrec_error *err)
{
    struct ctf_parser *p = *out = imrec_zalloc(1, sizeof(*p));
    if (p != NULL) {
        p->o = *o;
        p->values = ctf_values_best();
        p->stream = imrec_zalloc(o->streams, sizeof(*p->stream));
        p->view = imrec_zalloc(o->streams, sizeof(*p->view));
    }
    if (p == NULL || p->stream == NULL || p->view == NULL) {
        ctf_parser_free(p);
        *out = NULL;
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "%.120s: no memory to parse it", o->name);
    }
    for (uint32_t i = 0; i < o->streams; i++) {
        p->stream[i].info = &o->stream[i];
        p->stream[i].alias_bytes = strlen(o->stream[i].alias);
        p->stream[i].element = stream_element_bytes(o->stream[i].element);
    }
    return IMREC_OK;
}

void ctf_parser_free(struct ctf_parser *p)
{
    if (p == NULL)
        return;
    for (uint32_t i = 0; p->stream != NULL && i < p->o.streams; i++) {
        imrec_free(p->stream[i].out.p);
        imrec_free(p->stream[i].index.p);
        imrec_free(p->stream[i].count.p);
        imrec_free(p->stream[i].offset);
    }
    imrec_free(p->stream);
    imrec_free(p->view);
    imrec_free(p->length);
    imrec_free(p->key);
    imrec_free(p->problem);
    imrec_free(p);
}

uint64_t ctf_parser_memory(const struct ctf_parser *p)
{
    uint64_t bytes = (uint64_t)p->sequence_room * (12 + 8 * (uint64_t)p->o.streams);
    for (uint32_t i = 0; i < p->o.streams; i++)
        bytes += p->stream[i].out.room + p->stream[i].index.room + p->stream[i].count.room;
    return bytes + p->problem_room * sizeof(*p->problem);
}

void ctf_parser_name(struct ctf_parser *p, const char *name)
{
    p->o.name = name;
}
