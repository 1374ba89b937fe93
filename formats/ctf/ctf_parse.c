/*
 * formats/ctf/ctf_parse.c - the sequences of a chunk of text to values.
 *
 * Every stream has a buffer, in which its sequences follow one another as in CBF. A sample is
 * appended value by value, and removed if it proves bad. What follows the values of a sparse stream
 * (indices, counts) is collected separately and appended when the sequence ends.
 */
#include "formats/ctf/ctf_parse.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/shown.h"
#include "formats/ctf/ctf_line.h"
#include "formats/ctf/ctf_number.h"
#include "formats/ctf/ctf_values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct bytes_room { /* grows, never shrinks */
    uint8_t *p;
    size_t n, room;
};

struct stream {
    const struct stream_info *info;
    size_t alias_bytes, element;
    struct bytes_room out, index, count; /* index, count: of the sequence being read */
    uint64_t *offset;
    size_t begin;          /* of the sequence in out */
    uint32_t samples, nnz; /* of the sequence */
    uint64_t line;         /* that has a sample of it already, from 1 */
};

struct ctf_parser {
    struct ctf_parse_options o;
    const struct ctf_values *values;
    struct stream *stream;
    struct chunk_stream *view;
    uint32_t *length;
    uint64_t *key;
    uint32_t sequence_room;
    struct ctf_problem *problem;
    uint64_t problems, problem_room;
    uint32_t likely; /* stream: of the next sample */

    const struct ctf_chunk *chunk;
    const uint8_t *text;
    const uint8_t *line_begin, *line_end; /* of the line being read, without its end */
    uint64_t line;                        /* its number in the chunk, from 1 */
    uint32_t lines, most; /* of the sequence: that count; samples of its longest stream */
    bool stop, no_memory;
    bool defines_length; /* a stream does */
};

/* ---- memory ------------------------------------------------------------------------------ */

/* Room for `more` bytes after b->n; false: no memory, and the parser stops. */
static bool reserve(struct ctf_parser *p, struct bytes_room *b, size_t more)
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

static inline void put32(struct bytes_room *b, uint32_t v)
{
    store_le32(b->p + b->n, v);
    b->n += 4;
}

/* ---- problems ---------------------------------------------------------------------------- */

/* The number of the line in the file: those before the sequence's line in the chunk's text. */
static uint64_t line_number(const struct ctf_parser *p)
{
    uint64_t n = p->chunk->line;
    for (const uint8_t *at = p->text; at < p->line_begin; n++) {
        at = memchr(at, '\n', (size_t)(p->line_begin - at));
        if (at == NULL)
            break;
        at++;
    }
    return n;
}

/* Notes a problem at a place of the line being read. Always false. */
__attribute__((format(printf, 3, 4))) static bool
complain(struct ctf_parser *p, const uint8_t *at, const char *fmt, ...)
{
    if (!IMREC_GROW(p->problem, p->problem_room, p->problems + 1)) {
        p->no_memory = p->stop = true;
        return false;
    }
    struct ctf_problem *q = &p->problem[p->problems++];
    q->offset = p->chunk->offset + (uint64_t)(at - p->text);
    char said[sizeof(q->message)];
    const int n = snprintf(said, sizeof(said), "%.120s: line %" PRIu64 ", column %" PRIu64 ": ",
                           p->o.name, line_number(p), (uint64_t)(at - p->line_begin) + 1);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(said + n, sizeof(said) - (size_t)n, fmt, ap);
    va_end(ap);
    shown_copy(q->message, sizeof(q->message), said);
    p->stop |= p->problems > p->o.max_problems;
    return false;
}

/* The text at `at`, for a message. */
static struct text_quote word_at(const struct ctf_parser *p, const uint8_t *at)
{
    const uint8_t *end = ctf_behind_name(at, p->line_end);
    end += end == at && at < p->line_end;
    if (at >= p->line_end)
        return (struct text_quote){"the line's end"};
    return text_quote((struct bytes){at, (size_t)(end - at)});
}

/* ---- values ------------------------------------------------------------------------------ */

/* Whether a value may end here: at a blank, a pipe or the line's end. */
static inline bool ends_value(const struct ctf_parser *p, const uint8_t *at)
{
    return text_is_blank(*at) || *at == '|' || at >= p->line_end;
}

