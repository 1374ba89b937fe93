/* storage/store/listed.h - what folders held when they were listed: while a set is opened, nobody
 * is asked again.
 *
 *     struct listed all = {NULL}, *before = listed_enter(&all);
 *     ... open everything ...
 *     listed_enter(before);
 *     listed_free(&all);
 *
 * Threads that help enter it, too: any of them may add to it and look at any time. */
#ifndef IMREC_STORAGE_STORE_LISTED_H
#define IMREC_STORAGE_STORE_LISTED_H

#include "base/string_arena.h"
#include "storage/store/store.h"

#include <stdatomic.h>
#include <stdbool.h>

struct folder_entries { /* in the order of their names' bytes */
    struct folder_entry *entry;
    size_t count;
    uint64_t room;
    struct string_arena names;
};
void folder_entries_free(struct folder_entries *l); /* zeroed memory is fine */

struct listed_one;
struct listed {                          /* zeroed at first */
    _Atomic(struct listed_one *) newest; /* those that are in it stay as they are */
};

/* NULL: none. Returns the one before. */
struct listed *listed_enter(struct listed *l);
struct listed *listed_now(void); /* of this thread */
/* Keeps *all of the folder, which is then zeroed; NULL: nothing keeps it, and it is the caller's.
 */
const struct folder_entries *listed_keep(const char *folder, struct folder_entries *all);
/* Of a folder by the same URI, a '/' at its end or not; NULL: it was not listed. */
const struct folder_entries *listed_folder(const char *folder);
/* Whether the folder of an object was listed; *file: what it says of it, NULL: there is no file of
 * this name. */
bool listed_look(const char *uri, const struct folder_entry **file);
void listed_free(struct listed *l);
#endif
