/* storage/cloud/cloud_store.c - objects in buckets: s3://, gs:// and az://. */
#include "storage/cloud/cloud_store.h"
#include "base/alloc.h"
#include "base/error.h"
#include "storage/cloud/cloud_folder.h"
#include "storage/cloud/cloud_out.h"
#include "storage/cloud/cloud_state.h"

#include <string.h>

struct cloud_source {
    struct source base; /* first */
    struct cloud_place place;
    struct wire_object *object;
};

static enum imrec_status
cloud_read_at(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    return wire_object_read(((struct cloud_source *)s)->object, offset, to, n, err);
}

static void cloud_source_close(struct source *base)
{
    struct cloud_source *s = (struct cloud_source *)base;
    wire_object_close(s->object);
    cloud_place_close(&s->place);
    imrec_free(s);
}

static void cloud_cancel(struct source *s)
{
    wire_object_cancel(((struct cloud_source *)s)->object);
}

static const struct source_ops source_ops = {cloud_read_at, NULL, NULL, cloud_source_close,
                                             cloud_cancel};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to open an object");
}

typedef enum imrec_status
object_fn(const struct wire_object_options *o, void *user, struct imrec_error *err);

/* Calls `use` with the object that the place names. */
static enum imrec_status
with_object(struct cloud_place *p, object_fn *use, void *user, struct imrec_error *err)
{
    if (p->key[0] == '\0')
        return IMREC_REFUSE(err, "%s: is a bucket, not an object in it", p->shown);
    char *url = cloud_url(p, p->key, "");
    const struct wire_object_options o = {
        .url = url, .shown = p->shown, .sign = p->sign, .signer = &p->aws};
    const enum imrec_status st = url == NULL ? no_memory(err) : use(&o, user, err);
    imrec_free(url);
    return st;
}

static enum imrec_status
open_object(const struct wire_object_options *o, void *user, struct imrec_error *err)
{
    return wire_object_open(o, user, err);
}

static enum imrec_status
see_object(const struct wire_object_options *o, void *user, struct imrec_error *err)
{
    return wire_object_exists(o, user, err);
}

static enum imrec_status
name_object(const struct wire_object_options *o, void *user, struct imrec_error *err)
{
    struct cloud_source *s = user;
    return wire_object_listed(o, s->base.size, s->base.identity, &s->object, err);
}

/* `said`: by a list; NULL: it is asked. */
static enum imrec_status open_one(enum cloud cloud, const char *name,
                                  const struct folder_entry *said, struct source **out,
                                  struct imrec_error *err)
{
    struct cloud_source *s = imrec_zalloc(1, sizeof(*s));
    *out = NULL;
    if (s == NULL)
        return no_memory(err);
    enum imrec_status st = cloud_place_open(cloud, name, &s->place, err);
    if (st == IMREC_OK && said != NULL) {
        s->base.size = said->size;
        s->base.identity = said->identity;
        st = with_object(&s->place, name_object, s, err);
    } else if (st == IMREC_OK) {
        st = with_object(&s->place, open_object, &s->object, err);
    }
    if (st != IMREC_OK) {
        cloud_source_close(&s->base);
        return st;
    }
    s->base = (struct source){
        .size = wire_object_size(s->object),
        .ops = &source_ops,
        .modified = wire_object_modified(s->object),
        .identity = wire_object_identity(s->object),
        .at_once = WIRE_AT_ONCE,
    };
    *out = &s->base;
    return IMREC_OK;
}

static bool is_part(const char *name)
{
    const size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".part") == 0;
}

static enum imrec_status
open_source(enum cloud cloud, const char *name, struct source **out, struct imrec_error *err)
{
    if (is_part(name)) { /* it may be a log in pieces */
        const enum imrec_status log = cloud_log_source(cloud, name, out, err);
        if (log != IMREC_END)
            return log;
    }
    return open_one(cloud, name, NULL, out, err);
}