static bool no_number(struct ctf_parser *p, const struct stream *s, const uint8_t *at)
{
    return complain(p, at,
                    "input '%.40s': %s is not a number; numbers like -1.5e3, separated by "
                    "blanks, are right",
                    s->info->alias, word_at(p, at).s);
}

static bool too_large(struct ctf_parser *p, const struct stream *s, const uint8_t *at)
{
    return complain(p, at, "input '%.40s': %s is too large for a %s", s->info->alias,
                    word_at(p, at).s, s->element == 4 ? "float" : "double");
}

/* Reads one number at *at to `to`; *at moves to its end. */
static inline bool
read_number(struct ctf_parser *p, const struct stream *s, const uint8_t **at, uint8_t *to)
{
    struct ctf_number n;
    const uint8_t *end = ctf_number_scan(*at, &n);
    if (end == NULL || !ends_value(p, end))
        return no_number(p, s, *at);
    if (s->element == 4) {
        float v;
        if (ctf_number_float(&n, *at, end, &v) != CTF_ROUNDED)
            return too_large(p, s, *at);
        memcpy(to, &v, sizeof(v));
    } else {
        double v;
        if (ctf_number_double(&n, *at, end, &v) != CTF_ROUNDED)
            return too_large(p, s, *at);
        memcpy(to, &v, sizeof(v));
    }
    *at = end;
    return true;
}

static bool at_sample_end(const struct ctf_parser *p, const uint8_t *at)
{
    return at >= p->line_end || *at == '|';
}

/* Before this place enough bytes are readable for the fast way. */
static inline const uint8_t *end_of_fast(const struct ctf_parser *p)
{
    const uint64_t n = p->chunk->bytes;
    return p->text + (n > CTF_SAFE_BYTES ? n - CTF_SAFE_BYTES : 0);
}

/* Reads the values of a sample at *at, which moves to their end; false: the sample is bad, and
 * none of it is kept. */
static bool read_dense(struct ctf_parser *p, struct stream *s, const uint8_t **at)
{
    const uint32_t dim = s->info->dim;
    const size_t element = s->element;
    if (!reserve(p, &s->out, (size_t)dim * element))
        return false;
    uint8_t *const to = s->out.p + s->out.n;
    const uint8_t *const safe = end_of_fast(p);
    for (uint32_t i = 0;; i++) {
        *at = ctf_behind_blanks(*at);
        i += p->values->dense[s->info->element](at, safe, to + i * element, dim - i);
        if (i == dim)
            break;
        if (at_sample_end(p, *at))
            return complain(p, *at,
                            "input '%.40s': the sample has %" PRIu32 " values; dim is %" PRIu32,
                            s->info->alias, i, dim);
        if (!read_number(p, s, at, to + i * element))
            return false;
    }
    *at = ctf_behind_blanks(*at);
    if (!at_sample_end(p, *at))
        return complain(p, *at, "input '%.40s': %s follows the last value; dim is %" PRIu32,
                        s->info->alias, word_at(p, *at).s, dim);
    s->out.n += (size_t)dim * element;
    return true;
}

/* "index:" at *at. */
static inline bool
read_index(struct ctf_parser *p, const struct stream *s, const uint8_t **at, uint32_t *out)
{
    const uint8_t *c = *at;
    uint64_t v = 0;
    for (; text_is_digit(*c); c++)
        v = v <= UINT32_MAX ? 10 * v + (uint64_t)(*c - '0') : v;
    if (c == *at || *c != ':')
        return complain(p, *at, "input '%.40s': %s is not of the form index:value", s->info->alias,
                        word_at(p, *at).s);
    if (v >= s->info->dim)
        return complain(p, *at, "input '%.40s': index %.20s is not below dim, %" PRIu32,
                        s->info->alias, word_at(p, *at).s, s->info->dim);
    *out = (uint32_t)v;
    *at = c + 1;
    return true;
}

