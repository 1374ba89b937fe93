/* storage/aws/aws_fetch.h - a question for keys, to a server of this machine's or to AWS: soon
 * answered, or not at all. Private to this room. */
#ifndef IMREC_STORAGE_AWS_AWS_FETCH_H
#define IMREC_STORAGE_AWS_AWS_FETCH_H

#include "storage/wire/retry.h"

struct aws_fetch {
    const char *method, *url;
    const char *header, *value; /* NULL: no header */
    const char *who;            /* messages begin with it */
    uint32_t seconds;           /* for all of it; a second of it at most to connect */
    struct buf *body;           /* of a 2xx; its bound is one of the answer */
    bool far;                   /* by proxies, with the time to connect of all requests */
    const struct buf *form;     /* of a POST; NULL: there is none */
    wire_sign_fn *sign;         /* NULL: nothing is signed */
    void *signer;
    int status;    /* answered */
    char code[64]; /* <Code> of an answer that is no 2xx: letters, digits and dots; "": none */
};

/* IMREC_OK: there is an answer, whatever its status. 429 and 5xx are asked again, three times in
 * all. No redirect is followed, and no proxy
 * asked unless it is far away. */
IMREC_NODISCARD enum imrec_status aws_fetch(struct aws_fetch *f, struct imrec_error *err);

#endif