static enum imrec_status
exists(enum cloud cloud, const char *name, bool *there, struct imrec_error *err)
{
    struct cloud_place p;
    *there = false;
    IMREC_TRY(cloud_place_open(cloud, name, &p, err));
    const enum imrec_status st =
        p.key[0] == '\0' ? IMREC_OK : with_object(&p, see_object, there, err);
    cloud_place_close(&p);
    return st;
}

/* ---- the rows of the table, one a store --------------------------------------------------------
 */

static enum imrec_status no_lock(struct lock **out, struct imrec_error *err)
{
    *out = imrec_zalloc(1, sizeof(**out));
    return *out != NULL ? IMREC_OK : no_memory(err);
}

static void no_unlock(struct lock *l)
{
    imrec_free(l);
}

/* What all of them read. Nothing in a bucket excludes another machine: a lock is none there, which
 * docs/guide/storage.md says. */
#define READ_STORE(word, which)                                                                    \
    static enum imrec_status word##_source(const char *name, struct source **out,                  \
                                           struct imrec_error *err)                                \
    {                                                                                              \
        return open_source(which, name, out, err);                                                 \
    }                                                                                              \
    static enum imrec_status word##_listed(const char *name, const struct folder_entry *said,      \
                                           struct source **out, struct imrec_error *err)           \
    {                                                                                              \
        return open_one(which, name, said, out, err);                                              \
    }                                                                                              \
    static enum imrec_status word##_folder(const char *name, struct folder **out,                  \
                                           struct imrec_error *err)                                \
    {                                                                                              \
        return cloud_folder_open(which, name, out, err);                                           \
    }                                                                                              \
    static enum imrec_status word##_exists(const char *name, bool *there, struct imrec_error *err) \
    {                                                                                              \
        return exists(which, name, there, err);                                                    \
    }
#define READS(word)                                                                                \
    .scheme = #word "://", .open_source = word##_source, .open_folder = word##_folder,             \
    .exists = word##_exists, .listed_at_once = WIRE_AT_ONCE, .open_listed = word##_listed
#define WRITTEN_STORE(word, which)                                                                 \
    READ_STORE(word, which)                                                                        \
    static enum imrec_status word##_out(const char *name, uint64_t size, struct out **out,         \
                                        struct imrec_error *err)                                   \
    {                                                                                              \
        return cloud_out_open(which, name, size, out, err);                                        \
    }                                                                                              \
    static enum imrec_status word##_log(const char *name, uint64_t size, struct out **out,         \
                                        struct imrec_error *err)                                   \
    {                                                                                              \
        return cloud_log_open(which, name, size, out, err);                                        \
    }                                                                                              \
    static enum imrec_status word##_publish(const char *name, const char *as,                      \
                                            struct imrec_error *err)                               \
    {                                                                                              \
        return cloud_publish(which, name, as, false, err);                                         \
    }                                                                                              \
    static enum imrec_status word##_publish_new(const char *name, const char *as,                  \
                                                struct imrec_error *err)                           \
    {                                                                                              \
        return cloud_publish(which, name, as, true, err);                                          \
    }                                                                                              \
    static enum imrec_status word##_remove(const char *name, struct imrec_error *err)              \
    {                                                                                              \
        return cloud_remove(which, name, err);                                                     \
    }                                                                                              \
    static enum imrec_status word##_lock(const char *name, struct lock **out,                      \
                                         struct imrec_error *err)                                  \
    {                                                                                              \
        (void)name;                                                                                \
        return no_lock(out, err);                                                                  \
    }                                                                                              \
    const struct store word##_store = {                                                            \
        READS(word),                                                                               \
        .open_out = word##_out,                                                                    \
        .open_log = word##_log,                                                                    \
        .publish = word##_publish,                                                                 \
        .publish_new = word##_publish_new,                                                         \
        .remove = word##_remove,                                                                   \
        .lock = word##_lock,                                                                       \
        .unlock = no_unlock,                                                                       \
    }
WRITTEN_STORE(s3, CLOUD_S3);
WRITTEN_STORE(gs, CLOUD_GS);
READ_STORE(az, CLOUD_AZ)
const struct store az_store = {READS(az)};
