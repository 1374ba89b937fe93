/* formats/ctf/ctf_look.c - finds the inputs of a text that has no description. */
#include "formats/ctf/ctf_look.h"

#include "base/alloc.h"
#include "formats/ctf/ctf_line.h"

#include <string.h>

/* The input of this name, a new one where there is none; *out is NULL for those that are skipped.
 */
static bool find(struct ctf_look *l, struct bytes name, struct ctf_seen **out)
{
    *out = NULL;
    for (uint32_t i = 0; i < l->inputs; i++)
        if (strlen(l->input[i].alias) == name.n && memcmp(l->input[i].alias, name.p, name.n) == 0) {
            *out = &l->input[i];
            return true;
        }
    if (name.n > CTF_LOOK_ALIAS || name.n == 0 || memchr(name.p, 0, name.n) != NULL ||
        l->inputs == CTF_LOOK_INPUTS)
        return true;
    if (!IMREC_GROW(l->input, l->room, l->inputs + 1))
        return false;
    *out = &l->input[l->inputs++];
    **out = (struct ctf_seen){0};
    memcpy((*out)->alias, name.p, name.n);
    return true;
}

static void look_at_value(struct ctf_seen *s, struct bytes word, uint64_t number)
{
    const uint8_t *colon = memchr(word.p, ':', word.n);
    uint64_t index;
    if (s->filled == 0 && number == 0)
        s->sparse = colon != NULL;
    if (s->sparse && colon != NULL &&
        text_to_u64((struct bytes){word.p, (size_t)(colon - word.p)}, &index) && index > s->largest)
        s->largest = index;
}

static bool look_at_sample(struct ctf_look *l, struct bytes sample)
{
    struct ctf_seen *s;
    uint64_t values = 0;
    const uint8_t *end = ctf_behind_name(sample.p, sample.p + sample.n);
    const struct bytes name = {sample.p, (size_t)(end - sample.p)};
    if (!find(l, name, &s))
        return false;
    if (s == NULL)
        return true;
    struct bytes rest = {end, sample.n - name.n};
    for (struct bytes word; (word = text_word(&rest)).n > 0; values++)
        look_at_value(s, word, values);
    s->samples++;
    if (values == 0)
        return true;
    s->varies |= s->filled > 0 && values != s->width;
    s->width = s->filled == 0 ? values : s->width;
    s->filled++;
    return true;
}

static bool look_at_line(struct ctf_look *l, struct bytes line)
{
    const uint8_t *const end = line.p + line.n, *p = ctf_next_pipe(line.p, end);
    while (p < end) {
        const bool comment = p + 1 < end && p[1] == '#';
        const uint8_t *next = comment ? ctf_behind_comment(p, end) : ctf_next_pipe(p + 1, end);
        if (!comment && !look_at_sample(l, (struct bytes){p + 1, (size_t)(next - p - 1)}))
            return false;
        p = next;
    }
    return true;
}

bool ctf_look_at(struct ctf_look *l, struct bytes piece)
{
    const uint8_t *p = piece.p, *const end = p + piece.n;
    while (p < end) {
        const uint8_t *lf = memchr(p, '\n', (size_t)(end - p));
        struct bytes line = {p, (size_t)((lf != NULL ? lf : end) - p)};
        p = lf != NULL ? lf + 1 : end;
        line.n -= line.n > 0 && line.p[line.n - 1] == '\r';
        if (!look_at_line(l, line))
            return false;
    }
    return true;
}

void ctf_look_free(struct ctf_look *l)
{
    imrec_free(l->input);
    *l = (struct ctf_look){0};
}

bool ctf_looks_so(struct bytes begin)
{
    const uint8_t *p = begin.p + text_mark(begin.p, begin.n), *const end = begin.p + begin.n;
    while (p < end && (text_is_blank(*p) || *p == '\r' || *p == '\n'))
        p++;
    while (p < end && text_is_digit(*p))
        p++;
    while (p < end && text_is_blank(*p))
        p++;
    return p < end && *p == '|';
}
