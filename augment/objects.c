/* augment/objects.c - objects found in instance masks, bounded and numbered again. */
#include "augment/objects.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

/* ---- life --------------------------------------------------------------------------------- */

uint64_t object_room_bytes(uint32_t most)
{
    const uint64_t each = sizeof(struct object_pixels) + sizeof(uint16_t);
    return most == 0 ? 0 : ((uint64_t)most + 1) * each;
}

enum imrec_status object_room_init(struct object_room *r, uint32_t most, struct imrec_error *err)
{
    *r = (struct object_room){.most = most};
    if (most == 0)
        return IMREC_OK;
    r->found = imrec_realloc(NULL, (uint64_t)most + 1, sizeof(*r->found));
    r->becomes = imrec_realloc(NULL, (uint64_t)most + 1, sizeof(*r->becomes));
    return r->found != NULL && r->becomes != NULL
               ? IMREC_OK
               : IMREC_NO_MEMORY(err, "no memory for the masks of %u objects", most);
}

void object_room_free(struct object_room *r)
{
    IMREC_FREE(r->found, r->becomes);
    *r = (struct object_room){0};
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* The highest number of a label; a mask's higher values are nobody's. */
static uint32_t highest(const struct object_room *r, const struct det_label *l)
{
    const uint32_t count = det_label_count(l), top = count != 0 ? l->numbers[count - 1] : 0;
    return top < r->most ? top : r->most;
}

enum imrec_status objects_check(const struct augment_options *o, const struct det_label *l,
                                const char *whose, struct imrec_error *err)
{
    const uint32_t count = det_label_count(l), top = count != 0 ? l->numbers[count - 1] : 0;
    if (top <= UINT16_MAX && (o->ignore_label == 0 || top < o->ignore_label))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_DATA,
                      "%s has an object with the number %u, but ignore_label=%lld: its mask needs "
                      "numbers below ignore_label, which is at most 65535 (masks=uint16)",
                      whose, top, (long long)o->ignore_label);
}

void objects_renumber(struct object_room *r, struct det_label *l, uint32_t first, uint16_t ignore,
                      uint16_t *values, size_t n)
{
    const uint32_t top = highest(r, l), count = det_label_count(l);
    r->becomes[0] = 0;
    for (uint32_t i = 1; i <= top; i++)
        r->becomes[i] = ignore;
    for (uint32_t i = 0; i < count; i++) {
        r->becomes[l->numbers[i]] = (uint16_t)(first + i);
        l->numbers[i] = first + i;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = values[i] <= top ? r->becomes[values[i]] : ignore;
}

/* ---- pixels ------------------------------------------------------------------------------- */

static void add_run(struct object_pixels *p, uint32_t from, uint32_t to, uint32_t y)
{
    p->left = from < p->left ? from : p->left;
    p->right = to > p->right ? to : p->right;
    p->top = y < p->top ? y : p->top;
    p->bottom = y + 1;
    p->count += to - from;
}

void objects_find(struct object_room *r, const struct mask *m, uint32_t columns, uint32_t rows,
                  const struct det_label *l)
{
    const uint32_t top = highest(r, l);
    const struct object_pixels none = {UINT32_MAX, UINT32_MAX, 0, 0, 0, 0};
    for (uint32_t i = 0; i <= top; i++)
        r->found[i] = none;
    for (uint32_t y = 0; y < rows; y++) {
        const uint16_t *row = m->values + (size_t)y * m->width;
        for (uint32_t x = 0, end; x < columns; x = end) {
            for (end = x + 1; end < columns && row[end] == row[x]; end++)
                ;
            if (row[x] != 0 && row[x] <= top)
                add_run(&r->found[row[x]], x, end, y);
        }
    }
}

void objects_bound(const struct object_room *r, struct det_label *l, uint32_t columns,
                   uint32_t rows, float min_side)
{
    const uint32_t count = det_label_count(l);
    float *to = l->values + l->header;
    for (uint32_t i = 0; i < count; i++) {
        const struct object_pixels *p = &r->found[l->numbers[i]];
        if (p->count == 0 || (float)(p->right - p->left) < min_side ||
            (float)(p->bottom - p->top) < min_side)
            continue;
        float *const kept = to;
        to = det_label_keep(l, i, kept);
        kept[1] = (float)((double)p->left / columns);
        kept[2] = (float)((double)p->top / rows);
        kept[3] = (float)((double)p->right / columns);
        kept[4] = (float)((double)p->bottom / rows);
    }
    l->n = (uint32_t)(to - l->values);
}
