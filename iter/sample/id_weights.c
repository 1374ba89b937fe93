/* iter/sample/id_weights.c - a text file of image ids, maybe each with a weight. */
#include "iter/sample/id_weights.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/text.h"
#include "storage/source.h"

#include <math.h>
#include <stdlib.h>

#define MAX_FILE_BYTES ((size_t)16 << 30)

struct reading {
    const char *name, *uri;
    bool weights;
    const struct text_lines *lines;
};

static enum imrec_status
wrong(const struct reading *r, struct bytes line, const char *want, struct imrec_error *err)
{
    const struct text_quote quoted = text_quote(line);
    imrec_error_at(err, IMREC_ERR_CORRUPT, r->lines->offset, "%s: %.200s: line %llu is %s: %s",
                   r->name, r->uri, (unsigned long long)r->lines->number, quoted.s, want);
    imrec_error_file(err, r->uri);
    return IMREC_ERR_CORRUPT;
}

static enum imrec_status
take(struct id_weights *t, const struct reading *r, struct bytes line, struct imrec_error *err)
{
    struct bytes rest = text_trim(line);
    struct id_line *to;
    if (rest.n == 0)
        return IMREC_OK;
    if (!IMREC_GROW(t->lines, t->room, t->count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the ids of %s", r->name);
    to = &t->lines[t->count];
    *to = (struct id_line){.line = r->lines->number, .weight = 1};
    if (!text_to_u64(text_word(&rest), &to->id))
        return wrong(r, line, "it must begin with the id of an image, a whole number", err);
    rest = text_trim(rest);
    if (r->weights && (text_to_double(rest, &to->weight) != TEXT_FLOAT_OK ||
                       !isfinite(to->weight) || to->weight < 0))
        return wrong(r, line, "it must be an id and a weight, a number of at least 0", err);
    t->count++;
    return IMREC_OK;
}

static enum imrec_status
parse(struct id_weights *t, struct reading *r, struct bytes text, struct imrec_error *err)
{
    struct text_lines lines;
    struct bytes line;
    r->lines = &lines;
    text_lines_begin(&lines, text, 0, 0);
    while (text_lines_next(&lines, &line))
        IMREC_TRY(take(t, r, line, err));
    if (t->count == 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%s: %.300s has no id", r->name, r->uri);
    qsort(t->lines, t->count, sizeof(*t->lines), by_u64); /* by id */
    for (uint64_t i = 1; i < t->count; i++)
        if (t->lines[i].id == t->lines[i - 1].id)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "%s: %.300s: id %llu is in lines %llu and %llu: name it once",
                              r->name, r->uri, (unsigned long long)t->lines[i].id,
                              (unsigned long long)min_u64(t->lines[i - 1].line, t->lines[i].line),
                              (unsigned long long)max_u64(t->lines[i - 1].line, t->lines[i].line));
    return IMREC_OK;
}

enum imrec_status id_weights_load(struct id_weights *t, const char *name, const char *uri,
                                  bool weights, struct imrec_error *err)
{
    struct reading r = {name, uri, weights, NULL};
    uint8_t *text;
    size_t n;
    *t = (struct id_weights){0};
    IMREC_TRY(source_load(uri, MAX_FILE_BYTES, &text, &n, err));
    const enum imrec_status st = parse(t, &r, (struct bytes){text, n}, err);
    imrec_free(text);
    if (st != IMREC_OK)
        id_weights_free(t);
    return st;
}

struct id_line *id_weights_find(const struct id_weights *t, uint64_t id)
{
    return t->count != 0 ? bsearch(&id, t->lines, t->count, sizeof(*t->lines), by_u64) : NULL;
}

void id_weights_free(struct id_weights *t)
{
    imrec_free(t->lines);
    *t = (struct id_weights){0};
}
