/* iter/options/mix_sets.c - the texts of mix and mix_label_offset. */
#include "iter/options/mix_sets.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"

#include <math.h>
#include <string.h>

#define MOST_SETS 4096u

/* Cuts the text before the next comma off. False: there is none. */
static bool next_part(const char **rest, struct bytes *part)
{
    if (*rest == NULL)
        return false;
    const char *comma = strchr(*rest, ',');
    const size_t n = comma != NULL ? (size_t)(comma - *rest) : strlen(*rest);
    *part = text_trim((struct bytes){(const uint8_t *)*rest, n});
    *rest = comma != NULL ? comma + 1 : NULL;
    return true;
}

static enum imrec_status add_set(struct mix_sets *m, struct bytes part, struct imrec_error *err)
{
    const struct text_quote quoted = text_quote(part);
    struct mix_set set = {.label_offset = 0};
    size_t colon = part.n;
    while (colon > 0 && part.p[colon - 1] != ':')
        colon--;
    const struct bytes weight = {part.p + colon, part.n - colon};
    if (colon < 2 || text_to_double(weight, &set.weight) != TEXT_FLOAT_OK ||
        !isfinite(set.weight) || set.weight <= 0)
        return IMREC_REFUSE(err,
                            "mix: %s must be a set, a colon and its weight, a number above 0: "
                            "a.rec:0.7,b.rec:0.3",
                            quoted.s);
    if (memchr(part.p, ';', colon - 1) != NULL)
        return IMREC_REFUSE(err,
                            "mix: %s must be one set: a file, a folder, a glob or a manifest, "
                            "not a list with ';'",
                            quoted.s);
    if (m->count == MOST_SETS)
        return IMREC_REFUSE(err, "mix: there must be at most %u sets", MOST_SETS);
    if (!IMREC_GROW(m->set, m->room, m->count + 1) ||
        (set.uri = imrec_joined((const char *)part.p, colon - 1, "")) == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the sets of mix");
    m->set[m->count++] = set;
    return IMREC_OK;
}

static enum imrec_status join(struct mix_sets *m, struct imrec_error *err)
{
    double sum = 0;
    for (uint64_t i = 0; i < m->count; i++) {
        const char *before = m->all != NULL ? m->all : "", *uri = m->set[i].uri;
        char *head = imrec_joined(before, strlen(before), i != 0 ? ";" : "");
        char *all = head != NULL ? imrec_joined(head, strlen(head), uri) : NULL;
        IMREC_FREE(head, m->all);
        m->all = all;
        if (all == NULL)
            return IMREC_NO_MEMORY(err, "no memory for the sets of mix");
        sum += m->set[i].weight;
    }
    for (uint64_t i = 0; i < m->count; i++)
        m->set[i].share = m->set[i].weight / sum;
    return IMREC_OK;
}

static enum imrec_status
take_offsets(struct mix_sets *m, const char *offsets, struct imrec_error *err)
{
    struct bytes part;
    uint64_t n = 0;
    while (offsets[0] != '\0' && next_part(&offsets, &part)) {
        float v;
        if (text_to_float(part, &v) != TEXT_FLOAT_OK || !isfinite(v))
            return IMREC_REFUSE(err, "mix_label_offset: %s must be a number", text_quote(part).s);
        if (n < m->count)
            m->set[n].label_offset = v;
        n++;
        if (offsets == NULL)
            break;
    }
    if (n == 0 || n == m->count)
        return IMREC_OK;
    return IMREC_REFUSE(err, "mix_label_offset has %llu numbers, but mix %llu sets: give one each",
                        (unsigned long long)n, (unsigned long long)m->count);
}

static enum imrec_status
parse(struct mix_sets *m, const char *mix, const char *offsets, struct imrec_error *err)
{
    struct bytes part;
    while (next_part(&mix, &part))
        IMREC_TRY(add_set(m, part, err));
    IMREC_TRY(join(m, err));
    return take_offsets(m, offsets, err);
}

enum imrec_status
mix_sets_parse(struct mix_sets *m, const char *mix, const char *offsets, struct imrec_error *err)
{
    *m = (struct mix_sets){0};
    const enum imrec_status st = parse(m, mix, offsets, err);
    if (st != IMREC_OK)
        mix_sets_free(m);
    return st;
}

void mix_sets_free(struct mix_sets *m)
{
    for (uint64_t i = 0; i < m->count; i++)
        imrec_free(m->set[i].uri);
    IMREC_FREE(m->set, m->all);
    *m = (struct mix_sets){0};
}
