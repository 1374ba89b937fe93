#include "iter/label_table.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "formats/image_list.h"
#include "storage/source.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LIST_BYTES ((size_t)16 << 30)

struct room { /* of entries and labels */
    uint64_t entries, labels;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                          "no memory for the labels of path_imglist");
}

static uint64_t grown(uint64_t capacity, uint64_t need)
{
    const uint64_t twice = capacity != 0 ? 2 * capacity : 1024;
    return twice > need ? twice : need;
}

static enum imrec_status append(struct label_table *t, struct room *room, uint64_t id,
                                const float *labels, uint32_t n, struct imrec_error *err)
{
    if (t->count == room->entries) {
        const uint64_t more = grown(room->entries, t->count + 1);
        void *entries = imrec_realloc(t->entries, more, sizeof(*t->entries));
        if (entries == NULL)
            return no_memory(err);
        t->entries = entries;
        room->entries = more;
    }
    if (n > room->labels - t->label_count) {
        const uint64_t more = grown(room->labels, t->label_count + n);
        float *all = imrec_realloc(t->labels, more, sizeof(*all));
        if (all == NULL)
            return no_memory(err);
        t->labels = all;
        room->labels = more;
    }
    t->entries[t->count++] = (struct label_entry){id, t->label_count, n};
    memcpy(t->labels + t->label_count, labels, n * sizeof(*labels));
    t->label_count += n;
    t->widest = n > t->widest ? n : t->widest;
    return IMREC_OK;
}

static enum imrec_status parse(struct label_table *t, const char *uri, uint32_t width,
                               struct bytes text, struct imrec_error *err)
{
    struct image_list list = {0};
    struct image_list_entry entry;
    struct room room = {0, 0};
    enum imrec_status st;
    image_list_begin(&list, uri, 0, text, 0, 0);
    while ((st = image_list_next(&list, &entry, err)) == IMREC_OK) {
        if (entry.label_count < width)
            st = imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                                "%.300s: id %llu has %u labels, but label_width is %u", uri,
                                (unsigned long long)entry.id, entry.label_count, width);
        else
            st = append(t, &room, entry.id, entry.labels, width != 0 ? width : entry.label_count,
                        err);
        if (st != IMREC_OK)
            break;
    }
    image_list_end(&list);
    return st == IMREC_END ? IMREC_OK : st;
}

static int by_id(const void *a, const void *b)
{
    const struct label_entry *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static enum imrec_status sort(struct label_table *t, const char *uri, struct imrec_error *err)
{
    if (t->count != 0)
        qsort(t->entries, t->count, sizeof(*t->entries), by_id);
    for (uint64_t i = 1; i < t->count; i++)
        if (t->entries[i].id == t->entries[i - 1].id)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                                  "%.300s: id %llu is there twice; labels are looked up by id", uri,
                                  (unsigned long long)t->entries[i].id);
    return IMREC_OK;
}

enum imrec_status
label_table_load(struct label_table *t, const char *uri, uint32_t width, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    *t = (struct label_table){0};
    IMREC_TRY(source_load(uri, MAX_LIST_BYTES, &text, &n, err));
    enum imrec_status st = parse(t, uri, width, (struct bytes){text, n}, err);
    imrec_free(text);
    if (st == IMREC_OK)
        st = sort(t, uri, err);
    if (st != IMREC_OK)
        label_table_free(t);
    return st;
}

const float *label_table_find(const struct label_table *t, uint64_t id, uint32_t *n)
{
    const struct label_entry key = {id, 0, 0};
    const struct label_entry *e =
        t->count != 0 ? bsearch(&key, t->entries, t->count, sizeof(key), by_id) : NULL;
    if (e == NULL)
        return NULL;
    *n = e->count;
    return t->labels + e->first;
}

uint64_t label_table_memory(const struct label_table *t)
{
    return t->count * sizeof(*t->entries) + t->label_count * sizeof(*t->labels);
}

void label_table_free(struct label_table *t)
{
    imrec_free(t->entries);
    imrec_free(t->labels);
    *t = (struct label_table){0};
}
