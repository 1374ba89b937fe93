/* storage/cache/cache_contents.c - what a cache has, for people: shown, checked, emptied. */
#define _GNU_SOURCE /* ftruncate() */
#include "base/alloc.h"
#include "base/error.h"
#include "storage/cache/cache_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_MS 30000

struct piece { /* a place that is in use */
    struct cache_object object;
    uint64_t place, bytes;
    bool broken;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to look into a cache");
}

static enum imrec_status
failed(const struct cache *c, const char *what, int code, struct imrec_error *err)
{
    imrec_fail(err, IMREC_ERR_IO, "cache: %.300s: %s: %s", c->path, what, strerror(code));
    imrec_error_errno(err, code);
    return IMREC_ERR_IO;
}

/* A place that looks broken may be one that somebody writes at the moment. */
static enum cache_found look(struct cache *c, uint64_t place, bool check, struct cache_block *b)
{
    enum cache_found found = cache_look(c, place, check, b);
    if (found == CACHE_BROKEN && cache_lock(c, LOCK_MS)) {
        found = cache_look(c, place, check, b);
        cache_unlock(c);
    }
    return found;
}

static int by_object(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    const int order = memcmp(&x->object, &y->object, sizeof(x->object));
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct cache_kept *)a)->name, ((const struct cache_kept *)b)->name);
}

/* The name at a place; "?" of one that is damaged. */
static char *name_at(const struct cache *c, uint64_t place)
{
    struct cache_name n;
    const bool good =
        cache_pread(c, &n, sizeof(n), cache_place_at(c, place) + sizeof(struct cache_head)) &&
        n.bytes <= sizeof(n.text) && n.crc == cache_name_crc(&n);
    return good ? imrec_joined(n.text, strnlen(n.text, n.bytes), "") : imrec_joined("?", 1, "");
}

static enum imrec_status group(const struct cache *c, const struct piece *p, uint64_t n,
                               struct cache_contents *out, struct imrec_error *err)
{
    uint64_t room = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (i == 0 || memcmp(&p[i].object, &p[i - 1].object, sizeof(p->object)) != 0) {
            if (!IMREC_GROW(out->kept, room, out->count + 1))
                return no_memory(err);
            out->kept[out->count] = (struct cache_kept){.name = name_at(c, p[i].place)};
            if (out->kept[out->count++].name == NULL)
                return no_memory(err);
        }
        struct cache_kept *k = &out->kept[out->count - 1];
        k->bytes += p[i].bytes;
        k->blocks++;
        k->broken += p[i].broken;
        out->bytes += p[i].bytes;
        out->blocks++;
    }
    if (out->count != 0)
        qsort(out->kept, out->count, sizeof(*out->kept), by_name);
    return IMREC_OK;
}

static enum imrec_status
read_all(struct cache *c, bool check, struct cache_contents *out, struct imrec_error *err)
{
    struct cache_header h;
    struct cache_block b;
    uint64_t n = 0;
    if (!cache_read_header(c, &h))
        return failed(c, "its header cannot be read", EIO, err);
    const uint64_t used = h.used < c->places ? h.used : c->places;
    struct piece *p = imrec_realloc(NULL, used != 0 ? used : 1, sizeof(*p));
    if (p == NULL)
        return no_memory(err);
    enum imrec_status st = IMREC_OK;
    for (uint64_t place = 1; place <= used && st == IMREC_OK; place++) {
        const enum cache_found found = look(c, place, check, &b);
        if (found == CACHE_NO_MEMORY)
            st = no_memory(err);
        out->broken += found == CACHE_BROKEN;
        if (st == IMREC_OK && found != CACHE_MISS && b.bytes <= BLOCK_BYTES)
            p[n++] = (struct piece){b.object, place, b.bytes, found == CACHE_BROKEN};
    }
    qsort(p, n, sizeof(*p), by_object);
    if (st == IMREC_OK)
        st = group(c, p, n, out, err);
    imrec_free(p);
    return st;
}

static enum imrec_status
read_file(const struct cache *c, struct cache_contents *out, struct imrec_error *err)
{
    struct stat s;
    if (fstat(c->fd, &s) != 0)
        return failed(c, "it cannot be looked at", errno, err);
    out->bound = c->bound;
    out->disk_bytes = (uint64_t)s.st_blocks * 512;
    out->path = imrec_joined(c->path, strlen(c->path), "");
    return out->path != NULL ? IMREC_OK : no_memory(err);
}

enum imrec_status cache_contents_read(const char *folder, bool check, struct cache_contents *out,
                                      struct imrec_error *err)
{
    struct cache *c;
    *out = (struct cache_contents){0};
    IMREC_TRY(cache_open_old(folder, &c, err));
    enum imrec_status st = read_file(c, out, err);
    if (st == IMREC_OK)
        st = read_all(c, check, out, err);
    if (st != IMREC_OK)
        cache_contents_free(out);
    cache_close(c);
    return st;
}

void cache_contents_free(struct cache_contents *c)
{
    for (size_t i = 0; i < c->count; i++)
        imrec_free(c->kept[i].name);
    IMREC_FREE(c->kept, c->path);
    *c = (struct cache_contents){0};
}

/* In this order: killed in between, it has the same bound, and what the index still names is
 * another block, or none, which readers see. */
static enum imrec_status empty(struct cache *c, struct imrec_error *err)
{
    const uint64_t all = cache_place_at(c, c->places + 1);
    if (!cache_write_header(c, 0) || ftruncate(c->fd, HEADER_BYTES) != 0 ||
        ftruncate(c->fd, (off_t)all) != 0)
        return failed(c, "it cannot be emptied", errno, err);
    return IMREC_OK;
}

enum imrec_status cache_empty(const char *folder, struct imrec_error *err)
{
    struct cache *c;
    IMREC_TRY(cache_open_old(folder, &c, err));
    enum imrec_status st = IMREC_OK;
    if (!cache_lock(c, LOCK_MS))
        st = failed(c, "it cannot be locked", errno, err);
    if (st == IMREC_OK) {
        st = empty(c, err);
        cache_unlock(c);
    }
    cache_close(c);
    return st;
}
