/* im2rec/reshape/label_lines.c */
#include "im2rec/reshape/label_lines.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/set/image_list.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX_BYTES ((size_t)1 << 36)

static enum imrec_status
add(struct label_lines *l, const struct image_list_entry *e, struct imrec_error *err)
{
    if (!IMREC_GROW(l->line, l->room, l->count + 1) ||
        !IMREC_GROW(l->labels, l->label_room, l->label_count + e->label_count))
        return IMREC_NO_MEMORY(err, "no memory for labels");
    l->line[l->count++] = (struct label_line){e->id, l->label_count, e->label_count, false};
    memcpy(l->labels + l->label_count, e->labels, e->label_count * sizeof(float));
    l->label_count += e->label_count;
    return IMREC_OK;
}

static int by_id(const void *a, const void *b)
{
    const uint64_t x = ((const struct label_line *)a)->id, y = ((const struct label_line *)b)->id;
    return (x > y) - (x < y);
}

static enum imrec_status
parse(struct label_lines *l, const char *path, struct bytes text, struct imrec_error *err)
{
    struct image_list list = {0};
    struct image_list_entry e;
    enum imrec_status st;
    image_list_begin(&list, path, 0, text, 0, 0);
    list.type = LIST_LABELS_FLOAT32; /* as the records hold them */
    list.packs = true;
    while ((st = image_list_next(&list, &e, err)) == IMREC_OK && (st = add(l, &e, err)) == IMREC_OK)
        ;
    image_list_end(&list);
    if (st != IMREC_END)
        return st;
    if (l->count != 0)
        qsort(l->line, l->count, sizeof(*l->line), by_id);
    for (size_t i = 1; i < l->count; i++)
        if (l->line[i].id == l->line[i - 1].id)
            return imrec_fail(err, IMREC_ERR_CORRUPT, "%s has two lines of the id %" PRIu64, path,
                              l->line[i].id);
    return IMREC_OK;
}

enum imrec_status
label_lines_load(const char *path, struct label_lines *out, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    *out = (struct label_lines){0};
    IMREC_TRY(source_load(path, LIST_MAX_BYTES, &text, &n, err));
    const enum imrec_status st = parse(out, path, (struct bytes){text, n}, err);
    imrec_free(text);
    if (st != IMREC_OK)
        label_lines_free(out);
    return st;
}

void label_lines_free(struct label_lines *l)
{
    IMREC_FREE(l->line, l->labels);
    *l = (struct label_lines){0};
}

struct label_line *label_lines_find(const struct label_lines *l, uint64_t id)
{
    const struct label_line key = {.id = id};
    return l->count != 0 ? bsearch(&key, l->line, l->count, sizeof(key), by_id) : NULL;
}

uint64_t label_lines_unused(const struct label_lines *l)
{
    uint64_t n = 0;
    for (size_t i = 0; i < l->count; i++)
        n += !l->line[i].used;
    return n;
}
