/* storage/later_source.h - an object of which a list says enough: it is opened when it is read
 * first.
 *
 * Until then it takes some 150 bytes and its texts. What is opened then must have the size and the
 * identity that the list said, else the read is an error that names it; so are all later ones. */
#ifndef IMREC_STORAGE_LATER_SOURCE_H
#define IMREC_STORAGE_LATER_SOURCE_H

#include "base/bytes.h"
#include "storage/store/store.h"

#define LATER_FIRST_BYTES 512u

/* Looks at the object's first LATER_FIRST_BYTES, all of a shorter one, before the first read of it
 * ends; any thread. */
struct later_check {
    enum imrec_status (*check)(const struct later_check *c, const char *uri, struct bytes first,
                               struct imrec_error *err);
};

/* `name`: in the store, the end of `uri`. The source belongs to the thread's scope (store/scope.h).
 * `check` may be NULL; it lives as long as the source. */
IMREC_NODISCARD enum imrec_status
later_source_open(const struct store *store, const char *uri, const char *name,
                  const struct folder_entry *said, const struct later_check *check,
                  struct source **out, struct imrec_error *err);
#endif
