/* storage/hdfs/hdfs_request.h - requests to the NameNode that is active, tried again where that
 * helps.
 *
 * A NameNode that cannot be reached, or says that it is the standby, hands on to the next one at
 * once; when all have, and after answers that pass (retry.h; RetriableException, SafeModeException,
 * leases and blocks under recovery), the next try waits as retry.h says; up to 60 s where servers
 * that answered before cannot be reached, or are not ready. */
#ifndef IMREC_STORAGE_HDFS_REQUEST_H
#define IMREC_STORAGE_HDFS_REQUEST_H

#include "storage/hdfs/hdfs_answer.h"
#include "storage/hdfs/hdfs_place.h"
#include "storage/wire/retry.h"

#define HDFS_REDIRECTS 3 /* to a DataNode, and what is before it */

struct hdfs_try { /* of one request; zeroed at first, but for node */
    struct wire_retry retry;
    uint32_t node, hops; /* asked now; how many were asked since the last wait */
};

/* Asks t->node; `url` is the job's until it is done. */
IMREC_NODISCARD enum imrec_status hdfs_submit(const struct hdfs_place *p, const struct hdfs_try *t,
                                              const char *query, struct buf *url,
                                              struct wire_group *group, struct wire_job *job,
                                              struct imrec_error *err);
enum hdfs_then { HDFS_ANSWERED, HDFS_AGAIN, HDFS_FAILED };
/* What follows from an answer: HDFS_AGAIN is to be in *wait_ms, 0 is now, and asks t->node, which
 * may be another. HDFS_FAILED: *why is the reason, or else the job itself. */
enum hdfs_then hdfs_judge(struct hdfs_place *p, struct hdfs_try *t, struct wire_job *job,
                          struct hdfs_refusal *why, uint64_t *wait_ms);
/* The error of a job that has failed: "hdfs://ns/a: the server answers 403 (...): ...". */
enum imrec_status hdfs_error(const struct hdfs_place *p, const struct wire_job *job,
                             const struct hdfs_refusal *why, const struct wire_retry *retry,
                             uint64_t offset, struct imrec_error *err);

struct hdfs_call {
    const char *method, *query; /* "op=..." */
    size_t most;                /* bytes of the answer */
};
struct hdfs_reply {
    struct wire_job job;
    struct buf url, body;
    struct hdfs_refusal why; /* on failure: "" where the server gave no reason */
    uint32_t tries;
};
/* One request with its tries, in the caller's thread; no redirect is followed, but IMREC_OK: its
 * answer is 2xx or a redirect. On failure *err has a sys_errno, and the reply is as valid. */
IMREC_NODISCARD enum imrec_status hdfs_ask(struct hdfs_place *p, const struct hdfs_call *call,
                                           struct hdfs_reply **out, struct imrec_error *err);
struct bytes hdfs_reply_body(const struct hdfs_reply *r);
void hdfs_reply_free(struct hdfs_reply *r); /* NULL is allowed */

/* What the path of a place is; of nothing, IMREC_ERR_IO with ENOENT. */
IMREC_NODISCARD enum imrec_status
hdfs_stat(struct hdfs_place *p, struct hdfs_status *out, struct imrec_error *err);
/* Of a request whose answer is a bool alone. */
IMREC_NODISCARD enum imrec_status hdfs_ask_bool(struct hdfs_place *p, const struct hdfs_call *call,
                                                bool *out, struct imrec_error *err);
#endif
