/* im2rec/item/fetch.h - images of stores, read before a worker asks for them.
 *
 * Opening and reading one object at a time waits for an answer each time; here many are under way.
 * They are begun in the order of the list, by threads that do nothing else. What is read and not
 * yet asked for is bounded in bytes: an image that has no room is opened only, and read by the
 * worker that wants it. */
#ifndef IMREC_IM2REC_ITEM_FETCH_H
#define IMREC_IM2REC_ITEM_FETCH_H

#include "imrec/error.h"

#define FETCHES_MOST 64u /* under way; as many as there are connections to a host */

struct fetcher;
struct fetch;

IMREC_NODISCARD enum imrec_status
fetcher_new(uint64_t limit, struct fetcher **out, struct imrec_error *err);
void fetcher_free(struct fetcher *f); /* all fetches are dropped before; NULL is fine */

/* Bytes [begin, begin + bytes) of the object are wanted; FETCH_ALL as bytes: all of them. NULL:
 * there is no memory to do it early. One thread. */
#define FETCH_ALL UINT64_MAX
struct fetch *fetch_begin(struct fetcher *f, const char *uri, uint64_t begin, uint64_t bytes);
bool fetch_is_of(const struct fetch *x, const char *uri); /* x may be NULL */
/* Waits until the object is open: its size. As often as it is asked for. */
IMREC_NODISCARD enum imrec_status
fetch_wait(struct fetch *x, uint64_t *size, struct imrec_error *err);
/* The wanted bytes, after fetch_wait() was fine; the object must have them. */
IMREC_NODISCARD enum imrec_status fetch_read(struct fetch *x, void *to, struct imrec_error *err);
void fetch_drop(struct fetch *x); /* waits, if it is under way; NULL is fine */
#endif