/* The pairs of a sample; false: no memory, or a bad one at *at. */
static bool read_pairs(struct ctf_parser *p, struct stream *s, const uint8_t **at, uint32_t *n)
{
    const uint8_t *const safe = end_of_fast(p);
    /* a pair has three characters and a blank; the last may lack it */
    const size_t most = (size_t)(p->line_end - *at) / 4 + 1;
    uint32_t index = 0;
    if (!reserve(p, &s->out, most * s->element) || !reserve(p, &s->index, most * 4))
        return false;
    for (*at = ctf_behind_blanks(*at); !at_sample_end(p, *at); *at = ctf_behind_blanks(*at)) {
        const uint32_t plain = p->values->sparse[s->info->element](
            at, safe, s->out.p + s->out.n, s->index.p + s->index.n, s->info->dim);
        *n += plain;
        s->out.n += plain * s->element;
        s->index.n += (size_t)plain * 4;
        if (at_sample_end(p, *at))
            break;
        if (!read_index(p, s, at, &index) || !read_number(p, s, at, s->out.p + s->out.n))
            return false;
        s->out.n += s->element;
        put32(&s->index, index);
        ++*n;
    }
    return true;
}

static bool read_sparse(struct ctf_parser *p, struct stream *s, const uint8_t **at)
{
    const size_t values = s->out.n, indices = s->index.n;
    uint32_t n = 0;
    bool good = read_pairs(p, s, at, &n);
    if (good && s->nnz + (uint64_t)n > INT32_MAX)
        good = complain(p, *at, "input '%.40s': more than 2147483647 values in a sequence",
                        s->info->alias);
    if (!good || !reserve(p, &s->count, 4)) {
        s->out.n = values;
        s->index.n = indices;
        return false;
    }
    put32(&s->count, n);
    s->nnz += n;
    return true;
}

/* ---- lines -------------------------------------------------------------------------------- */

static struct stream *stream_called(struct ctf_parser *p, const uint8_t *name, size_t n)
{
    for (uint32_t i = 0; i < p->o.streams; i++) { /* usually the first that is tried */
        const uint32_t k =
            p->likely + i < p->o.streams ? p->likely + i : p->likely + i - p->o.streams;
        struct stream *s = &p->stream[k];
        if (s->alias_bytes == n && memcmp(s->info->alias, name, n) == 0) {
            p->likely = k + 1 < p->o.streams ? k + 1 : 0;
            return s;
        }
    }
    return NULL;
}

static bool
read_values(struct ctf_parser *p, struct stream *s, const uint8_t *name, const uint8_t **at)
{
    if (s->line == p->line)
        return complain(p, name, "input '%.40s' twice on a line", s->info->alias);
    s->line = p->line;
    if (!(s->info->storage == STREAM_DENSE ? read_dense(p, s, at) : read_sparse(p, s, at)))
        return false;
    s->samples++;
    p->most = s->samples > p->most ? s->samples : p->most;
    return true;
}

enum sample { SAMPLE_GOOD, SAMPLE_BAD, SAMPLE_UNKNOWN };

/* The sample whose pipe is at *at, which moves to what follows. */
static enum sample read_sample(struct ctf_parser *p, const uint8_t **at)
{
    const uint8_t *name = *at + 1, *end = ctf_behind_name(name, p->line_end);
    if (end == name) {
        (void)complain(p, name, "a name must follow the pipe");
        *at = ctf_next_pipe(end, p->line_end);
        return SAMPLE_BAD;
    }
    struct stream *s = stream_called(p, name, (size_t)(end - name));
    if (s == NULL) {
        if (!p->o.ignore_unknown)
            (void)complain(p, name,
                           "no input is called %s; ignoreUnknownInputs=true skips such names",
                           text_quote((struct bytes){name, (size_t)(end - name)}).s);
        *at = ctf_next_pipe(end, p->line_end);
        return p->o.ignore_unknown ? SAMPLE_UNKNOWN : SAMPLE_BAD;
    }
    *at = end;
    if (read_values(p, s, name, at))
        return SAMPLE_GOOD;
    *at = ctf_next_pipe(*at, p->line_end);
    return SAMPLE_BAD;
}

/* Removes the samples of this line. */
static void drop_line(struct ctf_parser *p)
{
    for (uint32_t i = 0; i < p->o.streams; i++) {
        struct stream *s = &p->stream[i];
        if (s->line != p->line || s->samples == 0)
            continue;
        s->samples--;
        if (s->info->storage == STREAM_DENSE) {
            s->out.n -= (size_t)s->info->dim * s->element;
            continue;
        }
        s->count.n -= 4;
        const uint32_t n = load_le32(s->count.p + s->count.n);
        s->nnz -= n;
        s->out.n -= n * s->element;
        s->index.n -= (size_t)n * 4;
    }
}

