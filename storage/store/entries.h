/* storage/store/entries.h - what a listing has found: of each entry its kind and its name. */
#ifndef IMREC_STORAGE_STORE_ENTRIES_H
#define IMREC_STORAGE_STORE_ENTRIES_H

#include "base/buf.h"
#include "storage/store/store.h"

#include <stdbool.h>

struct entries {
    struct buf bytes; /* of each a byte, its kind, and its name with a NUL */
    size_t given;     /* of these bytes, by entries_next() */
};
#define ENTRIES_INIT ((struct entries){.bytes = BUF_INIT(SIZE_MAX / 4)})

/* The name is n bytes without NUL and '/'. */
IMREC_NODISCARD enum imrec_status
entries_add(struct entries *e, enum folder_kind kind, const char *name, size_t n);
bool entries_has(const struct entries *e, enum folder_kind kind, const char *name, size_t n);
/* IMREC_END after the last one. The name is valid until the next one is added. */
enum imrec_status entries_next(struct entries *e, struct folder_entry *out);

/* A folder all of whose entries are known. */
struct entries_folder {
    struct folder base; /* first; entries_folder_new() fills in its ops */
    struct entries entries;
};
struct entries_folder *entries_folder_new(void); /* NULL: no memory; freed by its ops->close() */
#endif
