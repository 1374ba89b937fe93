/* storage/cloud/cloud_publish.c - temporary objects in buckets become real, or go.
 *
 * Each step can be done again after an interruption: NAME.part is deleted last where it becomes
 * real, and first where it goes. */
#include "base/alloc.h"
#include "base/error.h"
#include "storage/cloud/cloud_state.h"
#include "storage/cloud/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to publish an object");
}

/* ---- publishing ---------------------------------------------------------------------------- */

static enum imrec_status
taken_by_another(const struct cloud_place *p, const char *key, struct imrec_error *err)
{
    imrec_fail(err, IMREC_ERR_IO,
               "%s: another run has published an object as %s meanwhile, which stays as it is; "
               "force replaces it",
               p->shown, key);
    imrec_error_errno(err, EEXIST);
    return IMREC_ERR_IO;
}

/* An earlier try has come so far: it is there as a whole. */
static enum imrec_status was_completed(struct cloud_place *p, const struct cloud_state *s,
                                       const struct imrec_error *why, struct imrec_error *err)
{
    uint64_t size;
    bool found;
    IMREC_TRY(cloud_size(p, p->key, &size, &found, err));
    if (found && size == cloud_state_size(s))
        return IMREC_OK;
    if (err != NULL)
        *err = *why;
    return why->status;
}

/* Where the name is taken, and the upload is gone, its completion's answer was lost: ENOENT. */
static enum imrec_status complete_new(struct cloud_place *p, struct upload *u,
                                      const struct cloud_state *s, struct imrec_error *err)
{
    struct upload again = {0};
    bool taken;
    IMREC_TRY(upload_complete(u, p, &taken, err));
    if (!taken)
        return IMREC_OK;
    IMREC_TRY(upload_find(&again, p, p->key, s->id, u->count, err));
    upload_free(&again);
    return taken_by_another(p, p->key, err);
}

static enum imrec_status put_together(struct cloud_place *p, const struct cloud_state *s,
                                      struct upload *u, bool new, struct imrec_error *err)
{
    IMREC_TRY(upload_find(u, p, p->key, s->id, s->last.parts, err));
    if (s->last.tail.n != 0)
        IMREC_TRY(upload_put(u, p, s->last.tail, err));
    return new ? complete_new(p, u, s, err) : upload_complete(u, p, NULL, err);
}

static enum imrec_status
complete(struct cloud_place *p, const struct cloud_state *s, bool new, struct imrec_error *err)
{
    struct upload u = {0};
    struct imrec_error why = {0};
    enum imrec_status st = put_together(p, s, &u, new, &why);
    if (st == IMREC_ERR_IO && why.sys_errno == ENOENT)
        st = was_completed(p, s, &why, err);
    else if (st != IMREC_OK && err != NULL)
        *err = why;
    upload_free(&u);
    return st;
}

/* Whether the object has these bytes: an earlier try has put it there. */
static enum imrec_status is_ours(struct cloud_place *p, const char *key, struct bytes content,
                                 bool *ours, struct imrec_error *err)
{
    struct buf have = BUF_INIT(content.n + 1); /* a longer one is not ours */
    enum imrec_status st = cloud_get(p, key, &have, ours, err);
    *ours = st == IMREC_OK && *ours && have.n == content.n &&
            (have.n == 0 || memcmp(have.p, content.p, have.n) == 0);
    buf_free(&have);
    return st;
}

static enum imrec_status
put_new(struct cloud_place *p, const char *key, struct bytes content, struct imrec_error *err)
{
    bool taken = false, ours = false;
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    if (job == NULL)
        return no_memory(err);
    *job = (struct wire_job){.method = "PUT", .body = content.p, .body_bytes = content.n};
    const enum imrec_status st = cloud_do_new(p, job, key, "", &taken, err);
    imrec_free(job);
    if (st != IMREC_OK || !taken)
        return st;
    (void)is_ours(p, key, content, &ours, NULL); /* one that cannot be read is another's */
    return ours ? IMREC_OK : taken_by_another(p, key, err);
}

/* There is no condition on copies: what is there is looked at before. */
static enum imrec_status
copy_new(struct cloud_place *p, const char *as, uint64_t size, bool new, struct imrec_error *err)
{
    uint64_t have;
    bool found = false;
    if (new)
        IMREC_TRY(cloud_size(p, as, &have, &found, err));
    if (found && have != size)
        return taken_by_another(p, as, err);
    IMREC_TRY(cloud_copy(p, p->key, as, size, err));
    return cloud_delete(p, p->key, err);
}

