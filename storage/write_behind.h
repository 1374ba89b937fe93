/* storage/write_behind.h - a thread that writes one full buffer while the next one fills. */
#ifndef IMREC_STORAGE_WRITE_BEHIND_H
#define IMREC_STORAGE_WRITE_BEHIND_H

#include "base/threads.h"
#include "storage/store/store.h"

struct write_behind {
    struct out *out; /* borrowed */
    struct thread thread;
    struct mutex lock;
    struct cond moved;
    const uint8_t *p; /* being written, or NULL */
    size_t n;
    bool stopping;
    enum imrec_status st; /* of the first write that failed; nothing is written after it */
    struct imrec_error why;
};

void write_behind_init(struct write_behind *b, struct out *out);
/* Waits until the buffer before is written, and begins with p[0..n), which must stay valid until
 * the next call. Without a thread it writes at once. Returns the error of an earlier write. */
IMREC_NODISCARD enum imrec_status
write_behind_put(struct write_behind *b, const uint8_t *p, size_t n, struct imrec_error *err);
/* Waits until everything is written. */
IMREC_NODISCARD enum imrec_status
write_behind_wait(struct write_behind *b, struct imrec_error *err);
void write_behind_destroy(struct write_behind *b); /* waits, too */
#endif
