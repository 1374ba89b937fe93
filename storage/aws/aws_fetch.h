/* storage/aws/aws_fetch.h - a question to a server of this machine's: soon answered, or not at all.
 * Private to this room. */
#ifndef IMREC_STORAGE_AWS_AWS_FETCH_H
#define IMREC_STORAGE_AWS_AWS_FETCH_H

#include "base/buf.h"
#include "imrec/error.h"

struct aws_fetch {
    const char *method, *url;
    const char *header, *value; /* NULL: no header */
    const char *who;            /* messages begin with it */
    uint32_t seconds;           /* for all of it; a second of it at most to connect */
    struct buf *body;           /* of a 2xx; its bound is one of the answer */
    int status;                 /* answered */
};

/* IMREC_OK: there is an answer, whatever its status. 429 and 5xx are asked again, three times in
 * all. No proxy is asked, no redirect followed. */
IMREC_NODISCARD enum imrec_status aws_fetch(struct aws_fetch *f, struct imrec_error *err);

#endif