/* A sequence has as many lines as its longest stream has samples, unless a stream defines the
 * length; where that is so at the end it is so at every line. */
static void check_lines(struct ctf_parser *p, const uint8_t *begin)
{
    if (p->lines <= p->most || p->defines_length)
        return;
    (void)complain(p, begin,
                   "line %" PRIu32 " of the sequence, but no input has that many samples; "
                   "one must have a sample on every line",
                   p->lines);
    drop_line(p);
    p->lines--;
}

/* The line [line_begin, line_end) into the sequence being read. */
static void read_line(struct ctf_parser *p)
{
    const uint8_t *at = ctf_behind_blanks(p->line_begin), *const id = at;
    while (text_is_digit(*at))
        at++;
    const bool has_id = at > id;
    uint32_t good = 0, bad = 0, comments = 0;
    const uint8_t *const begin = at = ctf_behind_blanks(at);
    while (at < p->line_end && !p->stop) {
        if (*at == '|' && at + 1 < p->line_end && at[1] == '#') {
            at = ctf_behind_comment(at, p->line_end);
            comments++;
        } else if (*at == '|') {
            const enum sample sample = read_sample(p, &at);
            good += sample == SAMPLE_GOOD;
            bad += sample == SAMPLE_BAD;
            comments += sample == SAMPLE_UNKNOWN;
        } else if (text_is_blank(*at)) {
            at++;
        } else {
            (void)complain(p, at, "%s where a sample or a comment must begin, with a pipe",
                           word_at(p, at).s);
            at = ctf_next_pipe(at, p->line_end);
            bad++;
        }
    }
    if (has_id && good + bad + comments == 0)
        (void)complain(p, id, "a sequence id alone; at least one sample or comment must follow it");
    if (good == 0 || bad > 0) /* one fault is one error, not another for its line */
        return;
    p->lines++;
    check_lines(p, begin);
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
        if (!reserve(p, &s->out, head))
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
    if (from->n == 0 || !reserve(p, to, from->n))
        return;
    memcpy(to->p + to->n, from->p, from->n);
    to->n += from->n;
}

/* Checks that need the whole sequence. */
static void check_sequence(struct ctf_parser *p, const struct ctf_sequence *q, bool had_errors)
{
    const uint8_t *begin = p->text + (q->offset - p->chunk->offset);
    p->line_begin = begin;
    if (p->o.frame_mode && p->most > 1) {
        (void)complain(p, begin,
                       "frameMode: a sequence of %" PRIu32 " samples; exactly one is right",
                       p->most);
        forget_sequence(p);
        return;
    }
    for (uint32_t i = 0; i < p->o.streams; i++)
        if (p->o.stream[i].defines_mb_size && p->stream[i].samples == 0 && p->most > 0) {
            if (!had_errors)
                (void)complain(p, begin,
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
        read_line(p);
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
    return IMREC_NO_MEMORY(err, "%.120s: no memory for the values of a chunk of %" PRIu64 " bytes",
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
        read_sequence(p, i, &sequence[i]); /* after a stop: empty */
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
        return IMREC_NO_MEMORY(err, "%.120s: no memory to parse it", o->name);
    }
    for (uint32_t i = 0; i < o->streams; i++) {
        p->stream[i].info = &o->stream[i];
        p->stream[i].alias_bytes = strlen(o->stream[i].alias);
        p->stream[i].element = stream_element_bytes(o->stream[i].element);
        p->defines_length |= o->stream[i].defines_mb_size;
    }
    return IMREC_OK;
}

void ctf_parser_free(struct ctf_parser *p)
{
    if (p == NULL)
        return;
    for (uint32_t i = 0; p->stream != NULL && i < p->o.streams; i++)
        IMREC_FREE(p->stream[i].out.p, p->stream[i].index.p, p->stream[i].count.p,
                   p->stream[i].offset);
    IMREC_FREE(p->stream, p->view, p->length, p->key, p->problem, p);
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
