/*
 * formats/set/image_list.c - .lst, the text that lists the images to pack.
 *
 * Lists of MXNet and of CNTK are read. MXNet cuts at tabs only: the path follows the last tab,
 * blanks and all. CNTK cuts at any blank and takes a known number of labels: the path is the rest.
 * A line that is valid the first way is read so.
 */
#include "formats/set/image_list.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void image_list_begin(struct image_list *l, const char *name, uint32_t label_width,
                      struct bytes piece, uint64_t offset, uint64_t lines_before)
{
    *l = (struct image_list){.name = name, .label_width = label_width};
    text_lines_begin(&l->lines, piece, offset, lines_before);
}

void image_list_end(struct image_list *l)
{
    IMREC_FREE(l->labels, l->exact);
    *l = (struct image_list){0};
}

static enum imrec_status
refuse(const struct image_list *l, struct bytes what, const char *why, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_CORRUPT, l->lines.offset, "%s line %" PRIu64 ": %s %s",
                          l->name, l->lines.number, text_quote(what).s, why);
}

/* Words of a line in memory: bounded by it. */
static enum imrec_status make_room(struct image_list *l, uint32_t count, struct imrec_error *err)
{
    if (IMREC_GROW(l->labels, l->labels_cap, count + 1u) &&
        (l->type < LIST_LABELS_FLOAT64 || IMREC_GROW(l->exact, l->exact_cap, count + 1u)))
        return IMREC_OK;
    return IMREC_NO_MEMORY(err, "no memory for the %u labels of a line", count + 1);
}

static enum imrec_status
refuse_type(const struct image_list *l, struct bytes word, struct imrec_error *err)
{
    static const char *const why[] = {
        [LIST_LABELS_FLOAT32] = "is a whole label that float32 cannot hold (beyond 2^24 it has "
                                "not every whole number)",
        [LIST_LABELS_FLOAT64] = "is a whole label that float64 cannot hold; dtype_label=int64 "
                                "reads it",
        [LIST_LABELS_INT64] = "is not a whole label of 64 bits, which dtype_label=int64 needs",
    };
    return refuse(l, word, why[l->type], err);
}

/* The label as its type stores it. */
static enum text_float parse_label(struct image_list *l, struct bytes word, uint32_t at, bool *kept)
{
    float *v = &l->labels[at];
    enum text_float st = text_to_float(word, v);
    *kept = true;
    if (l->type == LIST_LABELS_FLOAT64) {
        if (st == TEXT_FLOAT_TOO_LARGE)
            *v = word.p[0] == '-' ? -INFINITY : INFINITY;
        st = text_to_double(word, &l->exact[at].f);
        *kept = st != TEXT_FLOAT_OK || text_keeps_whole(word, l->exact[at].f);
    } else if (l->type == LIST_LABELS_INT64) {
        *kept = st != TEXT_FLOAT_OK || text_to_i64(word, &l->exact[at].i);
    } else if (l->type == LIST_LABELS_FLOAT32) {
        *kept = st != TEXT_FLOAT_OK || text_keeps_whole(word, (double)*v);
    }
    *kept |= l->typed != 0 && at >= l->typed;
    return st;
}

static enum imrec_status
add_label(struct image_list *l, struct bytes word, uint32_t *count, struct imrec_error *err)
{
    bool kept;
    IMREC_TRY(make_room(l, *count, err));
    switch (parse_label(l, word, *count, &kept)) {
    case TEXT_FLOAT_MALFORMED:
        return refuse(l, word, "is not a label; a line is id, labels and path, with tabs between",
                      err);
    case TEXT_FLOAT_TOO_LARGE:
        return refuse(l, word,
                      l->type == LIST_LABELS_FLOAT64
                          ? "is too large for a label of 64 bits"
                          : "is too large for a label, which has 32 bits",
                      err);
    case TEXT_FLOAT_OK:
        break;
    }
    if (!kept)
        return refuse_type(l, word, err);
    if (l->packs && (l->typed == 0 || *count < l->typed) && !isfinite(l->labels[*count]))
        return refuse(l, word, "is no label that can be packed: a class or another finite number",
                      err);
    ++*count;
    return IMREC_OK;
}

/* Where the part of the line before the path ends: at the last tab after an id and a label, or,
 * without such a tab, after the id and the labels. */
static size_t path_begins(const struct image_list *l, struct bytes line)
{
    size_t tab = line.n;
    while (tab > 0 && line.p[tab - 1] != '\t')
        tab--;
    struct bytes head = {line.p, tab}, rest = line;
    (void)text_word(&head);
    if (text_word(&head).n != 0)
        return tab;
    for (uint32_t words = 0; words < (l->label_width != 0 ? l->label_width : 1) + 1; words++)
        if (text_word(&rest).n == 0)
            break;
    while (rest.n > 0 && (rest.p[0] == ' ' || rest.p[0] == '\t'))
        rest = (struct bytes){rest.p + 1, rest.n - 1};
    return line.n - rest.n;
}

