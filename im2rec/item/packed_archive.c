/* im2rec/item/packed_archive.c */
#include "im2rec/item/packed_archive.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/threads.h"
#include "storage/packed/gzip_source.h"

#include <string.h>
#include <strings.h>

#define IDLE_MOST                                                                                  \
    2u /* that stay open while nobody reads them: images come in the order of archives */

struct packed_archive {
    struct packed_archives *of;
    struct packed_archive *next;
    struct source *source;
    char *uri;
    uint32_t users;
};

struct packed_archives {
    struct mutex lock;
    struct packed_archive *first; /* the one that was taken last */
};

bool name_ends_in(const char *name, size_t n, const char *const *suffixes)
{
    for (; *suffixes != NULL; suffixes++) {
        const size_t m = strlen(*suffixes);
        if (n > m && strncasecmp(name + n - m, *suffixes, m) == 0)
            return true;
    }
    return false;
}

bool name_is_packed(const char *name, size_t n)
{
    static const char *const suffixes[] = {".tar.gz", ".tgz", NULL};
    return name_ends_in(name, n, suffixes);
}

bool archive_is_packed(const char *uri)
{
    return name_is_packed(uri, source_name_bytes(uri));
}

enum imrec_status
archive_source_open(const char *uri, struct source **out, bool *packed, struct imrec_error *err)
{
    uint8_t first[GZIP_HEAD_BYTES] = {0};
    *packed = false;
    IMREC_TRY(source_open(uri, out, err));
    if (!archive_is_packed(uri))
        return IMREC_OK;
    enum imrec_status st = IMREC_OK;
    if ((*out)->size >= sizeof(first))
        st = source_read(*out, 0, first, sizeof(first), err);
    if (st == IMREC_OK && !gzip_is_head(first))
        return IMREC_OK;
    *packed = true;
    if (st == IMREC_OK)
        return gzip_source_open(*out, uri, source_is_far(uri), out, err);
    source_close(*out);
    *out = NULL;
    return st;
}

enum imrec_status packed_archives_new(struct packed_archives **out, struct imrec_error *err)
{
    *out = imrec_zalloc(1, sizeof(**out));
    if (*out == NULL)
        return IMREC_NO_MEMORY(err, "no memory to unpack archives");
    mutex_init(&(*out)->lock);
    return IMREC_OK;
}

static void forget(struct packed_archive *a)
{
    source_close(a->source);
    IMREC_FREE(a->uri, a);
}

/* With the lock held: closes those that nobody reads, but for the last ones. */
static void close_idle(struct packed_archives *t)
{
    uint32_t idle = 0;
    for (struct packed_archive **at = &t->first; *at != NULL;) {
        struct packed_archive *a = *at;
        idle += a->users == 0;
        if (a->users == 0 && idle > IDLE_MOST) {
            *at = a->next;
            forget(a);
        } else {
            at = &a->next;
        }
    }
}

/* With the lock held. */
static enum imrec_status
open_one(struct packed_archives *t, const char *uri, struct imrec_error *err)
{
    bool packed;
    struct packed_archive *a = imrec_zalloc(1, sizeof(*a));
    char *name = imrec_joined(uri, strlen(uri), "");
    if (a == NULL || name == NULL) {
        IMREC_FREE(a, name);
        return IMREC_NO_MEMORY(err, "%s: no memory to unpack it", uri);
    }
    *a = (struct packed_archive){.of = t, .uri = name};
    const enum imrec_status st = archive_source_open(uri, &a->source, &packed, err);
    if (st != IMREC_OK) {
        forget(a);
        return st;
    }
    a->next = t->first;
    t->first = a;
    return IMREC_OK;
}

enum imrec_status packed_archive_take(struct packed_archives *t, const char *uri,
                                      struct packed_archive **out, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    mutex_lock(&t->lock);
    struct packed_archive *a = t->first;
    while (a != NULL && strcmp(a->uri, uri) != 0)
        a = a->next;
    if (a == NULL) {
        st = open_one(t, uri, err);
        a = st == IMREC_OK ? t->first : NULL;
    }
    if (a != NULL)
        a->users++;
    close_idle(t);
    mutex_unlock(&t->lock);
    *out = a;
    return st;
}

struct source *packed_archive_source(const struct packed_archive *a)
{
    return a->source;
}

void packed_archive_leave(struct packed_archive *a)
{
    if (a == NULL)
        return;
    struct packed_archives *t = a->of;
    mutex_lock(&t->lock);
    a->users--;
    close_idle(t);
    mutex_unlock(&t->lock);
}

void packed_archives_free(struct packed_archives *t)
{
    if (t == NULL)
        return;
    while (t->first != NULL) {
        struct packed_archive *a = t->first;
        t->first = a->next;
        forget(a);
    }
    mutex_destroy(&t->lock);
    imrec_free(t);
}