static enum imrec_status publish_state(struct cloud_place *p, const struct cloud_state *s,
                                       const char *as, bool new, struct imrec_error *err)
{
    const struct bytes text = {s->text.p, s->text.n};
    const bool renamed = strcmp(as, p->key) != 0;
    if (s->id[0] == '\0')
        return new ? put_new(p, as, text, err) : cloud_put(p, as, text, err);
    IMREC_TRY(complete(p, s, new && !renamed, err));
    return renamed ? copy_new(p, as, cloud_state_size(s), new, err) : IMREC_OK;
}

static enum imrec_status publish_as(struct cloud_place *p, const struct cloud_place *as,
                                    const char *part_key, bool new, struct imrec_error *err)
{
    struct cloud_state s;
    bool found;
    if (strcmp(p->base, as->base) != 0)
        return IMREC_REFUSE(err, "%s: cannot become %s, that is another bucket", p->shown,
                            as->shown);
    IMREC_TRY(cloud_state_load(&s, p, part_key, &found, err));
    if (!found)
        return imrec_fail(err, IMREC_ERR_IO, "%s: nothing to publish", p->shown);
    enum imrec_status st = publish_state(p, &s, as->key, new, err);
    cloud_state_free(&s);
    return st == IMREC_OK ? cloud_delete(p, part_key, err) : st;
}

enum imrec_status
cloud_publish(enum cloud cloud, const char *name, const char *as, bool new, struct imrec_error *err)
{
    struct cloud_place p = {0}, to = {0};
    enum imrec_status st = cloud_place_open(cloud, name, &p, err);
    if (st == IMREC_OK)
        st = cloud_place_open(cloud, as, &to, err);
    char *part_key = st == IMREC_OK ? cloud_part_key(p.key) : NULL;
    if (st == IMREC_OK)
        st = part_key == NULL ? no_memory(err) : publish_as(&p, &to, part_key, new, err);
    imrec_free(part_key);
    cloud_place_close(&to);
    cloud_place_close(&p);
    return st;
}

/* ---- removing ------------------------------------------------------------------------------ */

struct removing {
    struct cloud_place *p;
    const char *prefix; /* "NAME.part." */
};

/* "NAME.part.00000001": a piece of a log. */
static enum imrec_status
remove_piece(void *user, const struct listed_object *e, struct imrec_error *err)
{
    const struct removing *r = user;
    const size_t head = strlen(r->prefix);
    const char *number = e->key + head;
    if (e->folder || e->bytes <= head || strncmp(e->key, r->prefix, head) != 0 ||
        strspn(number, "0123456789") != e->bytes - head)
        return IMREC_OK; /* whatever the server lists */
    return cloud_delete(r->p, e->key, err);
}

static enum imrec_status
remove_pieces(struct cloud_place *p, const char *part_key, struct imrec_error *err)
{
    struct listing l = {0};
    char *prefix = imrec_joined(part_key, strlen(part_key), ".");
    if (prefix == NULL)
        return no_memory(err);
    struct removing r = {p, prefix};
    enum imrec_status st = IMREC_OK;
    while (st == IMREC_OK && !l.ended)
        st = listing_page(&l, p, prefix, remove_piece, &r, err);
    listing_free(&l);
    imrec_free(prefix);
    return st;
}

static enum imrec_status
abort_upload(struct cloud_place *p, const char *part_key, struct imrec_error *err)
{
    struct cloud_state s;
    struct imrec_error why;
    bool found;
    const enum imrec_status st = cloud_state_load(&s, p, part_key, &found, &why);
    if (st == IMREC_ERR_CORRUPT || st == IMREC_ERR_LIMIT)
        return IMREC_OK; /* not a state of ours: only the object goes */
    if (st != IMREC_OK || !found) {
        if (st != IMREC_OK && err != NULL)
            *err = why;
        return st;
    }
    struct upload u = {.key = imrec_joined(part_key, strlen(part_key) - strlen(".part"), "")};
    memcpy(u.id, s.id, sizeof(u.id));
    cloud_state_free(&s);
    const enum imrec_status done = u.key == NULL ? no_memory(err) : upload_abort(&u, p, err);
    upload_free(&u);
    return done;
}

enum imrec_status
cloud_remove_part(struct cloud_place *p, const char *part_key, struct imrec_error *err)
{
    IMREC_TRY(abort_upload(p, part_key, err));
    IMREC_TRY(cloud_delete(p, part_key, err));
    return remove_pieces(p, part_key, err);
}

enum imrec_status cloud_remove(enum cloud cloud, const char *name, struct imrec_error *err)
{
    struct cloud_place p;
    IMREC_TRY(cloud_place_open(cloud, name, &p, err));
    const size_t n = strlen(p.key);
    const bool part = n > 5 && strcmp(p.key + n - 5, ".part") == 0;
    const enum imrec_status st =
        part ? cloud_remove_part(&p, p.key, err) : cloud_delete(&p, p.key, err);
    cloud_place_close(&p);
    return st;
}
