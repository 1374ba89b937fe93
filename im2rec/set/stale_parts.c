/* im2rec/set/stale_parts.c - what an interrupted run of the same set has left, also one into
 * another number of shards: its journal would have told, but force begins without it. */
#include "im2rec/set/stale_parts.h"

#include "base/error.h"
#include "formats/set/set_names.h"
#include "im2rec/set/set_files.h"
#include "im2rec/set/shard_names.h"

#include <dirent.h>
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

/* NULL: a store that has no folders, or a folder that is not there: whoever writes says why. */
static DIR *open_place(const char *rec, bool cbf, struct place *p)
{
    const char *path = strncmp(rec, "file://", 7) == 0 ? rec + 7 : rec;
    if (strstr(path, "://") != NULL || strlen(path) >= NAME_BYTES - 64)
        return NULL;
    set_name(path, SET_LIST, p->list);
    const char *base = set_base_name(p->list);
    snprintf(p->folder, sizeof(p->folder), "%.*s", base == p->list ? 1 : (int)(base - p->list),
             base == p->list ? "." : p->list);
    p->suffixes = cbf ? shard_suffixes_cbf_work : shard_suffixes_rec;
    return opendir(p->folder);
}

static enum imrec_status remove_from(const struct place *p, DIR *d, struct imrec_error *err)
{
    char path[2 * NAME_BYTES];
    const struct dirent *e;
    while ((e = readdir(d)) != NULL) {
        if (!is_of_set(p, e->d_name))
            continue;
        snprintf(path, sizeof(path), "%s/%s", p->folder, e->d_name);
        if (unlink(path) != 0 && errno != ENOENT) {
            imrec_error_at(err, IMREC_ERR_IO, IMREC_NO_OFFSET, "%s: cannot remove it: %s", path,
                           strerror(errno));
            return IMREC_ERR_IO;
        }
    }
    return IMREC_OK;
}

enum imrec_status stale_parts_remove(const char *rec, bool cbf, struct imrec_error *err)
{
    struct place p;
    DIR *d = open_place(rec, cbf, &p);
    if (d == NULL)
        return IMREC_OK;
    const enum imrec_status st = remove_from(&p, d, err);
    closedir(d);
    return st;
}

bool stale_parts_exist(const char *rec, bool cbf)
{
    struct place p;
    const struct dirent *e;
    bool found = false;
    DIR *d = open_place(rec, cbf, &p);
    while (d != NULL && !found && (e = readdir(d)) != NULL)
        found = is_of_set(&p, e->d_name);
    if (d != NULL)
        closedir(d);
    return found;
}
