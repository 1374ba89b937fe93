/* dataset/transfer/feature_list.c */
#include "dataset/transfer/feature_list.h"

#include "base/error.h"
#include "formats/field_file.h"
#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct kind {
    const char *word;
    enum feature_role role;
    enum example_type type;
} kinds[] = {
    {"image", FEATURE_IMAGE, EXAMPLE_BYTES},      {"mask", FEATURE_MASK, EXAMPLE_BYTES},
    {"label.int64", FEATURE_LABEL, EXAMPLE_INTS}, {"label.float", FEATURE_LABEL, EXAMPLE_FLOATS},
    {"label.none", FEATURE_LABEL, EXAMPLE_NONE},  {"int64", FEATURE_FIELD, EXAMPLE_INTS},
    {"float", FEATURE_FIELD, EXAMPLE_FLOATS},     {"none", FEATURE_FIELD, EXAMPLE_NONE},
    {"bytes", FEATURE_FIELD, EXAMPLE_BYTES},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static bool is_kind(const struct kind *k, const struct feature_word *f)
{
    const bool bytes = f->role == FEATURE_IMAGE || f->role == FEATURE_MASK;
    return k->role == f->role && (bytes || k->type == f->type);
}

enum imrec_status
feature_list_add(struct buf *text, const struct feature_word *f, struct imrec_error *err)
{
    char head[64], count[24] = "";
    size_t k = 0;
    while (k + 1 < KINDS && !is_kind(&kinds[k], f))
        k++;
    if (f->role == FEATURE_FIELD && f->type == EXAMPLE_BYTES && f->count != 1)
        (void)snprintf(count, sizeof(count), ".%" PRIu64, f->count);
    const int n =
        snprintf(head, sizeof(head), "%s%s%s:", text->n != 0 ? " " : "", kinds[k].word, count);
    IMREC_TRY(buf_append(text, head, (size_t)n, err));
    return word_write(text, f->name, err);
}

static bool is(struct bytes b, const char *word)
{
    return b.n == strlen(word) && memcmp(b.p, word, b.n) == 0;
}

/* "bytes.3": that many values. */
static bool read_many(struct bytes kind, struct feature_word *out)
{
    static const char many[] = "bytes.";
    const size_t n = sizeof(many) - 1;
    out->role = FEATURE_FIELD;
    out->type = EXAMPLE_BYTES;
    return kind.n > n && memcmp(kind.p, many, n) == 0 &&
           text_to_u64((struct bytes){kind.p + n, kind.n - n}, &out->count);
}

static bool read_kind(struct bytes kind, struct feature_word *out)
{
    for (size_t k = 0; k < KINDS; k++)
        if (is(kind, kinds[k].word)) {
            out->role = kinds[k].role;
            out->type = kinds[k].type;
            out->count = 1;
            return true;
        }
    return read_many(kind, out);
}

bool feature_list_next(struct bytes *left, struct feature_word *out)
{
    const uint8_t *blank = memchr(left->p, ' ', left->n);
    const size_t n = blank != NULL ? (size_t)(blank - left->p) : left->n;
    const uint8_t *colon = n != 0 ? memchr(left->p, ':', n) : NULL;
    if (colon == NULL || n + 1 == left->n) /* a blank at the end */
        return false;
    const size_t kind = (size_t)(colon - left->p);
    const struct bytes word = {left->p, kind};
    out->name = (struct bytes){colon + 1, n - kind - 1};
    *left = (struct bytes){left->p + n + (blank != NULL), left->n - n - (blank != NULL)};
    return read_kind(word, out);
}
