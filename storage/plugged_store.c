/*
 * storage/plugged_store.c - a user's store as one of ours.
 *
 * One struct store serves all: the name that it is given is the whole URI, whose scheme tells which
 * of the table it is. The temporary object of NAME is the user's object NAME.part. Every callback
 * is called without a lock of ours, with an error of its own, and what it says is checked.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fnv.h"
#include "base/log.h"
#include "base/threads.h"
#include "storage/plugged_table.h"
#include "storage/schemes.h"
#include "storage/store/entries.h"
#include "storage/store/scope.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define PART_SUFFIX ".part"

static enum imrec_status no_memory(const char *uri, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "%s: no memory for it", uri);
}

static enum imrec_status cannot(const char *uri, const char *what, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "%s: its store cannot %s (imrec/store.h); give a path or file://", uri, what);
}

static struct imrec_error unsaid(void)
{
    return (struct imrec_error){.offset = IMREC_NO_OFFSET};
}

/* The store of a URI, if it can be written to. */
static enum imrec_status
writer_of(const char *uri, struct plugged **out, const char **name, struct imrec_error *err)
{
    IMREC_TRY(plugged_use(uri, out, name, err));
    if ((*out)->calls.create != NULL)
        return IMREC_OK;
    plugged_release(*out);
    return cannot(uri, "be written to", err);
}

/* ---- reading -------------------------------------------------------------------------------- */

struct plugged_source {
    struct source base; /* first */
    struct plugged *store;
    struct traffic *traffic; /* of the scope that opened it */
    void *object;
    char name[];
};

static enum imrec_status
plugged_read_at(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct plugged_source *f = (struct plugged_source *)s;
    struct imrec_error why = unsaid();
    const uint64_t since_ns = clock_ns();
    why.offset = offset;
    const enum imrec_status st =
        f->store->calls.read_at(f->store->user, f->object, offset, to, n, &why);
    traffic_request(f->traffic, st == IMREC_OK ? n : 0);
    traffic_waited(f->traffic, since_ns);
    return st == IMREC_OK ? st : plugged_blame(f->store, f->name, "read_at", st, &why, err);
}

static void plugged_close(struct source *s)
{
    struct plugged_source *f = (struct plugged_source *)s;
    f->store->calls.close(f->store->user, f->object);
    plugged_release(f->store);
    imrec_free(f);
}

static const struct source_ops plugged_source_ops = {.read_at = plugged_read_at,
                                                     .close = plugged_close};

static enum imrec_status plugged_open(const char *uri, struct source **out, struct imrec_error *err)
{
    struct imrec_error why = unsaid();
    struct plugged *p;
    const char *name;
    *out = NULL;
    IMREC_TRY(plugged_use(uri, &p, &name, err));
    struct plugged_source *f = imrec_zalloc(1, sizeof(*f) + strlen(name) + 1);
    enum imrec_status st;
    if (f == NULL) {
        st = no_memory(uri, err);
    } else {
        *f = (struct plugged_source){
            .base.ops = &plugged_source_ops, .store = p, .traffic = store_scope_traffic()};
        memcpy(f->name, name, strlen(name) + 1);
        st = p->calls.open(p->user, name, &f->object, &f->base.size, &f->base.modified, &why);
        if (st != IMREC_OK)
            st = plugged_blame(p, name, "open", st, &why, err);
    }
    if (st == IMREC_OK) {
        *out = &f->base;
        return IMREC_OK;
    }
    imrec_free(f);
    plugged_release(p);
    return st;
}

static enum imrec_status plugged_exists(const char *uri, bool *there, struct imrec_error *err)
{
    struct source *s;
    struct imrec_error why = {0};
    const enum imrec_status st = plugged_open(uri, &s, &why);
    *there = st == IMREC_OK;
    if (*there)
        plugged_close(s);
    if (*there || (st == IMREC_ERR_IO && why.sys_errno == ENOENT))
        return IMREC_OK;
    if (err != NULL)
        *err = why;
    return st;
}

/* ---- folders -------------------------------------------------------------------------------- */

/* A name must not lead out of its folder. */
static enum imrec_status
note_entry(void *to, const char *name, bool is_folder, struct imrec_error *err)
{
    if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return IMREC_REFUSE(err, "lists the entry '%.200s', which is no name in a folder",
                            name == NULL ? "NULL" : name);
    if (entries_add(to, is_folder ? FOLDER_FOLDER : FOLDER_FILE, name, strlen(name)) != IMREC_OK)
        return IMREC_NO_MEMORY(err, "no memory for a listing");
    return IMREC_OK;
}

