/* storage/store.h - what a store must be able to do; source.c holds the table of schemes. */
#ifndef IMREC_STORAGE_STORE_H
#define IMREC_STORAGE_STORE_H

#include "storage/folder.h"
#include "storage/lock.h"
#include "storage/source.h"

/* An object being written under its temporary name; sink.c buffers in front of it. */
struct out {
    const struct out_ops *ops;
};
struct out_ops {
    /* Appends all n bytes, or returns an error. */
    enum imrec_status (*write)(struct out *o, const void *p, size_t n, struct imrec_error *err);
    enum imrec_status (*sync)(struct out *o, struct imrec_error *err); /* durable */
    /* Begins to write n bytes from `offset` on to the disk, with `wait` also waits until it has
     * them: what sync() then waits for is less. NULL: sync() takes no time. */
    enum imrec_status (*push)(struct out *o, uint64_t offset, uint64_t n, bool wait,
                              struct imrec_error *err);
    void (*close)(struct out *o, bool remove); /* remove: the temporary object goes, too */
};

/* A name that this process holds; lock.c owns it. */
struct lock {
    const struct store *store;
};

#define STORE_NEW UINT64_MAX

/* `name` is the URI without its scheme. NULL for what a store cannot do: store_cannot(). */
struct store {
    const char *scheme;
    enum imrec_status (*open_source)(const char *name, struct source **out,
                                     struct imrec_error *err);
    /* size: STORE_NEW for an empty object, else how many bytes of the temporary one to keep. */
    enum imrec_status (*open_out)(const char *name, uint64_t size, struct out **out,
                                  struct imrec_error *err);
    /* The temporary object of `name` becomes the final one of `as`. */
    enum imrec_status (*publish)(const char *name, const char *as, struct imrec_error *err);
    /* A folder of objects, e.g. "a" of "a/b" and "a/c/d"; IMREC_ERR_IO where there is none. */
    enum imrec_status (*open_folder)(const char *name, struct folder **out,
                                     struct imrec_error *err);
    bool (*exists)(const char *name); /* under its final name */
    enum imrec_status (*remove)(const char *name, struct imrec_error *err); /* the final one */
    /* lock_take() and lock_drop(); `out` begins with a struct lock that lock.c fills. */
    enum imrec_status (*lock)(const char *name, struct lock **out, struct imrec_error *err);
    void (*unlock)(struct lock *l);
};

extern const struct store file_store, mem_store, fault_store;
extern const struct store http_store, https_store; /* where there is libcurl */
extern const struct store
    plugged_store; /* of every registered scheme; its names are complete URIs */

/* The store of a URI, and the name in it. IMREC_ERR_UNSUPPORTED for an unknown scheme. */
IMREC_NODISCARD enum imrec_status
store_of(const char *uri, const struct store **out, const char **name, struct imrec_error *err);
/* "URI: http:// is for reading alone ...": IMREC_ERR_UNSUPPORTED, of what the store cannot do. */
enum imrec_status
store_cannot(const char *uri, const struct store *store, const char *what, struct imrec_error *err);
#endif
