/* storage/wire/retry.h - which answers are worth another try, and when.
 *
 * Tried again are 408, 429, 500, 502, 503, 504, answers that never came or ended early. The first
 * wait is 20 ms, as most failures are of one request alone, and a window of records waits for it;
 * those after it double from 100 ms to 8 s; each time a random share of it, at least what
 * Retry-After says. After 8 tries or 60 s of waiting in all the last answer is the error. Where
 * nobody listens it is after 3 tries; of a server that answered this process before, and may just
 * begin again, after the 60 s. */
#ifndef IMREC_STORAGE_WIRE_RETRY_H
#define IMREC_STORAGE_WIRE_RETRY_H

#include "base/stop.h"
#include "storage/wire/wire.h"

struct wire_retry { /* zeroed at first */
    uint32_t tries;
    uint64_t waited_ms;
    bool hopeless; /* the object's read before this one failed for good: a second at most */
};

/* Whether another try may do better, ever. */
bool wire_may_pass(const struct wire_job *job);
/* Whether the job is to be submitted again, *wait_ms from now. */
bool wire_retry(struct wire_retry *r, const struct wire_job *job, uint64_t *wait_ms);

/* Adds headers to a try that is about to be made: what proves who asks; and job->suspects. NULL:
 * nothing does. */
typedef enum imrec_status wire_sign_fn(void *user, struct wire_job *job, struct imrec_error *err);

/* Submits the job, signed; what an earlier try's signing added is gone. `own`: its own headers. */
IMREC_NODISCARD enum imrec_status wire_try(struct wire_group *group, struct wire_job *job,
                                           uint32_t own, wire_sign_fn *sign, void *user,
                                           struct imrec_error *err);

/* One exchange with its retries, in the caller's thread. IMREC_OK: there is an answer, whatever its
 * status; else the sentence begins with `shown`, the name of what is asked for. */
IMREC_NODISCARD enum imrec_status wire_ask(struct wire_job *job, const char *shown,
                                           wire_sign_fn *sign, void *user, struct imrec_error *err);

/* The error of a job that has failed for good: "SHOWN: WHAT: the server answers 503 ...". Sets
 * sys_errno: ENOENT of 404 and 410, EACCES of 401 and 403, ESTALE of 412, EIO. */
enum imrec_status wire_error(const struct wire_job *job, const char *shown, uint64_t offset,
                             const struct wire_retry *r, struct imrec_error *err);
#endif
