/* storage/aws/aws_fetch.c - a question for keys. */
#include "storage/aws/aws_fetch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/system.h"

#include <string.h>

#define TRIES_MOST 3
#define WAIT_MS    200u
#define CONNECT_MS 1000u

static enum imrec_status
set_up(struct wire_job *job, const struct aws_fetch *f, struct imrec_error *err)
{
    const uint32_t all = f->seconds * 1000u;
    *job = (struct wire_job){.method = f->method,
                             .url = f->url,
                             .grow = f->body,
                             .direct = !f->far,
                             .connect_ms = f->far             ? 0
                                           : all < CONNECT_MS ? all
                                                              : CONNECT_MS,
                             .all_ms = all};
    if (f->form != NULL) {
        job->body = f->form->p;
        job->body_bytes = f->form->n;
    }
    if (f->header != NULL)
        IMREC_TRY(wire_headers_add(&job->headers, err, "%s: %s", f->header, f->value));
    return f->sign != NULL ? f->sign(f->signer, job, err) : IMREC_OK;
}

static void take_code(struct aws_fetch *f, const struct wire_job *job)
{
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.";
    const char *at = strstr(job->said, "<Code>");
    const size_t n = at != NULL ? strspn(at + strlen("<Code>"), good) : 0;
    f->code[0] = '\0';
    if (n != 0 && n < sizeof(f->code) && at[strlen("<Code>") + n] == '<') {
        memcpy(f->code, at + strlen("<Code>"), n);
        f->code[n] = '\0';
    }
}

static enum imrec_status
ask(struct wire_group *group, struct wire_job *job, struct aws_fetch *f, struct imrec_error *err)
{
    for (int i = 0; i < TRIES_MOST; i++) {
        if (i != 0)
            clock_sleep_ms(WAIT_MS);
        f->body->n = 0;
        IMREC_TRY(wire_submit(group, job, err));
        (void)wire_wait(group, WIRE_FOREVER);
        if (job->outcome == WIRE_OVERFLOW)
            return imrec_fail(err, IMREC_ERR_LIMIT, "%s: the answer is longer than %zu bytes",
                              f->who, f->body->max);
        if (job->outcome != WIRE_ANSWERED)
            return imrec_fail(err, IMREC_ERR_IO, "%s: no answer: %s", f->who, job->reason);
        if (job->status != 429 && job->status < 500)
            break;
    }
    f->status = job->status;
    take_code(f, job);
    return IMREC_OK;
}

enum imrec_status aws_fetch(struct aws_fetch *f, struct imrec_error *err)
{
    struct wire_group group;
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    if (job == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to ask for keys", f->who);
    enum imrec_status st = set_up(job, f, err);
    if (st == IMREC_OK) {
        wire_group_init(&group);
        st = ask(&group, job, f, err);
        wire_group_destroy(&group);
    }
    system_wipe(job, sizeof(*job)); /* the header */
    imrec_free(job);
    return st;
}
