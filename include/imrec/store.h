/* imrec/store.h - a store of your own, for URIs of its scheme: "mystore://folder/a.rec". See
 * docs/guide/storage.md. */
#ifndef IMREC_STORE_H
#define IMREC_STORE_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the next entry of a listed folder: `name` without a '/', which is copied; is_folder: it
 * holds others. A name that is empty, ".", ".." or contains a '/' is IMREC_ERR_ARGUMENT. What it
 * returns other than IMREC_OK, `list` returns, too. */
typedef enum imrec_status
imrec_store_entry_fn(void *to, const char *name, bool is_folder, struct imrec_error *err);

/* What a store can do. NULL is what it cannot: calls that need it then return
 * IMREC_ERR_UNSUPPORTED, which names the URI and what is missing. `open`, `read_at` and `close` are
 * required; `create`, `write`, `close_new`, `publish` and `remove` come together, or not at all.
 *
 * `user` is that of the registration. A `name` is the URI without "scheme://", any bytes without a
 * NUL, valid during the call only; '/' separates folders. Every function is called by any thread,
 * several at once; `write` and `sync` of one new object by one thread at a time.
 *
 * A function that fails returns a status above IMREC_END and may fill *err, which is never NULL:
 * `message` is the reason (the library puts the URI in front of it) and sys_errno an errno. ENOENT
 * with IMREC_ERR_IO says that there is no such object or folder: the library tells it from other
 * failures. None may throw, jump out or call imrec_store_unregister(). */
struct imrec_store {
    size_t struct_size; /* sizeof(struct imrec_store) */

    /* Opens an object for reading. *object is yours, and goes to read_at and close. *size is in
     * bytes, and what the object contains stays the same until close. *modified (initially 0: not
     * known) is when it was changed last, nanoseconds since 1970. */
    enum imrec_status (*open)(void *user, const char *name, void **object, uint64_t *size,
                              uint64_t *modified, struct imrec_error *err);
    /* Writes exactly n bytes from `offset` on to `to`, or fails. They are within the size. */
    enum imrec_status (*read_at)(void *user, void *object, uint64_t offset, void *to, size_t n,
                                 struct imrec_error *err);
    void (*close)(void *user, void *object);

    /* Calls entry(to, ...) for all that a folder holds, in any order, each once; the folder "" is
     * the whole store. A folder that holds nothing is the same as none: ENOENT is allowed. */
    enum imrec_status (*list)(void *user, const char *folder, imrec_store_entry_fn *entry, void *to,
                              struct imrec_error *err);

    /* Begins an object. The library writes NAME.part first and publishes it as NAME, so `name` ends
     * in ".part". keep: how many bytes of the object that has this name now to keep and to append
     * to (fewer are an error); UINT64_MAX: it begins empty, and what it contained is lost. */
    enum imrec_status (*create)(void *user, const char *name, uint64_t keep, void **object,
                                struct imrec_error *err);
    /* Appends all n bytes, or fails. */
    enum imrec_status (*write)(void *user, void *object, const void *p, size_t n,
                               struct imrec_error *err);
    /* What was written so far is durable and can be opened under the name. NULL: it always is. */
    enum imrec_status (*sync)(void *user, void *object, struct imrec_error *err);
    /* Ends writing. The object stays under its name, so that an interrupted run can resume. */
    void (*close_new)(void *user, void *object);
    /* The object `name` becomes `as`, in place of what has that name, as one step that is durable
     * on return: a reader sees the old one or the whole new one. After a failure `as` is as it
     * was. */
    enum imrec_status (*publish)(void *user, const char *name, const char *as,
                                 struct imrec_error *err);
    /* Removes an object; one that does not exist is IMREC_OK. */
    enum imrec_status (*remove)(void *user, const char *name, struct imrec_error *err);

    /* Takes a name for one writer at a time, of all processes, without waiting; sys_errno EBUSY: it
     * is held. Your lock must end with the process. NULL: the library locks out the other calls of
     * this process alone and logs a warning each time. unlock comes with lock. */
    enum imrec_status (*lock)(void *user, const char *name, void **held, struct imrec_error *err);
    void (*unlock)(void *user, void *held);
};

/* Registers a store under a scheme, any time, from any thread: URIs "SCHEME://NAME" that are opened
 * later are its objects, everywhere a URI is taken. A scheme consists of up to 31 letters, digits,
 * + and -, in any case; at most 64 are registered at a time. One that imrec has, or that is
 * registered, is IMREC_ERR_ARGUMENT. *store is copied; `user` must outlive the registration. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_store_register(const char *scheme, const struct imrec_store *store, void *user,
                     struct imrec_error *err);

/* Ends a registration, from any thread. While objects of the store are open or calls run in it,
 * IMREC_ERR_ARGUMENT with sys_errno EBUSY says how many, and nothing changes; on success the
 * library calls none of its functions again. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_store_unregister(const char *scheme, struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