static enum imrec_status list_into(const struct plugged *p, const char *folder,
                                   struct entries *entries, struct imrec_error *err)
{
    struct imrec_error why = unsaid();
    const enum imrec_status st = p->calls.list(p->user, folder, note_entry, entries, &why);
    if (st != IMREC_OK)
        return plugged_blame(p, folder, "list", st, &why, err);
    if (entries->bytes.n != 0)
        return IMREC_OK;
    imrec_fail(err, IMREC_ERR_IO, "%s://%s: no such folder", p->scheme, folder);
    imrec_error_errno(err, ENOENT);
    return IMREC_ERR_IO;
}

static enum imrec_status open_listed(const struct plugged *p, const char *uri, const char *name,
                                     struct folder **out, struct imrec_error *err)
{
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] == '/')
        n--;
    if (p->calls.list == NULL)
        return cannot(uri, "list what it holds", err);
    struct entries_folder *f = entries_folder_new();
    char *folder = imrec_joined(name, n, "");
    enum imrec_status st = f == NULL || folder == NULL ? no_memory(uri, err) : IMREC_OK;
    if (st == IMREC_OK) {
        f->base.device = fnv1a(FNV_START, p->scheme, strlen(p->scheme));
        f->base.number = fnv1a(FNV_START, name, n);
        st = list_into(p, folder, &f->entries, err);
    }
    imrec_free(folder);
    if (st == IMREC_OK)
        *out = &f->base;
    else if (f != NULL)
        f->base.ops->close(&f->base);
    return st;
}

