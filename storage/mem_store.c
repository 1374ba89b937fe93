/* storage/mem_store.c - named objects in memory, counted by who uses them. */
#include "storage/mem.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/fnv.h"
#include "base/threads.h"
#include "storage/schemes.h"
#include "storage/store/entries.h"
#include "storage/store/io_error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct object {
    struct object *next;
    char *name;
    uint8_t *bytes; /* never changed while it is in the list */
    size_t n;
    uint32_t users; /* the list, and every source */
};

static struct mutex g_lock = MUTEX_INIT;
static struct object *g_objects;

/* ---- the list; g_lock is held -------------------------------------------------------------- */

static void let_go(struct object *o)
{
    if (--o->users == 0)
        IMREC_FREE(o->bytes, o->name, o);
}

static struct object **place_of(const char *name)
{
    struct object **at = &g_objects;
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static void take_out(struct object **at)
{
    struct object *o = *at;
    if (o == NULL)
        return;
    *at = o->next;
    let_go(o);
}

static void put_in(struct object *o)
{
    take_out(place_of(o->name));
    o->next = g_objects;
    g_objects = o;
}

/* ---- helpers -------------------------------------------------------------------------------- */

static enum imrec_status no_memory(const char *name, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "mem://%s: no memory for it", name);
}

/* A new object with these bytes. */
static enum imrec_status
add(const char *name, const char *suffix, const void *bytes, size_t n, struct imrec_error *err)
{
    struct object *o = imrec_zalloc(1, sizeof(*o));
    char *text = imrec_joined(name, strlen(name), suffix);
    uint8_t *copy = imrec_realloc(NULL, n + 1, 1);
    if (o == NULL || text == NULL || copy == NULL) {
        IMREC_FREE(text, o, copy);
        return no_memory(name, err);
    }
    if (n != 0)
        memcpy(copy, bytes, n);
    *o = (struct object){NULL, text, copy, n, 1};
    mutex_lock(&g_lock);
    put_in(o);
    mutex_unlock(&g_lock);
    return IMREC_OK;
}

enum imrec_status mem_put(const char *name, const void *bytes, size_t n, struct imrec_error *err)
{
    return add(name, "", bytes, n, err);
}

void mem_clear(void)
{
    mutex_lock(&g_lock);
    while (g_objects != NULL)
        take_out(&g_objects);
    mutex_unlock(&g_lock);
}

/* ---- sources -------------------------------------------------------------------------------- */

struct mem_source {
    struct source base; /* first */
    struct object *object;
};

static enum imrec_status
mem_read_at(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    (void)err; /* source_read() has checked the range */
    memcpy(to, ((struct mem_source *)s)->object->bytes + offset, n);
    return IMREC_OK;
}

static void mem_source_close(struct source *s)
{
    mutex_lock(&g_lock);
    let_go(((struct mem_source *)s)->object);
    mutex_unlock(&g_lock);
    imrec_free(s);
}

static const struct source_ops mem_source_ops = {.read_at = mem_read_at, .close = mem_source_close};

