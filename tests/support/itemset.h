/* tests/support/itemset.h - the made images of packing.h as items of a source: encoded bytes,
 * pixels and paths in turn, or of one kind alone. */
#ifndef IMREC_TESTS_ITEMSET_H
#define IMREC_TESTS_ITEMSET_H

#include "imrec/pack_items.h"
#include "tests/support/packing.h"

#include <inttypes.h>

enum { ITEM_BYTES, ITEM_PIXELS, ITEM_PATHS, ITEM_KINDS, ITEM_MIXED = ITEM_KINDS };

struct itemset {
    struct packing *p;
    struct imrec_pack_source source;
    int kind;
    uint64_t count, next; /* items; the one that comes */
    double labels[8];     /* of the item that came last */
    uint32_t label_count;
    char path[64], name[80];
    struct bytes file;
    uint8_t pixels[60 * 40 * 4];
    /* What goes wrong, and where: UINT64_MAX for nowhere. */
    uint64_t fails_at, odd_at, refused_at;
    double odd_label;
    uint32_t odd_count;
    enum imrec_status status;
};

static inline void itemset_forget(struct itemset *s)
{
    free((void *)(uintptr_t)s->file.p);
    s->file = (struct bytes){NULL, 0};
}

/* Pixels of item i, channels 1, 3, 4 in turn; what lies behind a row's end is none of its. */
static inline struct imrec_image itemset_pixels(struct itemset *s, uint64_t i)
{
    const uint32_t channels = i % 3 == 0 ? 1 : 2 + (uint32_t)(i % 3);
    for (size_t k = 0; k < sizeof(s->pixels); k++)
        s->pixels[k] = (uint8_t)(k * 31 + i * 7 + k / 240 * 5);
    return (struct imrec_image){s->pixels, 240, 30 + (uint32_t)(i % 7), 33, channels};
}

static inline enum imrec_status
itemset_next(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    struct itemset *s = user;
    const uint64_t i = s->next;
    const int kind = s->kind == ITEM_MIXED ? (int)(i % ITEM_KINDS) : s->kind;
    if (i == s->fails_at) {
        *err = (struct imrec_error){.status = s->status, .sys_errno = 42, .offset = 7};
        snprintf(err->message, sizeof(err->message), "the caller's own words");
        return s->status;
    }
    if (i == s->count)
        return IMREC_END;
    s->next++;
    itemset_forget(s);
    snprintf(s->path, sizeof(s->path), "%s/%02u.jpg",
             (const char *const[]){"ant", "bee", "cow"}[i / MADE_EACH % MADE_CLASSES],
             (unsigned)(i % MADE_EACH));
    snprintf(s->name, sizeof(s->name), "source/%s", s->path);
    if (kind == ITEM_BYTES) {
        s->file = read_whole(tmp_path(&s->p->dir, s->name));
        item->bytes = s->file.p;
        item->byte_count = s->file.n;
    } else if (kind == ITEM_PIXELS) {
        item->pixels = itemset_pixels(s, i);
    } else {
        item->path = s->path;
    }
    for (uint32_t k = 0; k < s->label_count; k++)
        s->labels[k] = (double)(i / MADE_EACH % MADE_CLASSES) + 10 * k;
    item->label_count = i == s->odd_at ? s->odd_count : s->label_count;
    if (i == s->odd_at)
        s->labels[0] = s->odd_label;
    item->labels = s->labels;
    item->id = i;
    item->name = s->path;
    item->refused = i == s->refused_at ? "the source has lost it" : NULL;
    return IMREC_OK;
}

static inline void itemset_make(struct itemset *s, struct packing *p, int kind)
{
    memset(s, 0, sizeof(*s));
    s->p = p;
    s->kind = kind;
    s->count = MADE_GOOD;
    s->label_count = s->odd_count = 1;
    s->fails_at = s->odd_at = s->refused_at = UINT64_MAX;
    imrec_pack_source_init(&s->source);
    s->source.next = itemset_next;
    s->source.user = s;
}

/* Packs them into OUT, a path or URI, from the first. */
static inline enum imrec_status itemset_run(struct itemset *s, const char *out)
{
    char kept[512];
    const struct imrec_pack_task task = {.root = s->p->source, .out = kept};
    snprintf(kept, sizeof(kept), "%s", out);
    s->next = 0;
    const enum imrec_status st =
        imrec_pack_items(&task, &s->source, &s->p->o, &s->p->result, &s->p->err);
    itemset_forget(s);
    return st;
}

/* Names of the folder but those that begin with `but`, and "source". */
static inline int files_but(const struct packing *p, const char *but)
{
    DIR *d = opendir(p->dir.path);
    int n = 0;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.' && strcmp(e->d_name, "source") != 0 &&
             (but == NULL || strncmp(e->d_name, but, strlen(but)) != 0);
    if (d != NULL)
        closedir(d);
    return n;
}
#endif
