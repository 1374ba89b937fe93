/* minibatch/corpus/id_table.c */
#include "minibatch/corpus/id_table.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"

#include <inttypes.h>
#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
    const struct id_row *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static enum imrec_status
check_unique(const struct id_table *t, const struct corpus *c, struct imrec_error *err)
{
    for (uint64_t i = 1; i < t->rows; i++)
        if (t->row[i].key == t->row[i - 1].key)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "sequence id %" PRIu64 " is in %.160s twice (in the same file or "
                              "in two of one corpus); ids that join files must be unique",
                              t->row[i].key, c->o.file);
    return IMREC_OK;
}

enum imrec_status id_table_make(struct id_table *t, struct corpus *c, struct imrec_error *err)
{
    *t = (struct id_table){.rows = c->sequences};
    t->row = imrec_realloc(NULL, c->sequences, sizeof(*t->row));
    if (t->row == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the %" PRIu64 " ids of %.160s", c->sequences,
                               c->o.file);
    bool ascending = true;
    uint64_t n = 0;
    for (uint32_t b = 0; b < c->blocks; b++)
        for (uint32_t i = 0; i < c->block[b].sequences; i++, n++) {
            IMREC_TRY(corpus_key(c, b, i, &t->row[n].key, err));
            t->row[n].sequence = n;
            ascending &= n == 0 || t->row[n].key > t->row[n - 1].key;
        }
    if (ascending)
        return IMREC_OK;
    qsort(t->row, t->rows, sizeof(*t->row), by_key); /* equal ones are an error: any order does */
    return check_unique(t, c, err);
}

bool id_table_find(const struct id_table *t, uint64_t key, uint64_t *sequence)
{
    const uint64_t begin =
        first_at_least(t->row, sizeof(*t->row), offsetof(struct id_row, key), t->rows, key);
    if (begin == t->rows || t->row[begin].key != key)
        return false;
    *sequence = t->row[begin].sequence;
    return true;
}

void id_table_free(struct id_table *t)
{
    imrec_free(t->row);
    *t = (struct id_table){0};
}
