/* storage/later_source.c - an object that is opened when it is read first. */
#include "storage/later_source.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/threads.h"
#include "storage/store/scope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

struct later_source {
    struct source base; /* first */
    const struct store *store;
    struct store_scope *scope; /* of the thread that made it */
    const struct later_check *check;
    struct mutex lock;              /* of opening and checking it */
    _Atomic(struct source *) inner; /* NULL: it is not open */
    atomic_bool ready;              /* it was checked, too */
    atomic_bool cancelled;
    const char *name; /* in the store; in uri */
    char uri[];       /* and the identity after it */
};

static enum imrec_status
is_other(const struct later_source *s, const struct source *is, struct imrec_error *err)
{
    const enum imrec_status st =
        is->size != s->base.size
            ? imrec_error_at(err, IMREC_ERR_IO, 0,
                             "%s: has %" PRIu64 " bytes, and %" PRIu64
                             " where it was listed; nothing of it is used",
                             s->uri, is->size, s->base.size)
            : imrec_error_at(err, IMREC_ERR_IO, 0,
                             "%s: it is another version (%s) than the one that was listed (%s); "
                             "nothing of it is used",
                             s->uri, is->identity, s->base.identity);
    imrec_error_errno(err, ESTALE);
    return st;
}

static void cancel_inner(struct later_source *s)
{
    struct source *inner = atomic_load(&s->inner);
    if (inner != NULL && inner->ops->cancel != NULL)
        inner->ops->cancel(inner);
}

/* The lock is held. */
static enum imrec_status open_inner(struct later_source *s, struct imrec_error *err)
{
    const struct folder_entry said = {.identity = s->base.identity, .size = s->base.size};
    struct source *is;
    struct store_scope *before = store_scope_enter(s->scope);
    const enum imrec_status st = s->store->open_listed != NULL
                                     ? s->store->open_listed(s->name, &said, &is, err)
                                     : s->store->open_source(s->name, &is, err);
    store_scope_enter(before);
    IMREC_TRY(st);
    if (is->size != s->base.size ||
        (is->identity != NULL && strcmp(is->identity, s->base.identity) != 0)) {
        const enum imrec_status other = is_other(s, is, err);
        is->ops->close(is);
        return other;
    }
    atomic_store(&s->inner, is);
    if (atomic_load(&s->cancelled))
        cancel_inner(s);
    return IMREC_OK;
}

static enum imrec_status
read_inner(struct later_source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct source *inner = atomic_load(&s->inner);
    return inner->ops->read_at(inner, offset, to, n, err);
}

/* Where the read has the first bytes, it is done with them. The lock is held. */
static enum imrec_status check_first(struct later_source *s, uint64_t offset, void *to, size_t n,
                                     bool *done, struct imrec_error *err)
{
    uint8_t first[LATER_FIRST_BYTES];
    const size_t want = s->base.size < sizeof(first) ? (size_t)s->base.size : sizeof(first);
    *done = offset == 0 && n >= want;
    void *at = *done ? to : first;
    IMREC_TRY(read_inner(s, 0, at, *done ? n : want, err));
    return s->check->check(s->check, s->uri, (struct bytes){at, want}, err);
}

static enum imrec_status make_ready(struct later_source *s, uint64_t offset, void *to, size_t n,
                                    bool *done, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    *done = false;
    mutex_lock(&s->lock);
    if (!atomic_load(&s->ready)) {
        if (atomic_load(&s->inner) == NULL)
            st = open_inner(s, err);
        if (st == IMREC_OK && s->check != NULL)
            st = check_first(s, offset, to, n, done, err);
        atomic_store(&s->ready, st == IMREC_OK);
    }
    mutex_unlock(&s->lock);
    return st;
}

static enum imrec_status
later_read_at(struct source *base, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct later_source *s = (struct later_source *)base;
    bool done = false;
    if (!atomic_load(&s->ready))
        IMREC_TRY(make_ready(s, offset, to, n, &done, err));
    return done ? IMREC_OK : read_inner(s, offset, to, n, err);
}

static void later_close(struct source *base)
{
    struct later_source *s = (struct later_source *)base;
    struct source *inner = atomic_load(&s->inner);
    if (inner != NULL)
        inner->ops->close(inner);
    mutex_destroy(&s->lock);
    imrec_free(s);
}

/* One that is being opened has its request's time; then its reads are cancelled. */
static void later_cancel(struct source *base)
{
    struct later_source *s = (struct later_source *)base;
    atomic_store(&s->cancelled, true);
    cancel_inner(s);
}

static const struct source_ops later_ops = {later_read_at, NULL, NULL, later_close, later_cancel};

enum imrec_status later_source_open(const struct store *store, const char *uri, const char *name,
                                    const struct folder_entry *said,
                                    const struct later_check *check, struct source **out,
                                    struct imrec_error *err)
{
    const size_t n = strlen(uri) + 1, m = strlen(said->identity) + 1;
    struct later_source *s = imrec_zalloc(1, sizeof(*s) + n + m);
    *out = NULL;
    if (s == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to open it", uri);
    memcpy(s->uri, uri, n);
    memcpy(s->uri + n, said->identity, m);
    s->base = (struct source){.size = said->size,
                              .ops = &later_ops,
                              .identity = s->uri + n,
                              .at_once = store->listed_at_once};
    s->store = store;
    s->scope = store_scope();
    s->check = check;
    s->name = s->uri + (name - uri);
    mutex_init(&s->lock);
    *out = &s->base;
    return IMREC_OK;
}
