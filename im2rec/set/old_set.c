/* im2rec/set/old_set.c - the files under the names of a set before it is written, and how they are
 * removed.
 *
 * Sets of two formats under one name would share list, class list, manifest and journal: the second
 * one is refused. Of a replaced set only those files are removed that its manifest names and whose
 * names can be of this set, and the files of an interrupted run of it. */
#include "im2rec/set/set_files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "formats/crc32c.h"
#include "formats/set/manifest.h"
#include "formats/set/set_names.h"
#include "im2rec/set/journal.h"
#include "im2rec/set/shard_names.h"
#include "im2rec/set/stale_parts.h"
#include "im2rec/shard/shard_kinds.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CLASSES_MAX ((size_t)1 << 30)

enum imrec_status
set_is_unfinished(const struct set_files *s, bool *unfinished, struct imrec_error *err)
{
    return set_part_exists(s->journal, unfinished, err);
}

/* ---- in the way ------------------------------------------------------------------------- */

enum imrec_status set_refuse_old(const char *name, struct imrec_error *err)
{
    bool there;
    IMREC_TRY(sink_exists(name, &there, err));
    if (!there)
        return IMREC_OK;
    const enum imrec_status st = IMREC_REFUSE(err, "%s is there already; force replaces it", name);
    imrec_error_errno(err, EEXIST);
    return st;
}

static enum imrec_status check_shard(const struct set_files *s, uint64_t k, struct imrec_error *err)
{
    char rec[NAME_BYTES], name[NAME_BYTES];
    set_work_name(s, k, rec);
    IMREC_TRY(set_refuse_old(rec, err));
    set_name(rec, SET_INDEX, name);
    IMREC_TRY(set_refuse_old(name, err));
    if (s->kind->side_files) {
        set_name(rec, SET_BINARY_INDEX, name);
        IMREC_TRY(set_refuse_old(name, err));
    }
    set_name(rec, SET_CHECKSUMS, name);
    return set_refuse_old(name, err);
}

enum imrec_status set_check_free(const struct set_files *s, struct imrec_error *err)
{
    char name[NAME_BYTES];
    for (int what = SET_MANIFEST; what >= SET_LIST; what--) {
        if (what == SET_CLASSES && s->given_classes)
            continue; /* it is written as it is */
        set_name(s->rec, (enum set_file)what, name);
        IMREC_TRY(set_refuse_old(what == SET_LIST ? s->list : name, err));
    }
    for (uint64_t k = 0; k < s->count; k++)
        IMREC_TRY(check_shard(s, k, err));
    return IMREC_OK;
}

/* ---- the other format ------------------------------------------------------------------- */

enum imrec_status
set_load_manifest(const struct set_files *s, struct manifest *m, struct imrec_error *err)
{
    char name[NAME_BYTES];
    uint8_t *text = NULL;
    size_t n = 0;
    *m = (struct manifest){0};
    set_name(s->rec, SET_MANIFEST, name);
    IMREC_TRY(source_load_if_there(name, MANIFEST_MAX_BYTES, &text, &n, err));
    if (text != NULL && manifest_read(name, (struct bytes){text, n}, m, NULL) != IMREC_OK)
        *m = (struct manifest){0};
    imrec_free(text);
    return IMREC_OK;
}

/* An exact name need not end like a shard. */
static const struct shard_kind *kind_of(const struct manifest *m)
{
    const struct shard_kind *kind = NULL;
    for (size_t i = 0; i < m->option_count && kind == NULL; i++)
        if (strcmp(m->options[i].name, "format") == 0)
            kind = shard_kind_of_format(m->options[i].value);
    kind = kind != NULL ? kind : shard_kind_of_name(m->shards[0].rec.name);
    return kind != NULL ? kind : shard_kinds[0];
}

static enum imrec_status check_manifest(const struct set_files *s, struct imrec_error *err)
{
    struct manifest m;
    enum imrec_status st = set_load_manifest(s, &m, err);
    if (m.shard_count != 0 && kind_of(&m) != s->kind) {
        char name[NAME_BYTES];
        set_name(s->rec, SET_MANIFEST, name);
        st = IMREC_REFUSE(err, "%s belongs to the set %s in %s; give this set another name", name,
                          m.shards[0].rec.name, kind_of(&m)->name);
    }
    manifest_free(&m);
    return st;
}

/* The kind of the parts that an interrupted run left; the set's own where it has some, or nobody
 * has. */
static enum imrec_status
kind_of_parts(const struct set_files *s, const struct shard_kind **out, struct imrec_error *err)
{
    bool found;
    *out = s->kind;
    IMREC_TRY(stale_parts_exist(s->rec, s->kind, &found, err));
    for (const struct shard_kind *const *k = shard_kinds; !found && *k != NULL; k++) {
        IMREC_TRY(stale_parts_exist(s->rec, *k, &found, err));
        *out = found ? *k : s->kind;
    }
    return IMREC_OK;
}

/* A journal of version 1 does not name the format; then the parts next to it show it. */
static enum imrec_status check_journal(const struct set_files *s, struct imrec_error *err)
{
    const struct shard_kind *kind;
    bool unfinished;
    IMREC_TRY(set_is_unfinished(s, &unfinished, err));
    if (!unfinished)
        return IMREC_OK;
    IMREC_TRY(journal_kind_of(s->journal, &kind, err));
    if (kind == NULL)
        IMREC_TRY(kind_of_parts(s, &kind, err));
    if (kind == s->kind)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "%s.part belongs to an interrupted run in %s; give this set another name, "
                        "or end that run: format=%s with resume or force",
                        s->journal, kind->name, kind->format);
}

