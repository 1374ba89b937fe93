/* storage/hdfs/hdfs_change.c - the requests that change a file system. */
#include "storage/hdfs/hdfs_change.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "storage/hdfs/hdfs_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PATIENCE_MS 120000u /* a lease of a writer that died ends after 60 s */
#define PAUSE_MS    500u

/* ---- two steps ---------------------------------------------------------------------------- */

struct upload {
    const char *method, *query;
    const void *bytes;
    size_t n;
};

static enum imrec_status
check_location(const struct hdfs_place *p, const char *url, struct imrec_error *err)
{
    const bool tls = strncasecmp(p->node[0], "https:", 6) == 0;
    if (strncasecmp(url, "https://", 8) == 0 || (!tls && strncasecmp(url, "http://", 7) == 0))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_IO,
                      "%s: the NameNode says that its bytes go to %s; %s is right", p->shown,
                      url[0] != '\0' ? "another place than http" : "no address, or a longer one",
                      tls ? "https://" : "http:// or https://");
}

/* The first step: *out is where the bytes go. */
static enum imrec_status
locate(struct hdfs_place *p, const struct upload *u, char **out, struct imrec_error *err)
{
    char query[128];
    struct hdfs_reply *r;
    (void)snprintf(query, sizeof(query), "%s&noredirect=true", u->query);
    const struct hdfs_call call = {u->method, query, HDFS_ANSWER_BYTES};
    *out = NULL;
    enum imrec_status st = hdfs_ask(p, &call, &r, err);
    if (st == IMREC_OK && r->job.status < 300)
        st = hdfs_answer_location(hdfs_reply_body(r), p->shown, out, err);
    else if (st == IMREC_OK &&
             (*out = imrec_joined(r->job.location, strlen(r->job.location), "")) == NULL)
        st = IMREC_NO_MEMORY(err, "%s: no memory for a request", p->shown);
    if (st == IMREC_OK)
        st = check_location(p, *out, err);
    hdfs_reply_free(r);
    return st;
}

/* The second step, one try. *again: the same may be asked again, *wait_ms from now. */
static enum imrec_status send_to(struct hdfs_place *p, const struct upload *u, const char *url,
                                 struct wire_job *job, struct hdfs_try *t, uint64_t *wait_ms,
                                 bool *again, struct imrec_error *err)
{
    struct wire_group group;
    struct hdfs_refusal why;
    *job = (struct wire_job){.method = u->method, .url = url, .body = u->bytes, .body_bytes = u->n};
    struct buf ignored = BUF_INIT(HDFS_ANSWER_BYTES);
    job->grow = &ignored;
    IMREC_TRY(wire_headers_add(&job->headers, err, "Content-Type: application/octet-stream"));
    wire_group_init(&group);
    enum imrec_status st = wire_submit(&group, job, err);
    if (st == IMREC_OK) {
        (void)wire_wait(&group, WIRE_FOREVER);
        const enum hdfs_then then = hdfs_judge(p, t, job, &why, wait_ms);
        *again = then == HDFS_AGAIN;
        if (then != HDFS_ANSWERED || job->status >= 300)
            st = hdfs_error(p, job, &why, &t->retry, IMREC_NO_OFFSET, err);
    }
    wire_group_destroy(&group);
    buf_free(&ignored);
    return st;
}

