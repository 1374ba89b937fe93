/* storage/store/entries.h - what a listing has found of each entry. */
#ifndef IMREC_STORAGE_STORE_ENTRIES_H
#define IMREC_STORAGE_STORE_ENTRIES_H

#include "base/buf.h"
#include "storage/store/store.h"

#include <stdbool.h>

struct entries {
    /* Of each a byte, its kind, its name and its identity ("": not known) with a NUL each, and the
     * 8 bytes of its size. */
    struct buf bytes;
    size_t given; /* of these bytes, by entries_next() */
};
#define ENTRIES_INIT ((struct entries){.bytes = BUF_INIT(SIZE_MAX / 4)})

/* The name is n bytes without NUL and '/'. */
IMREC_NODISCARD enum imrec_status
entries_add(struct entries *e, enum folder_kind kind, const char *name, size_t n);
/* The same of a file, and what its list says of it; identity NULL: nothing. */
IMREC_NODISCARD enum imrec_status entries_add_file(struct entries *e, const char *name, size_t n,
                                                   const char *identity, uint64_t size);
bool entries_has(const struct entries *e, enum folder_kind kind, const char *name, size_t n);
/* IMREC_END after the last one. Its texts are valid until the next one is added. */
enum imrec_status entries_next(struct entries *e, struct folder_entry *out);

/* A folder all of whose entries are known. */
struct entries_folder {
    struct folder base; /* first; entries_folder_new() fills in its ops */
    struct entries entries;
};
struct entries_folder *entries_folder_new(void); /* NULL: no memory; freed by its ops->close() */
#endif
