/* tests/support/own_store.h - a store in memory as a user would write one, for
 * imrec_store_register(); each of its functions can be told to fail. */
#ifndef IMREC_TESTS_OWN_STORE_H
#define IMREC_TESTS_OWN_STORE_H

#include "imrec/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_MOST = 64 };

struct own_object {
    char name[200];
    uint8_t *p;
    uint64_t n;
    bool locked;
};
struct own_store {
    pthread_mutex_t lock;
    struct own_object object[OWN_MOST]; /* name "": free; never moved */
    const char *failing;                /* this function fails */
    enum imrec_status with;
    const char *why;
    int open; /* objects and locks */
};

static inline enum imrec_status
own_fails(struct own_store *s, const char *call, struct imrec_error *err)
{
    if (s->failing == NULL || strcmp(s->failing, call) != 0)
        return IMREC_OK;
    snprintf(err->message, sizeof(err->message), "%s", s->why);
    err->sys_errno = EACCES;
    return s->with;
}

static inline enum imrec_status own_none(const char *name, struct imrec_error *err)
{
    snprintf(err->message, sizeof(err->message), "'%s' is not here", name);
    err->sys_errno = ENOENT;
    return IMREC_ERR_IO;
}

/* The object of this name; with `make` a new one where there is none. The lock is held. */
static inline struct own_object *own_find(struct own_store *s, const char *name, bool make)
{
    struct own_object *unused = NULL;
    for (int i = 0; i < OWN_MOST; i++) {
        if (strcmp(s->object[i].name, name) == 0)
            return &s->object[i];
        if (s->object[i].name[0] == '\0' && unused == NULL)
            unused = &s->object[i];
    }
    if (!make || unused == NULL || strlen(name) >= sizeof(unused->name))
        return NULL;
    strcpy(unused->name, name);
    return unused;
}

static inline void own_forget(struct own_object *o)
{
    free(o->p);
    *o = (struct own_object){0};
}

