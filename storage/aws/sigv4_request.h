/* storage/aws/sigv4_request.h - a request as its signature sees it. Private to sigv4.c. */
#ifndef IMREC_STORAGE_AWS_SIGV4_REQUEST_H
#define IMREC_STORAGE_AWS_SIGV4_REQUEST_H

#include "storage/wire/wire.h"

/* Appends the "canonical request" to *out and its "signed headers", "host;x-amz-date", to *names.
 * `sum`: of the body, as x-amz-content-sha256 has it. */
IMREC_NODISCARD enum imrec_status sigv4_request(const struct wire_job *job, struct bytes sum,
                                                struct buf *out, struct buf *names,
                                                struct imrec_error *err);
/* The value of a header of the job, without blanks around it; p NULL: it has none. */
struct bytes sigv4_header(const struct wire_job *job, const char *name);
#endif
