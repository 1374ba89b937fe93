/* formats/ctf/ctf_line.c - a line: its id, samples and comments, and the rules about them. */
#include "formats/ctf/ctf_parser.h"

#include <inttypes.h>
#include <string.h>

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

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

static const uint8_t *next_pipe(const struct ctf_parser *p, const uint8_t *at)
{
    const uint8_t *pipe = at < p->line_end ? memchr(at, '|', (size_t)(p->line_end - at)) : NULL;
    return pipe != NULL ? pipe : p->line_end;
}

/* Behind a comment: at a pipe that no '#' follows, or the line's end. */
static const uint8_t *behind_comment(const struct ctf_parser *p, const uint8_t *at)
{
    do
        at = next_pipe(p, at + 2);
    while (at < p->line_end && at + 1 < p->line_end && at[1] == '#');
    return at;
}

static bool
read_values(struct ctf_parser *p, struct stream *s, const uint8_t *name, const uint8_t **at)
{
    if (s->line == p->line)
        return ctf_complain(p, name, "input '%.40s' twice on a line", s->info->alias);
    s->line = p->line;
    if (!(s->info->storage == STREAM_DENSE ? ctf_read_dense(p, s, at) : ctf_read_sparse(p, s, at)))
        return false;
    s->samples++;
    p->most = s->samples > p->most ? s->samples : p->most;
    return true;
}

enum sample { SAMPLE_GOOD, SAMPLE_BAD, SAMPLE_UNKNOWN };

/* The sample whose pipe is at *at, which moves to what follows. */
static enum sample read_sample(struct ctf_parser *p, const uint8_t **at)
{
    const uint8_t *name = *at + 1, *end = name;
    while (end < p->line_end && !is_blank(*end) && *end != '|')
        end++;
    if (end == name) {
        (void)ctf_complain(p, name, "a name must follow the pipe");
        *at = next_pipe(p, end);
        return SAMPLE_BAD;
    }
    struct stream *s = stream_called(p, name, (size_t)(end - name));
    if (s == NULL) {
        if (!p->o.ignore_unknown)
            (void)ctf_complain(p, name,
                               "no input is called %s; ignoreUnknownInputs=true skips such names",
                               text_quote((struct bytes){name, (size_t)(end - name)}).s);
        *at = next_pipe(p, end);
        return p->o.ignore_unknown ? SAMPLE_UNKNOWN : SAMPLE_BAD;
    }
    *at = end;
    if (read_values(p, s, name, at))
        return SAMPLE_GOOD;
    *at = next_pipe(p, *at);
    return SAMPLE_BAD;
}

/* Takes the samples of this line back. */
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

static bool defines_length(const struct ctf_parser *p)
{
    for (uint32_t i = 0; i < p->o.streams; i++)
        if (p->o.stream[i].defines_mb_size)
            return true;
    return false;
}

/* A sequence has as many lines as its longest stream has samples, unless a stream defines the
 * length; where that is so at the end it is so at every line. */
static void check_lines(struct ctf_parser *p, const uint8_t *begin)
{
    if (p->lines <= p->most || defines_length(p))
        return;
    (void)ctf_complain(p, begin,
                       "line %" PRIu32 " of the sequence, but no input has so many samples; "
                       "one must have a sample on every line",
                       p->lines);
    drop_line(p);
    p->lines--;
}

void ctf_read_line(struct ctf_parser *p)
{
    const uint8_t *at = ctf_skip_blanks(p->line_begin), *const id = at;
    while ((uint8_t)(*at - '0') < 10)
        at++;
    const bool has_id = at > id;
    uint32_t good = 0, bad = 0, comments = 0;
    const uint8_t *const begin = at = ctf_skip_blanks(at);
    while (at < p->line_end && !p->stop) {
        if (*at == '|' && at + 1 < p->line_end && at[1] == '#') {
            at = behind_comment(p, at);
            comments++;
        } else if (*at == '|') {
            const enum sample sample = read_sample(p, &at);
            good += sample == SAMPLE_GOOD;
            bad += sample == SAMPLE_BAD;
            comments += sample == SAMPLE_UNKNOWN;
        } else if (is_blank(*at)) {
            at++;
        } else {
            (void)ctf_complain(p, at, "%s where a sample or a comment must begin, with a pipe",
                               ctf_word_at(p, at).s);
            at = next_pipe(p, at);
            bad++;
        }
    }
    if (has_id && good + bad + comments == 0)
        (void)ctf_complain(p, id,
                           "a sequence id alone; at least one sample or comment must "
                           "follow it");
    if (good == 0 || bad > 0) /* what is bad costs one error, not another for its line */
        return;
    p->lines++;
    check_lines(p, begin);
}
