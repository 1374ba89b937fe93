/* storage/store/store.h - what a store must be able to do; storage/schemes.h has the table of them.
 */
#ifndef IMREC_STORAGE_STORE_STORE_H
#define IMREC_STORAGE_STORE_STORE_H

#include "imrec/error.h"

#define SOURCE_FAR_BYTES ((uint64_t)192 << 10)

struct source;
struct source_ops {
    /* Exactly n bytes, or an error; any number of threads at once. */
    enum imrec_status (*read_at)(struct source *s, uint64_t offset, void *to, size_t n,
                                 struct imrec_error *err);
    void (*will_need)(struct source *s, uint64_t offset, uint64_t n); /* a hint; may be NULL */
    void (*drop)(struct source *s, uint64_t offset,
                 uint64_t n); /* out of the page cache; may be NULL */
    void (*close)(struct source *s);
    /* Reads that wait end soon, and later ones at once, with IMREC_ERR_CANCELLED: nobody wants them
     * any more. Any thread. NULL: they take no time. */
    void (*cancel)(struct source *s);
};
struct source {
    uint64_t size; /* bytes */
    const struct source_ops *ops;
    uint64_t modified;    /* when it was changed last, ns since 1970; 0: not known */
    const char *identity; /* of this version of it, as long as the source; NULL: not known */
    uint32_t at_once;     /* reads that are worth being under way together; 0: not more than of a
                           * disk. Each takes SOURCE_FAR_BYTES besides what it reads into */
};

enum folder_kind {
    FOLDER_UNKNOWN, /* a link, or the store does not say without being asked: folder_look() */
    FOLDER_FILE,
    FOLDER_FOLDER,
    FOLDER_FIFO,
    FOLDER_SOCKET,
    FOLDER_DEVICE,
    FOLDER_LOST, /* only of folder_look(): it leads to nothing, or nobody may look where */
};

struct folder_entry {
    const char *name; /* without a '/'; until the next one */
    enum folder_kind kind;
    /* Of a file, where the list says it: what its source would have. NULL: it says neither. */
    const char *identity;
    uint64_t size;
};

struct folder;
struct folder_ops {
    /* Fills a zeroed one. IMREC_END: there are no more. */
    enum imrec_status (*next)(struct folder *f, struct folder_entry *out, struct imrec_error *err);
    /* The kind of an entry of FOLDER_UNKNOWN; of FOLDER_LOST *code is the errno. NULL: the
     * store has no such entries. */
    enum folder_kind (*look)(struct folder *f, const char *name, int *code);
    void (*close)(struct folder *f);
};
struct folder { /* an open one; one thread at a time */
    const struct folder_ops *ops;
    uint64_t device, number; /* the same of one folder under two names, and of no two folders */
};

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
    /* Of the sources of files whose identity its lists say; 0: they do not. */
    uint32_t listed_at_once;
    /* Such a file, without asking anybody: an object of another size or identity is an error when
     * it is read. NULL: open_source() tells, at the first read. */
    enum imrec_status (*open_listed)(const char *name, const struct folder_entry *said,
                                     struct source **out, struct imrec_error *err);
    /* size: STORE_NEW for an empty object, else how many bytes of the temporary one to keep. */
    enum imrec_status (*open_out)(const char *name, uint64_t size, struct out **out,
                                  struct imrec_error *err);
    /* The same of an object that is read again, as NAME.part, before its end, and that is not
     * published: a journal. NULL: as open_out. */
    enum imrec_status (*open_log)(const char *name, uint64_t size, struct out **out,
                                  struct imrec_error *err);
    /* The temporary object of `name` becomes the final one of `as`. */
    enum imrec_status (*publish)(const char *name, const char *as, struct imrec_error *err);
    /* The same where no object has the final name; one that has is an error of errno EEXIST and
     * stays as it is, but for one that an earlier try has made. NULL: as publish. */
    enum imrec_status (*publish_new)(const char *name, const char *as, struct imrec_error *err);
    /* A folder of objects, e.g. "a" of "a/b" and "a/c/d"; IMREC_ERR_IO where there is none. */
    enum imrec_status (*open_folder)(const char *name, struct folder **out,
                                     struct imrec_error *err);
    /* Bytes of an object, which is looked at and not opened. NULL: open_source() tells. */
    enum imrec_status (*measure)(const char *name, uint64_t *size, struct imrec_error *err);
    /* Whether it is there, under its final name; an error where that is not to be known. */
    enum imrec_status (*exists)(const char *name, bool *there, struct imrec_error *err);
    enum imrec_status (*remove)(const char *name, struct imrec_error *err); /* the final one */
    /* What was removed next to `name`, or got a name there, stays so when the machine stops. NULL:
     * it does anyway. */
    enum imrec_status (*sync_names)(const char *name, struct imrec_error *err);
    /* lock_take() and lock_drop(); `out` begins with a struct lock that lock.c fills. */
    enum imrec_status (*lock)(const char *name, struct lock **out, struct imrec_error *err);
    void (*unlock)(struct lock *l);
};
#endif
