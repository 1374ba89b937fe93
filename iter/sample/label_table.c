/* iter/sample/label_table.c - labels of a .lst by image id. */
#include "iter/sample/label_table.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "storage/source.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LIST_BYTES ((size_t)16 << 30)

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the labels of path_imglist");
}

static enum imrec_status append(struct label_table *t, const struct image_list_entry *e,
                                const union list_label *typed, uint32_t n, struct imrec_error *err)
{
    if (!IMREC_GROW(t->entries, t->entry_room, t->count + 1) ||
        !IMREC_GROW(t->labels, t->label_room, t->label_count + n))
        return no_memory(err);
    memcpy(t->labels + t->label_count, e->labels, n * sizeof(*t->labels));
    if (typed != NULL) {
        if (!IMREC_GROW(t->exact, t->exact_room, t->label_count + n))
            return no_memory(err);
        memcpy(t->exact + t->label_count, typed, n * sizeof(*t->exact));
    }
    t->entries[t->count++] = (struct label_entry){e->id, t->label_count, n};
    t->label_count += n;
    t->widest = n > t->widest ? n : t->widest;
    return IMREC_OK;
}

static enum imrec_status parse(struct label_table *t, const char *uri, uint32_t width,
                               enum list_labels type, struct bytes text, struct imrec_error *err)
{
    struct image_list list = {0};
    struct image_list_entry entry;
    enum imrec_status st;
    image_list_begin(&list, uri, 0, text, 0, 0);
    list.type = type;
    list.typed = width;
    while ((st = image_list_next(&list, &entry, err)) == IMREC_OK) {
        if (entry.label_count < width)
            st = imrec_fail(err, IMREC_ERR_CORRUPT,
                            "%.300s: id %llu has %u labels, but label_width is %u", uri,
                            (unsigned long long)entry.id, entry.label_count, width);
        else
            st = append(t, &entry, list.exact, width != 0 ? width : entry.label_count, err);
        if (st != IMREC_OK)
            break;
    }
    image_list_end(&list);
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status sort(struct label_table *t, const char *uri, struct imrec_error *err)
{
    if (t->count != 0)
        qsort(t->entries, t->count, sizeof(*t->entries), by_u64); /* by id */
    for (uint64_t i = 1; i < t->count; i++)
        if (t->entries[i].id == t->entries[i - 1].id)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "%.300s: id %llu is there twice; labels are looked up by id", uri,
                              (unsigned long long)t->entries[i].id);
    return IMREC_OK;
}

enum imrec_status label_table_load(struct label_table *t, const char *uri, uint32_t width,
                                   enum list_labels type, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    *t = (struct label_table){0};
    IMREC_TRY(source_load(uri, MAX_LIST_BYTES, &text, &n, err));
    enum imrec_status st = parse(t, uri, width, type, (struct bytes){text, n}, err);
    imrec_free(text);
    if (st == IMREC_OK)
        st = sort(t, uri, err);
    if (st != IMREC_OK)
        label_table_free(t);
    return st;
}

const struct label_entry *label_table_find(const struct label_table *t, uint64_t id)
{
    return t->count != 0 ? bsearch(&id, t->entries, t->count, sizeof(*t->entries), by_u64) : NULL;
}

uint64_t label_table_memory(const struct label_table *t)
{
    const size_t label = sizeof(*t->labels) + (t->exact != NULL ? sizeof(*t->exact) : 0);
    return t->count * sizeof(*t->entries) + t->label_count * label;
}

void label_table_free(struct label_table *t)
{
    IMREC_FREE(t->entries, t->labels, t->exact);
    *t = (struct label_table){0};
}
