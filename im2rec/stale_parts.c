/* im2rec/stale_parts.c - what an interrupted run of the same set has left, also one into another
 * number of shards: its journal would have told, but force begins without it. */
#include "im2rec/stale_parts.h"

#include "base/error.h"
#include "formats/set_names.h"
#include "im2rec/set_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* NAME.rec.part, .idx, .crc or .cbf as NAME.rec; false: no part of a shard. */
static bool shard_of(const char *name, char out[NAME_BYTES])
{
    static const char *const suffixes[] = {".rec.part", ".idx.part", ".crc.part", ".cbf.part"};
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        const size_t tail = strlen(suffixes[i]);
        if (n <= tail || n >= NAME_BYTES - 64 || strcmp(name + n - tail, suffixes[i]) != 0)
            continue;
        memcpy(out, name, n - tail);
        strcpy(out + n - tail, ".rec");
        return true;
    }
    return false;
}

/* The list belongs to the set, whatever its shards are called: the name that tells sets apart. */
static bool is_of_set(const char *name, const char *list)
{
    char rec[NAME_BYTES], its_list[NAME_BYTES];
    if (!shard_of(name, rec))
        return false;
    set_name(rec, SET_LIST, its_list);
    return strcmp(its_list, list) == 0;
}

static enum imrec_status
remove_from(const char *folder, DIR *d, const char *list, struct imrec_error *err)
{
    char path[2 * NAME_BYTES];
    const struct dirent *e;
    while ((e = readdir(d)) != NULL) {
        if (!is_of_set(e->d_name, list))
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (unlink(path) != 0 && errno != ENOENT) {
            imrec_error_at(err, IMREC_ERR_IO, IMREC_NO_OFFSET, "%s: cannot remove it: %s", path,
                           strerror(errno));
            return IMREC_ERR_IO;
        }
    }
    return IMREC_OK;
}

enum imrec_status stale_parts_remove(const char *rec, struct imrec_error *err)
{
    char list[NAME_BYTES], folder[NAME_BYTES];
    const char *path = strncmp(rec, "file://", 7) == 0 ? rec + 7 : rec;
    if (strstr(path, "://") != NULL || strlen(path) >= NAME_BYTES - 64)
        return IMREC_OK; /* a store that has no folders */
    set_name(path, SET_LIST, list);
    const char *base = set_base_name(list);
    snprintf(folder, sizeof(folder), "%.*s", base == list ? 1 : (int)(base - list),
             base == list ? "." : list);
    DIR *d = opendir(folder);
    if (d == NULL) /* whoever writes there next says why */
        return IMREC_OK;
    const enum imrec_status st = remove_from(folder, d, base, err);
    closedir(d);
    return st;
}
