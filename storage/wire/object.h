/* storage/wire/object.h - an object of a web server, of which one version is read, by ranges.
 *
 * What it is (ETag, else Last-Modified, and size) is pinned when it is opened and goes with each
 * range (If-Match); each answer is checked against it, Content-Range too. A
 * long read is cut into parts that are under way at once. */
#ifndef IMREC_STORAGE_WIRE_OBJECT_H
#define IMREC_STORAGE_WIRE_OBJECT_H

#include "storage/wire/retry.h"

struct wire_object_options {
    const char *url, *shown; /* the second as messages name it; both are copied */
    uint32_t redirects;
    wire_sign_fn *sign; /* may be NULL; any thread */
    void *signer;       /* lives as long as the object */
};

struct wire_object;

#define OBJECT_ETAG_BYTES 192               /* of the longest one, and a NUL */
#define OBJECT_PART_BYTES ((size_t)2 << 20) /* that one request asks for at most */

/* Whether there is such an object: 200 or 404 or 410, all else is an error. */
IMREC_NODISCARD enum imrec_status
wire_object_exists(const struct wire_object_options *o, bool *there, struct imrec_error *err);

IMREC_NODISCARD enum imrec_status wire_object_open(const struct wire_object_options *o,
                                                   struct wire_object **out,
                                                   struct imrec_error *err);
/* The same of an object of which a list has said size and ETag, as a header has it: nobody is asked
 * before it is read, and any other object is an error then. */
IMREC_NODISCARD enum imrec_status
wire_object_listed(const struct wire_object_options *o, uint64_t size, const char *etag,
                   struct wire_object **out, struct imrec_error *err);
uint64_t wire_object_size(const struct wire_object *o);
uint64_t wire_object_modified(const struct wire_object *o); /* ns since 1970; 0: not known */
/* Its ETag, else its date; NULL: it has neither, and its version is not known. */
const char *wire_object_identity(const struct wire_object *o);
/* Bytes [offset, offset + n) of it, which it has; any number of threads. */
IMREC_NODISCARD enum imrec_status wire_object_read(struct wire_object *o, uint64_t offset, void *to,
                                                   size_t n, struct imrec_error *err);
/* Its reads end with IMREC_ERR_CANCELLED, within a tenth of a second. */
void wire_object_cancel(struct wire_object *o);
void wire_object_close(struct wire_object *o); /* NULL is allowed */
#endif