/* Both steps, one try. */
static enum imrec_status upload(struct hdfs_place *p, const struct upload *u, struct hdfs_try *t,
                                uint64_t *wait_ms, bool *again, struct imrec_error *err)
{
    char *url;
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    *again = false;
    if (job == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for a request", p->shown);
    enum imrec_status st = locate(p, u, &url, err);
    if (st == IMREC_OK) {
        t->node = atomic_load(&p->active);
        st = send_to(p, u, url, job, t, wait_ms, again, err);
    }
    IMREC_FREE(url, job);
    return st;
}

/* As often as it is worth it. A file that is appended to is cut to its `size` before the next try:
 * some of the last one may have arrived. */
static enum imrec_status upload_again(struct hdfs_place *p, const struct upload *u,
                                      const uint64_t *size, struct imrec_error *err)
{
    struct hdfs_try t = {0};
    for (uint64_t wait_ms;;) {
        bool again;
        const enum imrec_status st = upload(p, u, &t, &wait_ms, &again, err);
        if (st == IMREC_OK || !again)
            return st;
        clock_sleep_ms(wait_ms);
        if (size != NULL)
            IMREC_TRY(hdfs_truncate(p, *size, err));
    }
}

enum imrec_status hdfs_create(struct hdfs_place *p, bool overwrite, const void *bytes, size_t n,
                              struct imrec_error *err)
{
    const struct upload u = {
        "PUT", overwrite ? "op=CREATE&overwrite=true" : "op=CREATE&overwrite=false", bytes, n};
    return upload_again(p, &u, NULL, err);
}

enum imrec_status hdfs_append(struct hdfs_place *p, uint64_t size, const void *bytes, size_t n,
                              struct imrec_error *err)
{
    const struct upload u = {"POST", "op=APPEND", bytes, n};
    return upload_again(p, &u, &size, err);
}

/* ---- truncating --------------------------------------------------------------------------- */

/* Why a file cannot be cut: it is shorter, or `why` says. */
static enum imrec_status cannot_cut(struct hdfs_place *p, uint64_t size,
                                    const struct imrec_error *why, struct imrec_error *err)
{
    struct hdfs_status now;
    IMREC_TRY(hdfs_stat(p, &now, err));
    if (now.size == size) /* there is nothing to be cut, also where the server cannot */
        return IMREC_OK;
    if (now.size < size)
        return imrec_error_at(err, IMREC_ERR_IO, now.size,
                              "%s: has %" PRIu64 " bytes; resuming needs the first %" PRIu64,
                              p->shown, now.size, size);
    if (err != NULL)
        *err = *why;
    return IMREC_ERR_IO;
}

enum imrec_status hdfs_truncate(struct hdfs_place *p, uint64_t size, struct imrec_error *err)
{
    char query[64];
    (void)snprintf(query, sizeof(query), "op=TRUNCATE&newlength=%" PRIu64, size);
    const struct hdfs_call call = {"POST", query, HDFS_ANSWER_BYTES};
    const uint64_t begun = clock_ns();
    for (;;) {
        struct imrec_error why;
        bool done = false;
        const enum imrec_status st = hdfs_ask_bool(p, &call, &done, &why);
        const bool busy = st == IMREC_ERR_IO && why.sys_errno == EBUSY;
        if (done)
            return IMREC_OK;
        if (st == IMREC_OK) /* its last block is being cut */
            imrec_fail(&why, IMREC_ERR_IO, "%s: is still being cut to %" PRIu64 " bytes", p->shown,
                       size);
        if (st != IMREC_OK && !busy && st != IMREC_ERR_IO) {
            if (err != NULL)
                *err = why;
            return st;
        }
        if ((st != IMREC_OK && !busy) || clock_ns() - begun > PATIENCE_MS * UINT64_C(1000000))
            return cannot_cut(p, size, &why, err);
        clock_sleep_ms(PAUSE_MS);
    }
}

/* ---- names -------------------------------------------------------------------------------- */

static enum imrec_status is_folder(const struct hdfs_place *p, struct imrec_error *err)
{
    imrec_fail(err, IMREC_ERR_IO, "%s: is a folder; a file is needed", p->shown);
    imrec_error_errno(err, EISDIR);
    return IMREC_ERR_IO;
}

/* What has the name; *there is false, and IMREC_OK, where nothing has. */
static enum imrec_status
look(struct hdfs_place *p, struct hdfs_status *out, bool *there, struct imrec_error *err)
{
    struct imrec_error why;
    const enum imrec_status st = hdfs_stat(p, out, &why);
    *there = st == IMREC_OK;
    if (st == IMREC_OK ||
        (st == IMREC_ERR_IO && (why.sys_errno == ENOENT || why.sys_errno == ENOTDIR)))
        return IMREC_OK;
    if (err != NULL)
        *err = why;
    return st;
}

enum imrec_status hdfs_exists(struct hdfs_place *p, bool *there, struct imrec_error *err)
{
    struct hdfs_status s;
    const enum imrec_status st = look(p, &s, there, err);
    *there = *there && s.kind != HDFS_FOLDER;
    return st;
}

/* *done: the answer is not {"boolean": false}. The rename that overwrites has an empty answer. */
static enum imrec_status rename_once(struct hdfs_place *from, const struct hdfs_place *to,
                                     bool overwrite, bool *done, struct imrec_error *err)
{
    struct buf query = BUF_INIT(HDFS_URL_BYTES + 256);
    const char *head =
        overwrite ? "op=RENAME&renameoptions=OVERWRITE&destination=" : "op=RENAME&destination=";
    struct hdfs_reply *r = NULL;
    *done = false;
    enum imrec_status st = buf_append(&query, head, strlen(head), err);
    if (st == IMREC_OK)
        st = buf_append(&query, to->path, strlen(to->path) + 1, err);
    if (st == IMREC_OK) {
        const struct hdfs_call call = {"PUT", (const char *)query.p, HDFS_ANSWER_BYTES};
        st = hdfs_ask(from, &call, &r, err);
    }
    if (st == IMREC_OK) {
        *done = true;
        if (r->body.n != 0)
            st = hdfs_answer_bool(hdfs_reply_body(r), from->shown, done, err);
    }
    hdfs_reply_free(r);
    buf_free(&query);
    return st;
}

static bool is_same_file(const struct hdfs_status *a, const struct hdfs_status *b)
{
    return a->kind == b->kind && a->size == b->size && a->modified_ms == b->modified_ms &&
           a->id == b->id;
}

/* After a failure: an answer may have been lost of a rename that was done. */
static enum imrec_status was_renamed(struct hdfs_place *from, struct hdfs_place *to,
                                     const struct hdfs_status *file, bool *done)
{
    struct hdfs_status s;
    bool there;
    *done = false;
    IMREC_TRY(look(from, &s, &there, NULL));
    if (there)
        return IMREC_OK;
    IMREC_TRY(look(to, &s, &there, NULL));
    *done = there && is_same_file(&s, file);
    return IMREC_OK;
}

static enum imrec_status rename_checked(struct hdfs_place *from, struct hdfs_place *to,
                                        const struct hdfs_status *file, bool overwrite, bool *done,
                                        struct imrec_error *err)
{
    const enum imrec_status st = rename_once(from, to, overwrite, done, err);
    bool renamed;
    if (st == IMREC_OK && *done)
        return IMREC_OK;
    if ((st != IMREC_OK && st != IMREC_ERR_IO) || was_renamed(from, to, file, &renamed) != IMREC_OK)
        return st;
    *done = renamed;
    return renamed ? IMREC_OK : st;
}

/* What both renames want: a file, and a name that is none of a folder. */
static enum imrec_status before_rename(struct hdfs_place *from, struct hdfs_place *to,
                                       struct hdfs_status *file, bool *taken,
                                       struct imrec_error *err)
{
    struct hdfs_status other;
    if (strcmp(from->node[0], to->node[0]) != 0)
        return IMREC_REFUSE(err, "%s: cannot become %s, that is another file system", from->shown,
                            to->shown);
    IMREC_TRY(hdfs_stat(from, file, err));
    IMREC_TRY(look(to, &other, taken, err));
    return *taken && other.kind == HDFS_FOLDER ? is_folder(to, err) : IMREC_OK;
}

enum imrec_status
hdfs_rename(struct hdfs_place *from, struct hdfs_place *to, struct imrec_error *err)
{
    struct hdfs_status file;
    bool taken, done;
    IMREC_TRY(before_rename(from, to, &file, &taken, err));
    IMREC_TRY(rename_checked(from, to, &file, true, &done, err));
    if (!done && taken) { /* it knows no rename that overwrites */
        IMREC_TRY(hdfs_delete(to, err));
        IMREC_TRY(rename_checked(from, to, &file, false, &done, err));
    }
    return done ? IMREC_OK
                : imrec_fail(err, IMREC_ERR_IO, "%s: the server does not give it the name %s",
                             from->shown, to->shown);
}

enum imrec_status hdfs_rename_to_free(struct hdfs_place *from, struct hdfs_place *to, bool *done,
                                      struct imrec_error *err)
{
    struct hdfs_status file;
    bool taken;
    *done = false;
    IMREC_TRY(before_rename(from, to, &file, &taken, err));
    return taken ? IMREC_OK : rename_checked(from, to, &file, false, done, err);
}

enum imrec_status hdfs_delete(struct hdfs_place *p, struct imrec_error *err)
{
    static const struct hdfs_call call = {"DELETE", "op=DELETE&recursive=false", HDFS_ANSWER_BYTES};
    struct hdfs_status s;
    bool there, removed;
    IMREC_TRY(look(p, &s, &there, err));
    if (!there)
        return IMREC_OK;
    return s.kind == HDFS_FOLDER ? is_folder(p, err) : hdfs_ask_bool(p, &call, &removed, err);
}

void hdfs_forget(struct hdfs_place *p)
{
    if (hdfs_delete(p, NULL) != IMREC_OK)
        return; /* the next run removes or replaces it */
}
