/* storage/uri_glob.h - the objects of a store that a pattern names. */
#ifndef IMREC_STORAGE_URI_GLOB_H
#define IMREC_STORAGE_URI_GLOB_H

#include "imrec/error.h"

typedef enum imrec_status uri_glob_fn(void *user, const char *uri, struct imrec_error *err);

/* Calls `found` for each object, folders omitted, that `pattern` names: a URI of which the first
 * `head` bytes are scheme and what else is in front of the store's own name. `*`, `?` and `[...]`
 * mean within one component what they mean to a shell: no '/' and no '.' in front. In the order of
 * the store's listings. None is no error. */
IMREC_NODISCARD enum imrec_status
uri_glob(const char *pattern, size_t head, uri_glob_fn *found, void *user, struct imrec_error *err);
#endif
