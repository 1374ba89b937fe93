/* storage/wire/object_read.h - a long read as parts that are under way at once. Private to
 * object.c. */
#ifndef IMREC_STORAGE_WIRE_OBJECT_READ_H
#define IMREC_STORAGE_WIRE_OBJECT_READ_H

#include "storage/wire/object.h"

#include "storage/wire/pace.h"

#include <stdatomic.h>

#define OBJECT_HEAD_BYTES (64 << 10) /* that opening brings along, and that stay in memory */

struct wire_object {
    char *url, *shown;
    uint32_t redirects;
    wire_sign_fn *sign;
    void *signer;
    uint64_t size, modified_ns;
    char etag[OBJECT_ETAG_BYTES], modified[64]; /* as the server said; "": it did not */
    bool listed;                                /* size and ETag are of a list */
    uint8_t *head;
    size_t head_bytes;
    struct wire_pace *pace; /* of its host; NULL: its version is not known, and nothing is hedged */
    struct traffic *traffic; /* of the scope that opened it */
    atomic_bool gone; /* a read waited in vain for its server: the next ones do not wait as long */
    atomic_bool cancelled;
};

/* Whether the answer is what was asked for, of the version that was opened. `retry`: for the
 * words of an error. */
enum imrec_status object_check(const struct wire_object *o, const struct wire_job *job,
                               const struct wire_retry *retry, struct imrec_error *err);

/* The server sends another encoding of its bytes: ranges of it mean nothing. */
bool object_is_encoded(const struct wire_job *job);
enum imrec_status object_refuse_encoding(const struct wire_object *o, const struct wire_job *job,
                                         struct imrec_error *err);
/* It is another version than the one that was opened. */
enum imrec_status
object_changed(const struct wire_object *o, uint64_t offset, struct imrec_error *err);
enum imrec_status
object_no_ranges(const struct wire_object *o, const struct wire_job *job, struct imrec_error *err);

IMREC_NODISCARD enum imrec_status object_read_ranges(struct wire_object *o, uint64_t offset,
                                                     uint8_t *to, size_t n,
                                                     struct imrec_error *err);
#endif
