/* im2rec/set/stale_parts.c - files that an interrupted run of the same set has left, also one into
 * another number of shards, of which force does not read the journal. */
#include "im2rec/set/stale_parts.h"

#include "base/error.h"
#include "formats/set/set_names.h"
#include "im2rec/set/set_files.h"
#include "im2rec/set/shard_names.h"
#include "storage/folder.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <stdio.h>
#include <string.h>

/* A folder, and whose parts are looked for in it. */
struct place {
    char list[NAME_BYTES], folder[NAME_BYTES]; /* of the set, with its path */
    const struct shard_kind *kind;
};

/* name[0..*n) ends so: the suffix is cut off. */
static bool cut_suffix(const char *name, size_t *n, const char *suffix)
{
    const size_t tail = strlen(suffix);
    const bool is_there = *n > tail && memcmp(name + *n - tail, suffix, tail) == 0;
    *n -= is_there ? tail : 0;
    return is_there;
}

static bool is_of_set(const struct place *p, const char *name)
{
    const char *list = set_base_name(p->list), *scratch = p->kind->scratch;
    size_t n = strlen(name);
    return cut_suffix(name, &n, ".part") && (shard_name_is_of(name, n, p->kind, list) ||
                                             (scratch != NULL && cut_suffix(name, &n, scratch) &&
                                              shard_name_is_of(name, n, p->kind, list)));
}

/* *out is NULL: a store without folders, or a missing folder: writing to it reports the reason. */
static enum imrec_status open_place(const char *rec, const struct shard_kind *kind, struct place *p,
                                    struct folder **out, struct imrec_error *err)
{
    const char *path = source_path(rec);
    *out = NULL;
    if (strlen(path) >= NAME_BYTES - 64)
        return IMREC_OK;
    set_name(path, SET_LIST, p->list);
    const char *base = set_base_name(p->list);
    snprintf(p->folder, sizeof(p->folder), "%.*s", base == p->list ? 1 : (int)(base - p->list),
             base == p->list ? "." : p->list);
    p->kind = kind;
    const enum imrec_status st = source_is_remote(path) ? folder_open(p->folder, out, err)
                                                        : folder_open_path(p->folder, out, err);
    return st == IMREC_ERR_NO_MEMORY ? st : IMREC_OK;
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
        snprintf(path, sizeof(path), "%s%s%s", p->folder,
                 p->folder[strlen(p->folder) - 1] == '/' ? "" : "/", e.name);
        IMREC_TRY(sink_remove(path, err));
    }
    return st == IMREC_END ? IMREC_OK : st;
}

enum imrec_status
stale_parts_remove(const char *rec, const struct shard_kind *kind, struct imrec_error *err)
{
    struct place p;
    struct folder *f;
    IMREC_TRY(open_place(rec, kind, &p, &f, err));
    const enum imrec_status st = f != NULL ? remove_from(&p, f, err) : IMREC_OK;
    folder_close(f);
    return st;
}

enum imrec_status stale_parts_exist(const char *rec, const struct shard_kind *kind, bool *out,
                                    struct imrec_error *err)
{
    struct place p;
    struct folder_entry e;
    struct folder *f;
    *out = false;
    IMREC_TRY(open_place(rec, kind, &p, &f, err));
    enum imrec_status st = f != NULL ? IMREC_OK : IMREC_END;
    while (st == IMREC_OK && !*out)
        if ((st = folder_next(f, &e, err)) == IMREC_OK)
            *out = is_of_set(&p, e.name);
    folder_close(f);
    return st == IMREC_END ? IMREC_OK : st;
}
