/* im2rec/reshape/source_sets.c */
#include "im2rec/reshape/source_sets.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "container/kinds.h"
#include "dataset/dataset_files.h"
#include "dataset/dataset_set.h"
#include "dataset/record_reader.h"
#include "formats/recordio/record_index.h"
#include "formats/set/set_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- opening ---------------------------------------------------------------------------- */

/* All of them together: shards of a set may be given one by one. */
static enum imrec_status
open_list(const char *const *uris, size_t count, struct shard_list *l, struct imrec_error *err)
{
    for (size_t i = 0; i < count; i++)
        IMREC_TRY(shard_list_add(l, uris[i], SHARDS_COMPLETE, err));
    return shard_list_check(l, SHARDS_COMPLETE, err);
}

enum imrec_status source_sets_expand(const char *const *uris, size_t count,
                                     enum imrec_container container, char ***shards,
                                     size_t *shard_count, struct imrec_error *err)
{
    struct shard_list l = {.only = kinds_of(container)};
    enum imrec_status st = open_list(uris, count, &l, err);
    const size_t n = *shard_count, more = l.names.count;
    char **grown = st == IMREC_OK ? imrec_realloc(*shards, n + more + 1, sizeof(*grown)) : NULL;
    if (st == IMREC_OK && grown == NULL)
        st = IMREC_NO_MEMORY(err, "no memory for a list of %zu shards", more);
    if (st == IMREC_OK) {
        memcpy(grown + n, l.names.uri, more * sizeof(*grown));
        l.names.count = 0; /* they are the caller's now */
        *shards = grown;
        *shard_count = n + more;
    }
    shard_list_free(&l);
    return st;
}

/* Whether b begins with all names of a. */
static bool begins_with(const struct class_list *a, const struct class_list *b)
{
    bool same = a->count <= b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        const struct bytes x = class_list_name(a, i), y = class_list_name(b, i);
        same = x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
    }
    return same;
}

/* A list or class list that is not the packer's any more may be a user's own work, or damage. */
static enum imrec_status
look_for_change(const char *shard, enum set_file what, struct imrec_error *err)
{
    struct imrec_error why;
    bool known;
    const enum imrec_status st = dataset_check_file(shard, what, &known, &why);
    if (st == IMREC_ERR_NO_MEMORY)
        return imrec_fail(err, st, "%s", why.message);
    if (st != IMREC_OK)
        imrec_log(IMREC_LOG_WARNING, "%.440s; its names are taken as they are", why.message);
    return IMREC_OK;
}

static enum imrec_status
load_classes(const char *shard, struct class_list *out, struct imrec_error *err)
{
    uint8_t *text = NULL;
    char *path = NULL;
    size_t n = 0;
    *out = (struct class_list){0};
    IMREC_TRY(look_for_change(shard, SET_CLASSES, err));
    enum imrec_status st = dataset_load(shard, SET_CLASSES, &path, &text, &n, err);
    if (st == IMREC_OK && text != NULL)
        st = class_list_read(path, (struct bytes){text, n}, out, err);
    IMREC_FREE(text, path);
    return st;
}

static bool same_set(const char *a, const char *b)
{
    char *x = set_path(a, SET_LIST), *y = set_path(b, SET_LIST);
    const bool same = x != NULL && y != NULL && strcmp(x, y) == 0;
    IMREC_FREE(x, y);
    return same;
}

static enum imrec_status
take_classes(struct source_sets *s, enum source_classes want, struct imrec_error *err)
{
    for (size_t i = 0; i < s->count; i++) {
        struct class_list other;
        if (i == 0) {
            IMREC_TRY(load_classes(s->shard[0], &s->classes, err));
            continue;
        }
        if (same_set(s->shard[i], s->shard[i - 1]))
            continue;
        IMREC_TRY(load_classes(s->shard[i], &other, err));
        const bool more = other.count > s->classes.count && want == SOURCE_CLASSES_GROW;
        const bool fits =
            begins_with(&s->classes, &other) && (more || other.count == s->classes.count);
        if (fits && more) {
            const struct class_list fewer = s->classes;
            s->classes = other;
            other = fewer;
        }
        class_list_free(&other);
        if (!fits)
            return IMREC_REFUSE(err,
                                "%.300s and %.300s have different class lists: their labels mean "
                                "different things; no-classes joins them all the same",
                                s->shard[0], s->shard[i]);
    }
    s->has_classes = s->classes.count != 0;
    return IMREC_OK;
}

enum imrec_status source_sets_open(const char *const *uris, size_t count,
                                   const struct imrec_reader_options *o, enum source_classes want,
                                   struct source_sets *out, struct imrec_error *err)
{
    *out = (struct source_sets){.as.num_parts = 1};
    enum imrec_status st = reader_options_take(o, &out->as, err);
    if (st == IMREC_OK)
        st = source_sets_expand(uris, count, out->as.container, &out->shard, &out->count, err);
    if (st == IMREC_OK && want != SOURCE_CLASSES_NONE)
        st = take_classes(out, want, err);
    if (st != IMREC_OK)
        source_sets_close(out);
    return st;
}

