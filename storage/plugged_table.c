/* storage/plugged_table.c - a short table under one lock, which no callback is called under. */
#include "storage/plugged_table.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { MOST = 64 };

static struct mutex g_lock = MUTEX_INIT;
static struct plugged *g_entry[MOST];
static size_t g_count;
static bool g_forks; /* fork() knows the lock */

/* Whatever this build has, a URI means the same in all of them. */
static const char *const taken[] = {"file", "mem", "fault", "http", "https",
                                    "s3",   "gs",  "az",    "hdfs", "webhdfs"};

/* ---- the table; g_lock is held ------------------------------------------------------------- */

static size_t place_of(const char *scheme, size_t n)
{
    size_t i = 0;
    while (i < g_count &&
           (strncasecmp(g_entry[i]->scheme, scheme, n) != 0 || g_entry[i]->scheme[n] != '\0'))
        i++;
    return i;
}

static void before_fork(void)
{
    mutex_lock(&g_lock);
}

static void after_fork(void)
{
    mutex_unlock(&g_lock);
}

/* A forked process has the table; the thread that held the lock is not in it. */
static void survive_forks(void)
{
    if (!g_forks)
        (void)pthread_atfork(before_fork, after_fork, after_fork);
    g_forks = true;
}

static enum imrec_status put_in(struct plugged *p, struct imrec_error *err)
{
    if (place_of(p->scheme, strlen(p->scheme)) != g_count)
        return IMREC_REFUSE(err, "a store is registered for '%s://' already", p->scheme);
    if (g_count == MOST)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "'%s://' would be one store more than the %d that can be registered",
                          p->scheme, MOST);
    g_entry[g_count++] = p;
    return IMREC_OK;
}

static enum imrec_status take_out(const char *scheme, struct plugged **out, struct imrec_error *err)
{
    const size_t i = place_of(scheme, strlen(scheme));
    if (i == g_count)
        return IMREC_REFUSE(err, "no store is registered for '%.100s://'", scheme);
    if (g_entry[i]->users != 0) {
        IMREC_REFUSE(err,
                     "'%s://' is in use by %" PRIu64 " open objects and calls; close them first",
                     g_entry[i]->scheme, g_entry[i]->users);
        imrec_error_errno(err, EBUSY);
        return IMREC_ERR_ARGUMENT;
    }
    *out = g_entry[i];
    g_entry[i] = g_entry[--g_count];
    return IMREC_OK;
}

/* ---- registering ---------------------------------------------------------------------------- */

static enum imrec_status check_scheme(const char *scheme, struct imrec_error *err)
{
    if (scheme == NULL)
        return IMREC_REFUSE(err, "a store has a scheme, not NULL");
    const size_t n =
        strspn(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-");
    if (n == 0 || n > PLUGGED_SCHEME_BYTES || scheme[n] != '\0')
        return IMREC_REFUSE(err,
                            "scheme '%.100s': has 1 to %d letters, digits, + and -, without ://",
                            scheme, PLUGGED_SCHEME_BYTES);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (strcasecmp(scheme, taken[i]) == 0)
            return IMREC_REFUSE(err, "scheme '%s': is one of imrec's own", scheme);
    return IMREC_OK;
}

static enum imrec_status check_calls(const struct imrec_store *s, struct imrec_error *err)
{
    const int writing = (s->create != NULL) + (s->write != NULL) + (s->close_new != NULL) +
                        (s->publish != NULL) + (s->remove != NULL);
    if (s->open == NULL || s->read_at == NULL || s->close == NULL)
        return IMREC_REFUSE(err, "a store has functions open, read_at and close, not NULL");
    if (writing != 0 && writing != 5)
        return IMREC_REFUSE(err,
                            "a store that is written to has functions create, write, "
                            "close_new, publish and remove, not %d of these 5",
                            writing);
    if ((s->lock == NULL) != (s->unlock == NULL))
        return IMREC_REFUSE(err, "a store has functions lock and unlock, or neither");
    return IMREC_OK;
}

/* What the caller's header did not have yet is NULL. */
static enum imrec_status
copy_calls(const struct imrec_store *store, struct imrec_store *to, struct imrec_error *err)
{
    if (store == NULL || store->struct_size < offsetof(struct imrec_store, unlock) + sizeof(void *))
        return IMREC_REFUSE(err, "a store's struct_size is sizeof(struct imrec_store)");
    memcpy(to, store, store->struct_size < sizeof(*to) ? store->struct_size : sizeof(*to));
    return check_calls(to, err);
}

enum imrec_status imrec_store_register(const char *scheme, const struct imrec_store *store,
                                       void *user, struct imrec_error *err)
{
    IMREC_TRY(check_scheme(scheme, err));
    struct plugged *p = imrec_zalloc(1, sizeof(*p));
    if (p == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the store '%s://'", scheme);
    p->user = user;
    memcpy(p->scheme, scheme, strlen(scheme));
    enum imrec_status st = copy_calls(store, &p->calls, err);
    if (st == IMREC_OK) {
        mutex_lock(&g_lock);
        survive_forks();
        st = put_in(p, err);
        mutex_unlock(&g_lock);
    }
    if (st != IMREC_OK)
        imrec_free(p);
    return st;
}

enum imrec_status imrec_store_unregister(const char *scheme, struct imrec_error *err)
{
    struct plugged *p = NULL;
    if (scheme == NULL)
        return IMREC_REFUSE(err, "a store has a scheme, not NULL");
    mutex_lock(&g_lock);
    const enum imrec_status st = take_out(scheme, &p, err);
    mutex_unlock(&g_lock);
    imrec_free(p);
    return st;
}

/* ---- using ---------------------------------------------------------------------------------- */

bool plugged_is_known(const char *uri, size_t n)
{
    mutex_lock(&g_lock);
    const bool known = place_of(uri, n) != g_count;
    mutex_unlock(&g_lock);
    return known;
}

enum imrec_status
plugged_use(const char *uri, struct plugged **out, const char **name, struct imrec_error *err)
{
    const size_t n = strcspn(uri, ":");
    *out = NULL;
    mutex_lock(&g_lock);
    const size_t i = place_of(uri, n);
    if (i != g_count) {
        *out = g_entry[i];
        (*out)->users++;
    }
    mutex_unlock(&g_lock);
    *name = uri + n + strlen("://");
    if (*out == NULL)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED, "%s: its store is not registered any longer",
                          uri);
    return IMREC_OK;
}

void plugged_release(struct plugged *p)
{
    mutex_lock(&g_lock);
    p->users--;
    mutex_unlock(&g_lock);
}

enum imrec_status plugged_blame(const struct plugged *p, const char *name, const char *call,
                                enum imrec_status st, struct imrec_error *why,
                                struct imrec_error *err)
{
    const bool named = st > IMREC_END && st <= IMREC_ERR_CANCELLED;
    why->message[sizeof(why->message) - 1] = '\0';
    if (why->message[0] != '\0')
        st = imrec_error_at(err, named ? st : IMREC_ERR_IO, why->offset, "%s://%s: %.300s",
                            p->scheme, name, why->message);
    else
        st = imrec_error_at(err, named ? st : IMREC_ERR_IO, why->offset,
                            "%s://%s: the store's %s failed and does not say why", p->scheme, name,
                            call);
    imrec_error_errno(err, why->sys_errno);
    return st;
}