/* Takes the last columns, of which there are some, off the line, with the tab before each. */
static enum imrec_status
take_columns(struct image_list *l, struct bytes *line, struct imrec_error *err)
{
    size_t at = line->n;
    for (uint32_t i = 0; i < l->columns; i++) {
        while (at > 0 && line->p[at - 1] != '\t')
            at--;
        if (at == 0)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, l->lines.offset,
                                  "%s line %" PRIu64 ": %" PRIu32 " tabs, which are too few for "
                                  "id, labels, path and the %" PRIu32 " columns after them: %s",
                                  l->name, l->lines.number, i, l->columns, text_quote(*line).s);
        at--;
    }
    l->last = (struct bytes){line->p + at + 1, line->n - at - 1};
    line->n = at;
    return IMREC_OK;
}

static enum imrec_status parse_line(struct image_list *l, struct bytes line,
                                    struct image_list_entry *out, struct imrec_error *err)
{
    if (l->columns != 0)
        IMREC_TRY(take_columns(l, &line, err));
    const size_t at = path_begins(l, line);
    struct bytes head = {line.p, at};
    const struct bytes id = text_word(&head);
    *out = (struct image_list_entry){.path = {line.p + at, line.n - at}};
    if (!text_to_u64(id, &out->id))
        return refuse(l, id, "is not an id from 0 to 18446744073709551615", err);
    for (struct bytes word; (word = text_word(&head)).n != 0;)
        IMREC_TRY(add_label(l, word, &out->label_count, err));
    if (out->label_count == 0 || text_trim(out->path).n == 0)
        return refuse(l, line,
                      l->columns == 0 ? "is not id, labels and path, with tabs between"
                                      : "is not id, labels and path, with tabs between, once its "
                                        "last columns are taken off",
                      err);
    if (l->label_width != 0 && out->label_count != l->label_width)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, l->lines.offset,
                              "%s line %" PRIu64 ": %u labels, expected label_width=%u", l->name,
                              l->lines.number, out->label_count, l->label_width);
    if (memchr(out->path.p, '\0', out->path.n) != NULL)
        return refuse(l, out->path, "is not a path: it holds a NUL byte", err);
    out->labels = l->labels;
    return IMREC_OK;
}

enum imrec_status
image_list_next(struct image_list *l, struct image_list_entry *out, struct imrec_error *err)
{
    struct bytes line;
    do
        if (!text_lines_next(&l->lines, &line))
            return IMREC_END;
    while (text_trim(line).n == 0);
    return parse_line(l, line, out, err);
}

static enum imrec_status check_writable(const struct image_list_entry *e, struct imrec_error *err)
{
    const char *why = e->path.n == 0 || text_trim(e->path).n == 0 ? "an empty path" : NULL;
    for (size_t i = 0; why == NULL && i < e->path.n; i++) {
        const uint8_t c = e->path.p[i];
        why = c == '\t'                ? "a tab in a path"
              : c == '\n' || c == '\r' ? "a line end in a path"
              : c == '\0'              ? "a NUL in a path"
                                       : NULL;
    }
    if (why == NULL && e->label_count == 0)
        why = "an image without a label";
    if (why == NULL)
        return IMREC_OK;
    return IMREC_REFUSE(err, "a list cannot hold %s: image %s", why, text_quote(e->path).s);
}

static enum imrec_status
write_fields(struct buf *out, const struct image_list_entry *e, struct imrec_error *err)
{
    char text[TEXT_FLOAT_BYTES + 1];
    IMREC_TRY(buf_append(out, text, text_from_u64(e->id, text), err));
    for (uint32_t i = 0; i < e->label_count; i++) {
        text[0] = '\t';
        IMREC_TRY(buf_append(out, text, 1 + text_from_float(e->labels[i], text + 1), err));
    }
    IMREC_TRY(buf_append(out, "\t", 1, err));
    IMREC_TRY(buf_append(out, e->path.p, e->path.n, err));
    return buf_append(out, "\n", 1, err);
}

enum imrec_status
image_list_write(struct buf *out, const struct image_list_entry *entry, struct imrec_error *err)
{
    const size_t before = out->n;
    IMREC_TRY(check_writable(entry, err));
    const enum imrec_status st = write_fields(out, entry, err);
    if (st != IMREC_OK)
        out->n = before;
    return st;
}
