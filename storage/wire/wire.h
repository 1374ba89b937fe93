/* storage/wire/wire.h - HTTP requests of all stores, by one thread on libcurl.
 *
 *     struct wire_group group;
 *     struct wire_job job = {.method = "GET", .url = url, .to = bytes, .room = n};
 *     wire_group_init(&group);
 *     IMREC_TRY(wire_submit(&group, &job, err));
 *     wire_wait(&group, WIRE_FOREVER);            the job that is done, or NULL when time is over
 *     wire_group_destroy(&group);
 *
 * One try a job: the thread that waits decides what is tried again, and when (retry.h). The thread
 * starts with the first job of a process, a forked one included, and ends with the library. It
 * keeps connections open between jobs; certificates are verified, by the CA bundle of
 * CURL_CA_BUNDLE or SSL_CERT_FILE or SSL_CERT_DIR, else the system's; proxies are those of
 * https_proxy, no_proxy, ... */
#ifndef IMREC_STORAGE_WIRE_WIRE_H
#define IMREC_STORAGE_WIRE_WIRE_H

#include "base/buf.h"
#include "base/threads.h"
#include "imrec/error.h"
#include "storage/store/scope.h"

#define WIRE_FOREVER UINT32_MAX
#define WIRE_AT_ONCE 128u /* requests, at most; of ranges as many as flow.h says */

enum wire_outcome {
    WIRE_PENDING,
    WIRE_ANSWERED,  /* whole, whatever its status */
    WIRE_BROKEN,    /* no answer, or not all of it: another try may do better */
    WIRE_REFUSED,   /* another try would be the same: a name, a certificate, a redirect */
    WIRE_OVERFLOW,  /* the body is longer than there is room for */
    WIRE_CANCELLED, /* wire_cancel() */
};

struct wire_range { /* Content-Range */
    bool given;
    uint64_t begin, end, total; /* bytes [begin, end) of total; UINT64_MAX: not known */
};

#define WIRE_HEADERS      16
#define WIRE_HEADER_BYTES 8192

struct wire_headers { /* "Name: value" each; zeroed at first */
    uint32_t count;
    size_t used;
    const char *line[WIRE_HEADERS];
    char text[WIRE_HEADER_BYTES];
};
/* IMREC_ERR_LIMIT when they have no room, IMREC_ERR_ARGUMENT for one with a line end in it. */
__attribute__((format(printf, 3, 4))) IMREC_NODISCARD enum imrec_status
wire_headers_add(struct wire_headers *h, struct imrec_error *err, const char *fmt, ...);

struct wire_job {
    /* Asked; all of it stays as it is until the job is done. */
    const char *method, *url;
    struct wire_headers headers;
    const void *body; /* of a PUT or POST */
    uint64_t body_bytes;
    uint64_t begin, end; /* bytes [begin, end) only; end 0: all */
    uint8_t *to;         /* takes the body of a 2xx, up to `room` bytes ... */
    size_t room;
    struct buf *grow;            /* ... or this does, up to its bound */
    uint32_t redirects;          /* how many are followed, never from https to http */
    uint32_t connect_ms, all_ms; /* what connecting and all of it may take; 0: 10 s, any time */
    bool direct;                 /* by no proxy, whatever the variables say */
    bool negotiate;          /* who asks is proved by Kerberos (SPNEGO), to the URL's host alone */
    struct traffic *traffic; /* counts it; NULL: that of the thread that submits it, if any */
    const char *suspects;    /* what to check if it is refused, by who signed it; may be NULL */

    /* Answered. */
    enum wire_outcome outcome;
    int status;      /* of HTTP; 0: none */
    uint64_t got;    /* bytes of the body that arrived in place */
    uint64_t length; /* Content-Length; UINT64_MAX: not said */
    struct wire_range range;
    char etag[192], modified[64], encoding[32], location[1024], region[32];
    uint32_t retry_after;                  /* seconds; 0: not said */
    char said[1024];                       /* the beginning of a body that is no 2xx, a text */
    bool unreachable;                      /* no connection was made */
    bool known;                            /* the host answered this process before */
    char reason[192];                      /* why it is WIRE_BROKEN or WIRE_REFUSED */
    uint64_t begun_ns, first_ns, ended_ns; /* clock_ns(); begun when it left the queue */

    /* The engine's. */
    struct wire_group *group;
    struct wire_job *next;
    struct wire_exchange *exchange; /* while it is under way */
    bool cancelled;
    uint64_t before; /* flow.h: bytes that had been delivered when it began */
};

/* Jobs that one thread waits for. */
struct wire_group {
    struct mutex lock;
    struct cond done;
    struct wire_job *finished; /* the first of those nobody has taken */
    struct wire_job **last;
    uint32_t pending; /* submitted and not taken */
};

void wire_group_init(struct wire_group *g);
void wire_group_destroy(struct wire_group *g); /* nothing may be pending */

/* The job and what it names are the engine's until wire_wait() gives it back. */
IMREC_NODISCARD enum imrec_status
wire_submit(struct wire_group *g, struct wire_job *job, struct imrec_error *err);
/* A job of the group that is done, in the order in which they ended; NULL after that many
 * milliseconds, or when none is pending. */
struct wire_job *wire_wait(struct wire_group *g, uint32_t milliseconds);
/* Asks for its end; wire_wait() gives it back soon, WIRE_CANCELLED unless it was faster. */
void wire_cancel(struct wire_job *job);

const char *wire_curl_version(void); /* version of libcurl that is loaded: "8.5.0" */
bool wire_can_negotiate(void);       /* whether this libcurl has SPNEGO */

struct wire_totals {          /* of this process, since it began */
    uint64_t requests, bytes; /* bytes: of bodies, received */
    uint64_t connections;     /* made */
};
void wire_totals(struct wire_totals *out);
#endif
