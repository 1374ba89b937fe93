/* im2rec/set/stale_parts.c - files that an interrupted run of the same set has left, also one into
 * another number of shards, of which force does not read the journal. */
#include "im2rec/set/stale_parts.h"

#include "base/error.h"
#include "formats/set/set_names.h"
#include "im2rec/set/set_files.h"
#include "im2rec/set/shard_names.h"
#include "storage/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A folder, and whose parts are looked for in it. */
struct place {
    char list[NAME_BYTES], folder[NAME_BYTES]; /* of the set, with its path */
    const char *const *suffixes;
};

static bool is_of_set(const struct place *p, const char *name)
{
    static const char part[] = ".part";
    const size_t n = strlen(name), tail = sizeof(part) - 1;
    return n > tail && strcmp(name + n - tail, part) == 0 &&
           shard_name_is_of(name, n - tail, p->suffixes, set_base_name(p->list));
}

/* NULL: a store without folders, or a missing folder: writing to it reports the reason. */
static struct folder *open_place(const char *rec, bool cbf, struct place *p)
{
    struct folder *f;
    const char *path = strncmp(rec, "file://", 7) == 0 ? rec + 7 : rec;
    if (strstr(path, "://") != NULL || strlen(path) >= NAME_BYTES - 64)
        return NULL;
    set_name(path, SET_LIST, p->list);
    const char *base = set_base_name(p->list);
    snprintf(p->folder, sizeof(p->folder), "%.*s", base == p->list ? 1 : (int)(base - p->list),
             base == p->list ? "." : p->list);
    p->suffixes = cbf ? shard_suffixes_cbf_work : shard_suffixes_rec;
    return folder_open_path(p->folder, &f, NULL) == IMREC_OK ? f : NULL;
}

static enum imrec_status
remove_from(const struct place *p, struct folder *f, struct imrec_error *err)
{
    char path[2 * NAME_BYTES];
    struct folder_entry e;
    enum imrec_status st;
    while ((st = folder_next(f, &e, err)) == IMREC_OK) {
        if (!is_of_set(p, e.name))
            continue;
        snprintf(path, sizeof(path), "%s/%s", p->folder, e.name);
        if (unlink(path) != 0 && errno != ENOENT) {
            imrec_error_at(err, IMREC_ERR_IO, IMREC_NO_OFFSET, "%s: cannot remove it: %s", path,
                           strerror(errno));
            return IMREC_ERR_IO;
        }
    }
    return st == IMREC_END ? IMREC_OK : st;
}

enum imrec_status stale_parts_remove(const char *rec, bool cbf, struct imrec_error *err)
{
    struct place p;
    struct folder *f = open_place(rec, cbf, &p);
    if (f == NULL)
        return IMREC_OK;
    const enum imrec_status st = remove_from(&p, f, err);
    folder_close(f);
    return st;
}

bool stale_parts_exist(const char *rec, bool cbf)
{
    struct place p;
    struct folder_entry e;
    bool found = false;
    struct folder *f = open_place(rec, cbf, &p);
    while (f != NULL && !found && folder_next(f, &e, NULL) == IMREC_OK)
        found = is_of_set(&p, e.name);
    folder_close(f);
    return found;
}