static enum imrec_status mem_open(const char *name, struct source **out, struct imrec_error *err)
{
    struct mem_source *s = imrec_zalloc(1, sizeof(*s));
    if (s == NULL)
        return no_memory(name, err);
    mutex_lock(&g_lock);
    s->object = *place_of(name);
    if (s->object != NULL)
        s->object->users++;
    mutex_unlock(&g_lock);
    if (s->object == NULL) {
        imrec_free(s);
        imrec_fail(err, IMREC_ERR_IO, "mem://%s: no such object", name);
        imrec_error_errno(err, ENOENT);
        return IMREC_ERR_IO;
    }
    s->base = (struct source){.size = s->object->n, .ops = &mem_source_ops};
    *out = &s->base;
    return IMREC_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct mem_out {
    struct out base; /* first */
    char *name;
    struct buf buf;
};

static enum imrec_status mem_write(struct out *o, const void *p, size_t n, struct imrec_error *err)
{
    return buf_append(&((struct mem_out *)o)->buf, p, n, err);
}

static enum imrec_status mem_sync(struct out *o, struct imrec_error *err)
{
    const struct mem_out *m = (struct mem_out *)o;
    return add(m->name, ".part", m->buf.p, m->buf.n, err);
}

static void mem_out_close(struct out *o, bool remove)
{
    struct mem_out *m = (struct mem_out *)o;
    if (!remove) {
        (void)mem_sync(o, NULL); /* no memory: found missing by the resume */
    } else {
        char *part = imrec_joined(m->name, strlen(m->name), ".part");
        mutex_lock(&g_lock);
        if (part != NULL)
            take_out(place_of(part));
        mutex_unlock(&g_lock);
        imrec_free(part);
    }
    buf_free(&m->buf);
    IMREC_FREE(m->name, m);
}

static const struct out_ops mem_out_ops = {mem_write, mem_sync, NULL, mem_out_close};

static enum imrec_status
resume_from(struct mem_out *m, const char *part, uint64_t size, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    mutex_lock(&g_lock);
    const struct object *o = *place_of(part);
    if (o == NULL || o->n < size)
        st = imrec_fail(err, IMREC_ERR_IO,
                        "mem://%s: has %zu bytes; resuming needs the first %" PRIu64, part,
                        o == NULL ? 0 : o->n, size);
    else
        st = buf_append(&m->buf, o->bytes, (size_t)size, err);
    mutex_unlock(&g_lock);
    return st;
}

static enum imrec_status
mem_out_open(const char *name, uint64_t size, struct out **out, struct imrec_error *err)
{
    struct mem_out *m = imrec_zalloc(1, sizeof(*m));
    char *copy = imrec_joined(name, strlen(name), ""),
         *part = imrec_joined(name, strlen(name), ".part");
    enum imrec_status st = IMREC_OK;
    if (m == NULL || copy == NULL || part == NULL)
        st = no_memory(name, err);
    else
        *m = (struct mem_out){{&mem_out_ops}, copy, BUF_INIT(SIZE_MAX / 4)};
    if (st == IMREC_OK && size != STORE_NEW)
        st = resume_from(m, part, size, err);
    imrec_free(part);
    if (st != IMREC_OK) {
        IMREC_FREE(copy, m);
        return st;
    }
    *out = &m->base;
    return IMREC_OK;
}

static enum imrec_status mem_publish(const char *name, const char *as, struct imrec_error *err)
{
    char *part = imrec_joined(name, strlen(name), ".part"),
         *final = imrec_joined(as, strlen(as), "");
    struct object *o = NULL;
    if (part == NULL || final == NULL) {
        IMREC_FREE(part, final);
        return no_memory(name, err);
    }
    mutex_lock(&g_lock);
    struct object **at = place_of(part);
    o = *at;
    if (o != NULL) {
        *at = o->next;
        imrec_free(o->name);
        o->name = final;
        put_in(o);
    }
    mutex_unlock(&g_lock);
    imrec_free(part);
    if (o != NULL)
        return IMREC_OK;
    imrec_free(final);
    return imrec_fail(err, IMREC_ERR_IO, "mem://%s: nothing to publish", name);
}

/* ---- folders: the part of a name before a '/' -------------------------------------------- */

/* Of the object `rest` below the folder: it, or the folder in between. */
static enum imrec_status note_entry(struct entries *to, const char *rest)
{
    const size_t n = strcspn(rest, "/");
    const enum folder_kind kind = rest[n] == '/' ? FOLDER_FOLDER : FOLDER_FILE;
    if (n == 0 || entries_has(to, kind, rest, n))
        return IMREC_OK; /* "a//b" is in no folder's list */
    return entries_add(to, kind, rest, n);
}

/* n bytes of the folder's name, which a '/' follows in those of its objects; 0: all objects. */
static enum imrec_status note_entries(struct entries *to, const char *name, size_t n)
{
    enum imrec_status st = IMREC_OK;
    mutex_lock(&g_lock);
    for (const struct object *o = g_objects; o != NULL && st == IMREC_OK; o = o->next)
        if (n == 0 || (strncmp(o->name, name, n) == 0 && o->name[n] == '/'))
            st = note_entry(to, o->name + (n != 0 ? n + 1 : 0));
    mutex_unlock(&g_lock);
    return st;
}

static enum imrec_status
mem_open_folder(const char *name, struct folder **out, struct imrec_error *err)
{
    struct entries_folder *f = entries_folder_new();
    size_t n = strlen(name);
    *out = NULL;
    if (f == NULL)
        return no_memory(name, err);
    while (n > 0 && name[n - 1] == '/')
        n--;
    f->base.number = fnv1a(FNV_START, name, n);
    enum imrec_status st = note_entries(&f->entries, name, n);
    if (st != IMREC_OK)
        st = no_memory(name, err);
    else if (f->entries.bytes.n == 0) {
        st = imrec_fail(err, IMREC_ERR_IO, "mem://%s: no such folder", name);
        imrec_error_errno(err, ENOENT);
    }
    if (st == IMREC_OK)
        *out = &f->base;
    else
        f->base.ops->close(&f->base);
    return st;
}

static enum imrec_status mem_exists(const char *name, bool *there, struct imrec_error *err)
{
    (void)err;
    mutex_lock(&g_lock);
    *there = *place_of(name) != NULL;
    mutex_unlock(&g_lock);
    return IMREC_OK;
}

static enum imrec_status mem_remove(const char *name, struct imrec_error *err)
{
    (void)err;
    mutex_lock(&g_lock);
    take_out(place_of(name));
    mutex_unlock(&g_lock);
    return IMREC_OK;
}

/* ---- locks: of this process, as the objects are ------------------------------------------- */

struct mem_lock {
    struct lock base; /* first */
    struct mem_lock *next;
    char name[];
};

static struct mem_lock *g_locks;

static enum imrec_status held(const char *name, struct imrec_error *err)
{
    imrec_fail(err, IMREC_ERR_IO,
               "mem://%s is held by another call of this process, which writes the objects of "
               "this name now",
               name);
    imrec_error_errno(err, EBUSY);
    return IMREC_ERR_IO;
}

static enum imrec_status mem_lock(const char *name, struct lock **out, struct imrec_error *err)
{
    const size_t n = strlen(name) + 1;
    struct mem_lock *l = imrec_zalloc(1, sizeof(*l) + n);
    if (l == NULL)
        return no_memory(name, err);
    memcpy(l->name, name, n);
    mutex_lock(&g_lock);
    const struct mem_lock *other = g_locks;
    while (other != NULL && strcmp(other->name, name) != 0)
        other = other->next;
    if (other == NULL) {
        l->next = g_locks;
        g_locks = l;
    }
    mutex_unlock(&g_lock);
    if (other == NULL) {
        *out = &l->base;
        return IMREC_OK;
    }
    imrec_free(l);
    return held(name, err);
}

static void mem_unlock(struct lock *lock)
{
    struct mem_lock **at = &g_locks;
    mutex_lock(&g_lock);
    while (&(*at)->base != lock)
        at = &(*at)->next;
    *at = (*at)->next;
    mutex_unlock(&g_lock);
    imrec_free(lock);
}

const struct store mem_store = {
    .scheme = "mem://",
    .open_source = mem_open,
    .open_out = mem_out_open,
    .publish = mem_publish,
    .open_folder = mem_open_folder,
    .exists = mem_exists,
    .remove = mem_remove,
    .lock = mem_lock,
    .unlock = mem_unlock,
};