static void close_shard(struct source_sets *s)
{
    if (s->reader == NULL)
        return;
    s->unchecked += s->reader->unchecked;
    s->warned = s->reader->warned;
    imrec_checked_close(s->reader);
    s->reader = NULL;
}

void source_sets_close(struct source_sets *s)
{
    for (size_t i = 0; i < s->count; i++)
        imrec_free(s->shard[i]);
    imrec_free(s->shard);
    class_list_free(&s->classes);
    close_shard(s);
    imrec_names_close(s->names);
    imrec_free(s->list);
    *s = (struct source_sets){0};
}

/* ---- records ------------------------------------------------------------------------------ */

/* Names stay open as long as shards are of one set. */
static enum imrec_status open_names(struct source_sets *s, struct imrec_error *err)
{
    char *list = set_path(s->shard[s->at], SET_LIST);
    if (list == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a name");
    if (s->list != NULL && strcmp(s->list, list) == 0) {
        imrec_free(list);
        return IMREC_OK;
    }
    imrec_free(s->list);
    s->list = list;
    imrec_names_close(s->names);
    s->names = NULL;
    IMREC_TRY(look_for_change(s->shard[s->at], SET_LIST, err));
    return imrec_names_open(s->shard[s->at], &s->names, err);
}

static enum imrec_status open_shard(struct source_sets *s, struct imrec_error *err)
{
    IMREC_TRY(open_names(s, err));
    struct container_options one = s->as;
    one.path_imgrec = s->shard[s->at];
    one.look = CONTAINER_LOOK_SHARD;
    IMREC_TRY(checked_open_as(&one, NULL, NULL, &s->reader, err));
    s->reader->warned = s->warned; /* once for all shards */
    return IMREC_OK;
}

enum imrec_status source_sets_next(struct source_sets *s, struct imrec_record *out, size_t *shard,
                                   struct imrec_error *err)
{
    enum imrec_status st = IMREC_END;
    while (st == IMREC_END && s->at < s->count) {
        if (s->reader == NULL)
            IMREC_TRY(open_shard(s, err));
        do {
            st = imrec_checked_next(s->reader, out, err);
            s->metadata += st == IMREC_OK && out->metadata != IMREC_NO_METADATA;
        } while (st == IMREC_OK && out->metadata != IMREC_NO_METADATA);
        *shard = s->at;
        if (st == IMREC_END) {
            close_shard(s);
            s->at++;
        }
    }
    return st;
}

const struct imrec_finding *source_sets_found(const struct source_sets *s, uint64_t *records)
{
    *records = s->reader->lost;
    return imrec_checked_found(s->reader);
}

uint64_t source_sets_unchecked(const struct source_sets *s)
{
    return s->unchecked + (s->reader != NULL ? imrec_checked_unchecked(s->reader) : 0);
}

const char *
source_sets_path(const struct source_sets *s, const struct imrec_record *r, char room[64])
{
    const char *path = s->names != NULL ? imrec_names_find(s->names, r->id) : NULL;
    snprintf(room, 64, "id-%" PRIu64, r->id);
    return path != NULL ? path : room;
}

/* ---- what is there ------------------------------------------------------------------------ */

static enum imrec_status
count_one(const struct source_sets *s, size_t i, uint64_t *n, struct imrec_error *err)
{
    struct container_options one = s->as;
    one.path_imgrec = s->shard[i];
    one.look = CONTAINER_LOOK_FILE;
    struct imrec_reader *reader;
    uint64_t records = 0;
    IMREC_TRY(imrec_reader_open_as(&one, &reader, err));
    const enum imrec_status st = imrec_reader_count(reader, &records, err);
    imrec_reader_close(reader);
    *n += records;
    return st;
}

enum imrec_status
source_sets_count(const struct source_sets *s, uint64_t *out, struct imrec_error *err)
{
    *out = 0;
    for (size_t i = 0; i < s->count; i++)
        IMREC_TRY(count_one(s, i, out, err));
    return IMREC_OK;
}

static bool same_folder(const char *a, const char *b)
{
    struct stat x, y;
    char folder[2][4096];
    const char *path[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        const int n = (int)(set_base_name(path[i]) - path[i]);
        snprintf(folder[i], sizeof(folder[i]), "%.*s", n != 0 ? n : 1, n != 0 ? path[i] : ".");
    }
    if (stat(folder[0], &x) != 0 || stat(folder[1], &y) != 0)
        return strcmp(folder[0], folder[1]) == 0;
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool source_sets_has(const struct source_sets *s, const char *rec)
{
    char *list = set_path(rec, SET_LIST);
    bool has = false;
    for (size_t i = 0; list != NULL && i < s->count && !has; i++) {
        char *other = set_path(s->shard[i], SET_LIST);
        has = other != NULL && strcmp(set_base_name(other), set_base_name(list)) == 0 &&
              same_folder(other, list);
        imrec_free(other);
    }
    imrec_free(list);
    return has;
}