enum imrec_status set_check_format(const struct set_files *s, struct imrec_error *err)
{
    IMREC_TRY(check_manifest(s, err));
    return check_journal(s, err);
}

/* ---- removing --------------------------------------------------------------------------- */

bool set_name_beside(const struct set_files *s, const char *base, char out[NAME_BYTES])
{
    const int folder = (int)(set_base_name(s->rec) - s->rec);
    const int n = snprintf(out, NAME_BYTES, "%.*s%s", folder, s->rec, base);
    return n > 0 && n < NAME_BYTES;
}

/* What a manifest names is removed only if it can be of this set. */
static bool can_be_shard(const struct set_files *s, const char *base)
{
    char list[NAME_BYTES];
    set_name(s->rec, SET_LIST, list);
    return strcmp(base, set_base_name(s->rec)) == 0 || /* an exact name has any suffix, or none */
           shard_name_is_of(base, strlen(base), s->kind, set_base_name(list));
}

static void tell_foreign(const struct set_files *s, const char *first, uint64_t count)
{
    char name[NAME_BYTES];
    set_name(s->rec, SET_MANIFEST, name);
    if (count == 1)
        imrec_log(IMREC_LOG_WARNING,
                  "%s names %.200s, which is not a name of this set: it is left alone", name,
                  first);
    else if (count != 0)
        imrec_log(
            IMREC_LOG_WARNING,
            "%s names %llu files, the first %.200s, which are not names of this set: they are "
            "left alone",
            name, (unsigned long long)count, first);
}

/* No manifest names it. */
static enum imrec_status remove_binary_index(const char *rec, struct imrec_error *err)
{
    char name[NAME_BYTES];
    set_name(rec, SET_BINARY_INDEX, name);
    return sink_remove(name, err);
}

/* But for those that `kept` shards of the set have. */
static enum imrec_status remove_shards(const struct set_files *s, const struct manifest *m,
                                       uint64_t kept, struct imrec_error *err)
{
    char name[NAME_BYTES];
    const char *foreign = NULL;
    uint64_t count = 0;
    for (size_t k = 0; k < m->shard_count; k++) {
        set_final_name(s, k, kept, name);
        if (k < kept && strcmp(set_base_name(name), m->shards[k].rec.name) == 0)
            continue;
        const char *names[] = {m->shards[k].rec.name, m->shards[k].idx.name,
                               m->shards[k].checksums.name};
        for (int i = 0; i < 3; i++) {
            if (names[i] == NULL)
                continue;
            IMREC_TRY(stop_check(s->stop, err));
            if (can_be_shard(s, names[i]) && set_name_beside(s, names[i], name)) {
                IMREC_TRY(sink_remove(name, err));
                if (i == 0 && s->kind->side_files)
                    IMREC_TRY(remove_binary_index(name, err));
                continue;
            }
            foreign = foreign == NULL ? names[i] : foreign;
            count++;
        }
    }
    tell_foreign(s, foreign, count);
    return IMREC_OK;
}

/* A class list that stayed would name the classes of a new set that has none. One that is not as it
 * was written is somebody's work. */
static enum imrec_status
remove_classes(const struct set_files *s, const struct manifest *m, struct imrec_error *err)
{
    char name[NAME_BYTES];
    uint8_t *text;
    size_t n;
    set_name(s->rec, SET_CLASSES, name);
    if (m->classes.name == NULL || strcmp(m->classes.name, set_base_name(name)) != 0 ||
        s->given_classes)
        return IMREC_OK;
    IMREC_TRY(source_load_if_there(name, CLASSES_MAX, &text, &n, err));
    const bool as_written =
        text != NULL && n == m->classes.bytes && crc32c(0, text, n) == m->classes.crc32c;
    imrec_free(text);
    return as_written ? sink_remove(name, err) : IMREC_OK;
}

static enum imrec_status remove_manifest(const struct set_files *s, struct imrec_error *err)
{
    char name[NAME_BYTES];
    set_name(s->rec, SET_MANIFEST, name);
    return sink_remove_first(name, err);
}

/* The manifest goes last: until then it tells a next run what is left to remove. */
enum imrec_status set_clear(const struct set_files *s, struct imrec_error *err)
{
    struct manifest m;
    IMREC_TRY(stale_parts_remove(s->rec, s->kind, err));
    enum imrec_status st = set_load_manifest(s, &m, err);
    if (st == IMREC_OK)
        st = remove_shards(s, &m, 0, err);
    if (st == IMREC_OK)
        st = remove_classes(s, &m, err);
    if (st == IMREC_OK)
        st = remove_manifest(s, err);
    manifest_free(&m);
    return st;
}

enum imrec_status set_replace(const struct set_files *s, uint64_t shards, struct imrec_error *err)
{
    struct manifest m;
    enum imrec_status st = set_load_manifest(s, &m, err);
    if (st == IMREC_OK)
        st = remove_manifest(s, err); /* first: files of the new set take the names it lists */
    if (st == IMREC_OK)
        st = set_publish(s, shards, err);
    if (st == IMREC_OK)
        st = remove_shards(s, &m, shards, err);
    manifest_free(&m);
    return st;
}