static enum imrec_status
plugged_open_folder(const char *uri, struct folder **out, struct imrec_error *err)
{
    struct plugged *p;
    const char *name;
    *out = NULL;
    IMREC_TRY(plugged_use(uri, &p, &name, err));
    const enum imrec_status st = open_listed(p, uri, name, out, err);
    plugged_release(p);
    return st;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct plugged_out {
    struct out base; /* first */
    struct plugged *store;
    void *object;
    char name[]; /* the temporary one */
};

static enum imrec_status
plugged_write(struct out *o, const void *p, size_t n, struct imrec_error *err)
{
    struct plugged_out *f = (struct plugged_out *)o;
    struct imrec_error why = unsaid();
    const enum imrec_status st = f->store->calls.write(f->store->user, f->object, p, n, &why);
    return st == IMREC_OK ? st : plugged_blame(f->store, f->name, "write", st, &why, err);
}

static enum imrec_status plugged_sync(struct out *o, struct imrec_error *err)
{
    struct plugged_out *f = (struct plugged_out *)o;
    struct imrec_error why = unsaid();
    if (f->store->calls.sync == NULL)
        return IMREC_OK;
    const enum imrec_status st = f->store->calls.sync(f->store->user, f->object, &why);
    return st == IMREC_OK ? st : plugged_blame(f->store, f->name, "sync", st, &why, err);
}

static void plugged_out_close(struct out *o, bool remove)
{
    struct plugged_out *f = (struct plugged_out *)o;
    const struct imrec_store *calls = &f->store->calls;
    struct imrec_error why = unsaid();
    calls->close_new(f->store->user, f->object);
    if (remove) /* what stays under a temporary name harms nobody */
        (void)calls->remove(f->store->user, f->name, &why);
    plugged_release(f->store);
    imrec_free(f);
}

static const struct out_ops plugged_out_ops = {plugged_write, plugged_sync, NULL,
                                               plugged_out_close};

static enum imrec_status
plugged_out_open(const char *uri, uint64_t size, struct out **out, struct imrec_error *err)
{
    struct imrec_error why = unsaid();
    struct plugged *p;
    const char *name;
    *out = NULL;
    IMREC_TRY(writer_of(uri, &p, &name, err));
    const size_t n = strlen(name);
    struct plugged_out *f = imrec_zalloc(1, sizeof(*f) + n + sizeof(PART_SUFFIX));
    enum imrec_status st;
    if (f == NULL) {
        st = no_memory(uri, err);
    } else {
        *f = (struct plugged_out){.base.ops = &plugged_out_ops, .store = p};
        memcpy(f->name, name, n);
        memcpy(f->name + n, PART_SUFFIX, sizeof(PART_SUFFIX));
        st = p->calls.create(p->user, f->name, size, &f->object, &why);
        if (st != IMREC_OK)
            st = plugged_blame(p, f->name, "create", st, &why, err);
    }
    if (st == IMREC_OK) {
        *out = &f->base;
        return IMREC_OK;
    }
    imrec_free(f);
    plugged_release(p);
    return st;
}

static enum imrec_status publish_in(const struct plugged *p, const char *uri, const char *name,
                                    const char *as, struct imrec_error *err)
{
    struct imrec_error why = unsaid();
    const size_t scheme = strlen(p->scheme);
    if (strncasecmp(as, p->scheme, scheme) != 0 || as[scheme] != ':')
        return IMREC_REFUSE(err, "%s: cannot become %s, that is another store", uri, as);
    char *part = imrec_joined(name, strlen(name), PART_SUFFIX);
    if (part == NULL)
        return no_memory(uri, err);
    const char *final = as + scheme + strlen("://");
    enum imrec_status st = p->calls.publish(p->user, part, final, &why);
    if (st != IMREC_OK)
        st = plugged_blame(p, final, "publish", st, &why, err);
    imrec_free(part);
    return st;
}

static enum imrec_status plugged_publish(const char *uri, const char *as, struct imrec_error *err)
{
    struct plugged *p;
    const char *name;
    IMREC_TRY(writer_of(uri, &p, &name, err));
    const enum imrec_status st = publish_in(p, uri, name, as, err);
    plugged_release(p);
    return st;
}

static enum imrec_status plugged_remove(const char *uri, struct imrec_error *err)
{
    struct imrec_error why = unsaid();
    struct plugged *p;
    const char *name;
    IMREC_TRY(writer_of(uri, &p, &name, err));
    enum imrec_status st = p->calls.remove(p->user, name, &why);
    if (st != IMREC_OK)
        st = plugged_blame(p, name, "remove", st, &why, err);
    plugged_release(p);
    return st;
}

/* ---- locks: the store's, and within this process ours --------------------------------------- */

struct plugged_lock {
    struct lock base; /* first */
    struct plugged *store;
    struct plugged_lock *next;
    void *held;
    char name[];
};

static struct mutex g_lock = MUTEX_INIT;
static struct plugged_lock *g_locks;

static bool enter(struct plugged_lock *l)
{
    mutex_lock(&g_lock);
    const struct plugged_lock *other = g_locks;
    while (other != NULL && (other->store != l->store || strcmp(other->name, l->name) != 0))
        other = other->next;
    if (other == NULL) {
        l->next = g_locks;
        g_locks = l;
    }
    mutex_unlock(&g_lock);
    return other == NULL;
}

static void leave(struct plugged_lock *l)
{
    struct plugged_lock **at = &g_locks;
    mutex_lock(&g_lock);
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    mutex_unlock(&g_lock);
}

static enum imrec_status hold(struct plugged_lock *l, const char *uri, struct imrec_error *err)
{
    struct imrec_error why = unsaid();
    if (!enter(l)) {
        imrec_fail(err, IMREC_ERR_IO,
                   "%s is held by another call of this process, which writes the objects of this "
                   "name now",
                   uri);
        imrec_error_errno(err, EBUSY);
        return IMREC_ERR_IO;
    }
    if (l->store->calls.lock == NULL) {
        imrec_log(IMREC_LOG_WARNING,
                  "%s: its store has no locks: another process that writes the same objects now "
                  "is not noticed",
                  uri);
        return IMREC_OK;
    }
    const enum imrec_status st = l->store->calls.lock(l->store->user, l->name, &l->held, &why);
    if (st == IMREC_OK)
        return IMREC_OK;
    leave(l);
    return plugged_blame(l->store, l->name, "lock", st, &why, err);
}

static enum imrec_status plugged_lock(const char *uri, struct lock **out, struct imrec_error *err)
{
    struct plugged *p;
    const char *name;
    IMREC_TRY(writer_of(uri, &p, &name, err));
    const size_t n = strlen(name) + 1;
    struct plugged_lock *l = imrec_zalloc(1, sizeof(*l) + n);
    enum imrec_status st = IMREC_OK;
    if (l == NULL) {
        st = no_memory(uri, err);
    } else {
        l->store = p;
        memcpy(l->name, name, n);
        st = hold(l, uri, err);
    }
    if (st == IMREC_OK) {
        *out = &l->base;
        return IMREC_OK;
    }
    imrec_free(l);
    plugged_release(p);
    return st;
}

static void plugged_unlock(struct lock *base)
{
    struct plugged_lock *l = (struct plugged_lock *)base;
    struct plugged *p = l->store;
    if (p->calls.unlock != NULL)
        p->calls.unlock(p->user, l->held);
    leave(l);
    plugged_release(p);
    imrec_free(l);
}

const struct store plugged_store = {
    .scheme = "a store of your own",
    .open_source = plugged_open,
    .open_out = plugged_out_open,
    .publish = plugged_publish,
    .open_folder = plugged_open_folder,
    .exists = plugged_exists,
    .remove = plugged_remove,
    .lock = plugged_lock,
    .unlock = plugged_unlock,
};