static inline enum imrec_status own_open(void *user, const char *name, void **object,
                                         uint64_t *size, uint64_t *modified,
                                         struct imrec_error *err)
{
    struct own_store *s = user;
    enum imrec_status st = own_fails(s, "open", err);
    if (st != IMREC_OK)
        return st;
    pthread_mutex_lock(&s->lock);
    const struct own_object *o = own_find(s, name, false);
    if (o == NULL) {
        st = own_none(name, err);
    } else {
        struct own_object *copy = calloc(1, sizeof(*copy));
        copy->p = malloc(o->n + 1);
        if (o->n != 0)
            memcpy(copy->p, o->p, o->n);
        *size = copy->n = o->n;
        *modified = 1000000000u;
        *object = copy;
        s->open++;
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static inline enum imrec_status
own_read_at(void *user, void *object, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    const struct own_object *o = object;
    const enum imrec_status st = own_fails(user, "read_at", err);
    if (st == IMREC_OK)
        memcpy(to, o->p + offset, n);
    return st;
}

static inline void own_close(void *user, void *object)
{
    struct own_store *s = user;
    struct own_object *o = object;
    pthread_mutex_lock(&s->lock);
    s->open--;
    pthread_mutex_unlock(&s->lock);
    free(o->p);
    free(o);
}

/* Whether an earlier object has the same entry of the folder. */
static inline bool own_listed(const struct own_store *s, int i, size_t skip, size_t n)
{
    for (int k = 0; k < i; k++)
        if (strncmp(s->object[k].name, s->object[i].name, skip + n) == 0 &&
            (s->object[k].name[skip + n] == '/' || s->object[k].name[skip + n] == '\0'))
            return true;
    return false;
}

static inline enum imrec_status own_list(void *user, const char *folder,
                                         imrec_store_entry_fn *entry, void *to,
                                         struct imrec_error *err)
{
    struct own_store *s = user;
    const size_t n = strlen(folder), skip = n == 0 ? 0 : n + 1;
    enum imrec_status st = own_fails(s, "list", err);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < OWN_MOST && st == IMREC_OK; i++) {
        const char *name = s->object[i].name, *rest = name + skip;
        char text[200];
        if (name[0] == '\0' || strncmp(name, folder, n) != 0 || (n != 0 && name[n] != '/'))
            continue;
        const size_t length = strcspn(rest, "/");
        if (own_listed(s, i, skip, length))
            continue;
        snprintf(text, sizeof(text), "%.*s", (int)length, rest);
        st = entry(to, text, rest[length] == '/', err);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static inline enum imrec_status
own_create(void *user, const char *name, uint64_t keep, void **object, struct imrec_error *err)
{
    struct own_store *s = user;
    enum imrec_status st = own_fails(s, "create", err);
    if (st != IMREC_OK)
        return st;
    pthread_mutex_lock(&s->lock);
    struct own_object *o = own_find(s, name, keep == UINT64_MAX);
    if (o == NULL || (keep != UINT64_MAX && o->n < keep)) {
        st = own_none(name, err);
    } else {
        o->n = keep == UINT64_MAX ? 0 : keep;
        *object = o;
        s->open++;
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static inline enum imrec_status
own_write(void *user, void *object, const void *p, size_t n, struct imrec_error *err)
{
    struct own_store *s = user;
    struct own_object *o = object;
    const enum imrec_status st = own_fails(s, "write", err);
    if (st != IMREC_OK)
        return st;
    pthread_mutex_lock(&s->lock);
    o->p = realloc(o->p, o->n + n + 1);
    memcpy(o->p + o->n, p, n);
    o->n += n;
    pthread_mutex_unlock(&s->lock);
    return IMREC_OK;
}

static inline enum imrec_status own_sync(void *user, void *object, struct imrec_error *err)
{
    (void)object;
    return own_fails(user, "sync", err);
}

static inline void own_close_new(void *user, void *object)
{
    struct own_store *s = user;
    (void)object;
    pthread_mutex_lock(&s->lock);
    s->open--;
    pthread_mutex_unlock(&s->lock);
}

static inline enum imrec_status
own_publish(void *user, const char *name, const char *as, struct imrec_error *err)
{
    struct own_store *s = user;
    enum imrec_status st = own_fails(s, "publish", err);
    if (st != IMREC_OK)
        return st;
    pthread_mutex_lock(&s->lock);
    struct own_object *from = own_find(s, name, false), *to = own_find(s, as, true);
    if (from == NULL) {
        st = own_none(name, err);
    } else {
        free(to->p);
        to->p = from->p;
        to->n = from->n;
        *from = (struct own_object){0};
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static inline enum imrec_status own_remove(void *user, const char *name, struct imrec_error *err)
{
    struct own_store *s = user;
    const enum imrec_status st = own_fails(s, "remove", err);
    if (st != IMREC_OK)
        return st;
    pthread_mutex_lock(&s->lock);
    struct own_object *o = own_find(s, name, false);
    if (o != NULL)
        own_forget(o);
    pthread_mutex_unlock(&s->lock);
    return IMREC_OK;
}

static inline enum imrec_status
own_lock(void *user, const char *name, void **held, struct imrec_error *err)
{
    struct own_store *s = user;
    (void)name;
    const enum imrec_status st = own_fails(s, "lock", err);
    if (st == IMREC_OK) {
        *held = s;
        pthread_mutex_lock(&s->lock);
        s->open++;
        pthread_mutex_unlock(&s->lock);
    }
    return st;
}

static inline void own_unlock(void *user, void *held)
{
    if (held != user)
        abort();
    own_close_new(user, held);
}

static inline struct imrec_store own_calls(void)
{
    return (struct imrec_store){sizeof(struct imrec_store),
                                own_open,
                                own_read_at,
                                own_close,
                                own_list,
                                own_create,
                                own_write,
                                own_sync,
                                own_close_new,
                                own_publish,
                                own_remove,
                                own_lock,
                                own_unlock};
}

static inline void own_empty(struct own_store *s)
{
    for (int i = 0; i < OWN_MOST; i++)
        own_forget(&s->object[i]);
}
#endif
