/* imrec/object.h - bytes of an object of any store, and the objects that a pattern names: for
 * programs that read other formats from where imrec reads its own. See docs/guide/storage.md.
 *
 *     if (imrec_object_open("s3://bucket/a.parquet", NULL, &object, &err) == IMREC_OK)
 *         st = imrec_object_read(object, 0, magic, 4, &err);
 *     imrec_object_close(object);
 *
 * Stores, credentials, retries and errors are those of every other URI. */
#ifndef IMREC_OBJECT_H
#define IMREC_OBJECT_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct imrec_object; /* opaque */

/* Fill with imrec_object_options_init(), then set what differs. Texts need to live as long as the
 * call that takes them. */
struct imrec_object_options {
    size_t struct_size;
    const char *cache;  /* the folder of a cache, as cache= of an iterator; NULL or "": none */
    int64_t cache_size; /* its bound in bytes, at least 4 MiB; 0: the one that it has, 10 GiB for a
                           new one */
};

IMREC_API void imrec_object_options_init_sized(struct imrec_object_options *o, size_t size);
static inline void imrec_object_options_init(struct imrec_object_options *o)
{
    imrec_object_options_init_sized(o, sizeof(*o));
}

/* Opens an object for reading. options NULL: the defaults. On failure *out is NULL.
 * IMREC_ERR_IO with sys_errno ENOENT: there is none; IMREC_ERR_ARGUMENT: a wrong cache;
 * IMREC_ERR_UNSUPPORTED: no store has the scheme; IMREC_ERR_NO_MEMORY. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_object_open(const char *uri, const struct imrec_object_options *options,
                  struct imrec_object **out, struct imrec_error *err);
IMREC_API uint64_t imrec_object_size(const struct imrec_object *o); /* bytes */
/* What another version of the object does not have, such as an ETag; NULL: the store does not say.
 * Valid until close. An object that becomes another one while it is open is an error when it is
 * read, where its store notices. */
IMREC_API const char *imrec_object_identity(const struct imrec_object *o);
/* Exactly n bytes from `offset` on, or an error. Any thread, several at once. More than there are
 * is IMREC_ERR_ARGUMENT. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_object_read(struct imrec_object *o,
                                                              uint64_t offset, void *to, size_t n,
                                                              struct imrec_error *err);
/* Reads that wait for a store end soon, and later ones at once, with IMREC_ERR_CANCELLED. Any
 * thread, before close. */
IMREC_API void imrec_object_cancel(struct imrec_object *o);
IMREC_API void imrec_object_close(struct imrec_object *o); /* after its reads; NULL is allowed */

struct imrec_uris {
    size_t count;
    char **uri;
};

/* The objects that `pattern` names: "a;b" in its order, a folder's *SUFFIX and a glob sorted by
 * bytes, a range ("a-{00..31}.parquet") as it counts. What names or matches nothing is
 * IMREC_ERR_ARGUMENT. Free *out with imrec_uris_free(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_objects_find(const char *pattern, const char *suffix, struct imrec_uris *out,
                   struct imrec_error *err);
IMREC_API void imrec_uris_free(struct imrec_uris *u); /* zeroed memory is allowed */

#ifdef __cplusplus
}
#endif
#endif
