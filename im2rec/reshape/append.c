/*
 * im2rec/reshape/append.c - imrec_append(): new images are packed into a set of their own,
 * OUT.appended.rec, which is then joined to the old one and removed. The old set remains until the
 * joined one is complete.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "dataset/dataset_files.h"
#include "formats/recordio/record_index.h"
#include "formats/set/set_names.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/pack.h"
#include "im2rec/reshape/reshape.h"
#include "im2rec/reshape/source_sets.h"
#include "im2rec/set/set_files.h"
#include "im2rec/watch.h"
#include "imrec/pack_items.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TELL_EVERY 1024 /* records */

struct append {
    const struct imrec_pack_task *task;
    const struct imrec_pack_source *source; /* of items; NULL: a folder or a list */
    struct imrec_pack_options o;
    char rec[NAME_BYTES], classes[NAME_BYTES], extra[NAME_BYTES]; /* extra: the set of the new */
    char manifest_name[NAME_BYTES];
    struct manifest old;
    const char *tables; /* that its JPEGs share, as text; or NULL */
    char **uris;        /* shards of the old set, then the new one */
    size_t count;
    bool numbered;
    uint64_t next_id;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to append");
}

/* ---- the set of the new images, next to the old one --------------------------------------- */

/* OUT.appended.part: while it is there, OUT.appended is an append's own and may be replaced. */
static void claim_name(const struct append *a, char out[NAME_BYTES])
{
    snprintf(out, NAME_BYTES, "%.*s", (int)strlen(a->extra) - 4, a->extra);
}

static enum imrec_status drop_claim(const struct append *a, struct imrec_error *err)
{
    char claim[NAME_BYTES], part[NAME_BYTES + 8];
    claim_name(a, claim);
    snprintf(part, sizeof(part), "%s.part", claim);
    return sink_remove(part, err);
}

/* The new images' own set, all of it, and the claim on its name. */
static enum imrec_status remove_extra(const struct append *a, struct imrec_error *err)
{
    const struct imrec_pack_task task = {.out = a->extra, .exact_name = true};
    struct set_files files;
    char name[NAME_BYTES];
    IMREC_TRY(set_files_init(&task, &a->o, &files, err));
    IMREC_TRY(set_clear(&files, err));
    IMREC_TRY(sink_remove(files.list, err));
    set_name(files.rec, SET_CLASSES, name);
    IMREC_TRY(sink_remove(name, err));
    return drop_claim(a, err);
}

/* If an append has it, and has not removed it. */
static enum imrec_status remove_claimed(const struct append *a, struct imrec_error *err)
{
    char claim[NAME_BYTES];
    bool claimed;
    claim_name(a, claim);
    IMREC_TRY(set_part_exists(claim, &claimed, err));
    return claimed ? remove_extra(a, err) : IMREC_OK;
}

/* ---- the old set -------------------------------------------------------------------------- */

static enum imrec_status load_manifest(struct append *a, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    IMREC_TRY(source_load_if_there(a->manifest_name, MANIFEST_MAX_BYTES, &text, &n, err));
    if (text == NULL)
        return IMREC_REFUSE(err, "there is no set to append to: %s is missing", a->manifest_name);
    const enum imrec_status st =
        manifest_read(a->manifest_name, (struct bytes){text, n}, &a->old, err);
    imrec_free(text);
    return st;
}

static enum imrec_status take_greatest(struct append *a, const char *shard, struct imrec_error *err)
{
    struct index_cursor at;
    uint64_t key, offset;
    uint8_t *text = NULL;
    char *path = NULL;
    size_t bytes = 0;
    enum imrec_status st = dataset_load(shard, SET_INDEX, &path, &text, &bytes, err);
    if (st == IMREC_OK)
        record_index_begin(&at, path, (struct bytes){text, bytes});
    while (st == IMREC_OK && (st = record_index_next(&at, &key, &offset, err)) == IMREC_OK)
        if (key >= a->next_id)
            a->next_id = key + 1;
    IMREC_FREE(text, path);
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status take_shards(struct append *a, struct imrec_error *err)
{
    a->uris = imrec_zalloc(a->old.shard_count + 1, sizeof(*a->uris));
    if (a->uris == NULL)
        return no_memory(err);
    for (size_t i = 0; i < a->old.shard_count; i++) {
        if (a->old.shards[i].idx.name == NULL)
            return IMREC_REFUSE(err, "%s is not a set of records: nothing can be appended to it",
                                a->manifest_name);
        char *path = imrec_joined(a->rec, (size_t)(set_base_name(a->rec) - a->rec),
                                  a->old.shards[i].rec.name);
        if (path == NULL)
            return no_memory(err);
        a->uris[a->count++] = path;
        IMREC_TRY(take_greatest(a, path, err));
    }
    a->numbered =
        a->old.shard_count != 1 || strcmp(a->old.shards[0].rec.name, set_base_name(a->rec)) != 0;
    return IMREC_OK;
}

/* An earlier call ended between the old manifest and the new one, when all new files were complete:
 * they get their names now. */
static enum imrec_status finish_earlier(const struct append *a, struct imrec_error *err)
{
    const struct imrec_pack_task task = {.out = a->rec};
    struct set_files files;
    struct manifest m;
    uint8_t *text;
    size_t n;
    char part[NAME_BYTES + 8];
    snprintf(part, sizeof(part), "%s.part", a->manifest_name);
    bool whole, there, unfinished;
    IMREC_TRY(set_files_init(&task, &a->o, &files, err));
    IMREC_TRY(sink_exists(a->manifest_name, &whole, err));
    IMREC_TRY(sink_exists(part, &there, err));
    IMREC_TRY(set_is_unfinished(&files, &unfinished, err));
    if (whole || !there || unfinished)
        return IMREC_OK;
    IMREC_TRY(source_load(part, MANIFEST_MAX_BYTES, &text, &n, err));
    enum imrec_status st = manifest_read(part, (struct bytes){text, n}, &m, err);
    imrec_free(text);
    IMREC_TRY(st);
    files.numbered = strcmp(m.shards[0].rec.name, set_base_name(a->rec)) != 0;
    files.count = files.numbered ? 0 : 1;
    st = set_publish(&files, m.shard_count, err);
    manifest_free(&m);
    if (st == IMREC_OK)
        st = remove_claimed(a, err);
    if (st == IMREC_OK)
        st = IMREC_REFUSE(err,
                          "an earlier append to %s was interrupted at its end and is finished "
                          "now; shards of the old number may remain next to it; nothing was "
                          "added this time",
                          a->rec);
    return st;
}

static bool goes_on(const struct append *a, uint64_t records)
{
    const struct imrec_progress p = {0};
    return records % TELL_EVERY != 0 || a->task->progress == NULL ||
           a->task->progress(a->task->user, &p);
}

static enum imrec_status
read_old(struct append *a, struct source_sets *old, struct imrec_error *err)
{
    struct imrec_record r;
    struct imrec_error why;
    size_t shard;
    enum imrec_status st;
    for (uint64_t n = 0; (st = source_sets_next(old, &r, &shard, &why)) == IMREC_OK; n++)
        if (!goes_on(a, n))
            return imrec_fail(err, IMREC_ERR_CANCELLED,
                              "ended by its caller before anything was packed");
    if (st == IMREC_END)
        return IMREC_OK;
    imrec_error_at(err, st, why.offset, "%.400s%s", why.message,
                   st == IMREC_ERR_DATA ? "; nothing was packed: imrec repair comes first" : "");
    imrec_error_same(err, &why);
    return st;
}

/* Is the old set what its checksums say? Asked before hours are spent on packing; joining asks
 * again, record by record. */
static enum imrec_status check_old(struct append *a, struct imrec_error *err)
{
    struct source_sets old;
    IMREC_TRY(source_sets_open((const char *const *)a->uris, a->count, NULL, SOURCE_CLASSES_NONE,
                               &old, err));
    const enum imrec_status st = read_old(a, &old, err);
    source_sets_close(&old);
    return st;
}

/* ---- the new images --------------------------------------------------------------------- */

static const char *old_option(const struct append *a, const char *name)
{
    for (size_t i = 0; i < a->old.option_count; i++)
        if (strcmp(a->old.options[i].name, name) == 0)
            return a->old.options[i].value;
    return NULL;
}

static bool had(const struct append *a, const char *name, const char *value)
{
    const char *old = old_option(a, name);
    return old != NULL && strcmp(old, value) == 0;
}

static enum imrec_status check(const struct append *a, struct imrec_error *err)
{
    const char *why = NULL;
    if (a->o.list || a->o.format != IMREC_PACK_REC)
        why = "append adds records to records: list and format=cbf cannot be combined with it";
    else if (a->o.resume && a->source != NULL)
        why = "a run over items cannot be resumed: without resume it begins again";
    else if (a->o.force)
        why = "append keeps what force would throw away: give one of them";
    else if (!a->numbered && (a->o.shards != 0 || a->o.shard_size != 0))
        why = "the set is one shard without a number: shards and shard_size cannot go with append";
    else if (a->o.shared_tables && !had(a, "shared_tables", "1"))
        why = "the set was packed without shared_tables: its JPEGs have Huffman tables of their "
              "own, and so do those that are appended";
    return why == NULL ? IMREC_OK : IMREC_REFUSE(err, "%s", why);
}

/* A set has images without an object, or it has none: what is appended follows. */
static void keep_choice(struct append *a)
{
    const char *labels = old_option(a, "pack_label");
    const bool keeps = old_option(a, "drop_empty") != NULL;
    const bool drops = !keeps && labels != NULL && strcmp(labels, "1") == 0;
    if (a->o.annotations[0] == '\0' || (!keeps && !drops) || a->o.drop_empty == drops)
        return;
    a->o.drop_empty = drops;
    imrec_log(IMREC_LOG_WARNING,
              "%s was packed %s images without an object: so are the appended images", a->rec,
              drops ? "without" : "with");
}

/* A set has tiles, or it has none: what is appended follows, unless the options name it. */
static void keep_tiles(struct append *a)
{
    const bool passes = a->o.pass_through, before = pack_options_rewrites(&a->o);
    if (a->o.tile == IMREC_TILE_AUTO && (passes || pack_options_encodes_jpeg(&a->o)))
        a->o.tile = had(a, "tile", "yes") ? IMREC_TILE_YES : IMREC_TILE_NO;
    a->o.baseline = a->o.baseline || (passes && had(a, "baseline", "1"));
    if (pack_options_rewrites(&a->o) && !before)
        imrec_log(IMREC_LOG_WARNING,
                  "%s was packed with %s: so are the appended JPEGs, without loss", a->rec,
                  a->o.tile == IMREC_TILE_YES ? "tile" : "baseline");
}

/* JPEGs of a set share their Huffman tables, or each has its own: what is appended follows. */
static void keep_tables(struct append *a)
{
    a->tables = had(a, "shared_tables", "1") ? old_option(a, SET_TABLES) : NULL;
    a->o.shared_tables = a->tables != NULL && pack_options_writes_jpeg(&a->o);
}

/* A set of that name without the claim is somebody's. */
static enum imrec_status claim_extra(const struct append *a, struct imrec_error *err)
{
    char claim[NAME_BYTES], manifest[NAME_BYTES];
    struct sink *sink;
    bool there, claimed;
    claim_name(a, claim);
    set_name(a->extra, SET_MANIFEST, manifest);
    IMREC_TRY(sink_exists(manifest, &there, err));
    IMREC_TRY(set_part_exists(claim, &claimed, err));
    if (there && !claimed)
        return IMREC_REFUSE(err,
                            "%s is in the way: a set of this name is made and removed by every "
                            "append; move it",
                            manifest);
    IMREC_TRY(sink_open(claim, &sink, err));
    return sink_finish(sink, err);
}

/* Whether packing the new images was begun, and not ended. */
static enum imrec_status is_begun(const struct append *a, bool *begun, struct imrec_error *err)
{
    char journal[NAME_BYTES + 32];
    snprintf(journal, sizeof(journal), "%.*s.journal.part", (int)strlen(a->extra) - 4, a->extra);
    return sink_exists(journal, begun, err);
}

/* After a failure: the claim goes unless it is of files that the next append resumes or removes. */
static void drop_vain_claim(const struct append *a)
{
    char manifest[NAME_BYTES];
    bool begun = false, whole = false;
    set_name(a->extra, SET_MANIFEST, manifest);
    if (a->source == NULL &&
        (is_begun(a, &begun, NULL) != IMREC_OK || sink_exists(manifest, &whole, NULL) != IMREC_OK))
        return;
    if (!begun && !whole)
        (void)drop_claim(a, NULL);
}

static enum imrec_status
pack_new(struct append *a, struct imrec_pack_result *out, struct imrec_error *err)
{
    struct imrec_pack_task task = *a->task;
    bool begun, classes;
    task.out = a->extra;
    task.exact_name = true;
    task.some_classes = true;
    IMREC_TRY(is_begun(a, &begun, err));
    IMREC_TRY(sink_exists(a->classes, &classes, err));
    a->o.resume = a->o.resume && begun;
    a->o.force = !a->o.resume; /* the name is ours */
    keep_choice(a);
    keep_tiles(a);
    keep_tables(a);
    if (a->o.classes[0] == '\0' && classes)
        a->o.classes = a->classes;
    return pack_with_tables(&task, a->source, &a->o, a->tables, out, err);
}

/* ---- both --------------------------------------------------------------------------------- */

/* Whether ids are places, which continue after those of the set. */
static bool ids_are_places(const struct append *a)
{
    if (a->source != NULL)
        return a->source->struct_size > offsetof(struct imrec_pack_source, numbered) &&
               a->source->numbered;
    return a->task->list == NULL && a->o.annotations[0] == '\0';
}

static enum imrec_status join(struct append *a, const struct imrec_pack_result *new,
                              const struct stop *stop, struct imrec_error *err)
{
    char count[32];
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    struct manifest_option *options = imrec_zalloc(a->old.option_count + 1, sizeof(*options));
    if (options == NULL)
        return no_memory(err);
    imrec_reshape_options_init(&o);
    snprintf(count, sizeof(count), "%" PRIu64, new->packed);
    memcpy(options, a->old.options, a->old.option_count * sizeof(*options));
    options[a->old.option_count] = (struct manifest_option){"appended", count};
    const struct reshape_job j = {.uris = (const char *const *)a->uris,
                                  .count = a->count,
                                  .out = a->rec,
                                  .o = &o,
                                  .options = options,
                                  .option_count = a->old.option_count + 1,
                                  .skipped = a->old.skipped + new->skipped,
                                  .keep_shards = a->numbered,
                                  .replaces = true,
                                  .stop = stop,
                                  .new_classes = a->o.new_classes,
                                  .warned = true, /* by check_old() */
                                  .id_base = ids_are_places(a) ? a->next_id : 0,
                                  .id_base_from = a->old.shard_count};
    const enum imrec_status st = reshape_run(&j, &r, err);
    imrec_free(options);
    if (st != IMREC_ERR_CANCELLED)
        return st;
    return imrec_fail(err, st,
                      "interrupted while the new images were joined to %.300s, which is as it was",
                      a->rec);
}

/* The caller is asked meanwhile, as while they were packed. */
static enum imrec_status
join_watched(struct append *a, const struct imrec_pack_result *new, struct imrec_error *err)
{
    const uint64_t all = new->packed + new->skipped;
    const struct imrec_progress p = {.done = all, .total = all, .skipped = new->skipped};
    struct watch watch;
    watch_begin(&watch, a->task);
    (void)watch_tell(&watch, &p);
    const enum imrec_status st = join(a, new, &watch.stop, err);
    watch_end(&watch);
    return st;
}

static enum imrec_status add_new_shards(struct append *a, struct imrec_error *err)
{
    char glob[NAME_BYTES + 16];
    const bool many = a->o.shards != 0 || a->o.shard_size != 0;
    snprintf(glob, sizeof(glob), "%.*s-*.rec", (int)strlen(a->extra) - 4, a->extra);
    const char *const uris[] = {many ? glob : a->extra};
    return source_sets_expand(uris, 1, IMREC_CONTAINER_AUTO, &a->uris, &a->count, err);
}

/* The set of the new images is complete, and stays: packing it may have taken hours. */
static enum imrec_status
leave_extra(const struct append *a, enum imrec_status st, struct imrec_error *err)
{
    struct imrec_error why;
    if (err == NULL)
        return st;
    why = *err;
    (void)imrec_error_at(err, st, why.offset,
                         "%.350s; the images just packed stay as the set %.100s", why.message,
                         set_base_name(a->extra));
    err->sys_errno = why.sys_errno;
    return st;
}

static enum imrec_status
append(struct append *a, struct imrec_pack_result *out, struct imrec_error *err)
{
    IMREC_TRY(finish_earlier(a, err));
    IMREC_TRY(load_manifest(a, err));
    IMREC_TRY(take_shards(a, err));
    IMREC_TRY(check(a, err));
    IMREC_TRY(check_old(a, err));
    IMREC_TRY(claim_extra(a, err));
    enum imrec_status st = pack_new(a, out, err);
    if (st != IMREC_OK) {
        drop_vain_claim(a);
        return st;
    }
    st = add_new_shards(a, err);
    if (st == IMREC_OK)
        st = join_watched(a, out, err);
    if (st == IMREC_OK)
        return remove_extra(a, err);
    if (a->source == NULL)
        return leave_extra(a, st, err);
    if (remove_extra(a, NULL) != IMREC_OK)
        imrec_log(IMREC_LOG_WARNING, "%s could not be removed", a->extra);
    return st;
}

static enum imrec_status append_to(const struct imrec_pack_task *task,
                                   const struct imrec_pack_source *source,
                                   const struct imrec_pack_options *options,
                                   struct imrec_pack_result *out, struct imrec_error *err)
{
    struct append a;
    struct imrec_pack_result ignored;
    struct imrec_pack_task paths;
    struct lock *lock;
    memset(&a, 0, sizeof(a));
    if (out == NULL)
        out = &ignored;
    *out = (struct imrec_pack_result){0};
    a.source = source;
    if (task == NULL || task->out == NULL || (task->root == NULL && source == NULL) ||
        strlen(task->out) + 128 > NAME_BYTES)
        return IMREC_REFUSE(err, "a task needs root and out, a name of less than %d bytes",
                            NAME_BYTES - 128);
    IMREC_TRY(pack_options_check(options, &a.o, err));
    IMREC_TRY(pack_task_paths(task, &paths, err));
    a.task = &paths;
    set_name(paths.out, SET_REC, a.rec);
    set_name(a.rec, SET_CLASSES, a.classes);
    set_name(a.rec, SET_MANIFEST, a.manifest_name);
    snprintf(a.extra, sizeof(a.extra), "%.*s.appended.rec", (int)strlen(a.rec) - 4, a.rec);
    IMREC_TRY(set_lock(paths.out, &lock, err));
    const enum imrec_status st = append(&a, out, err);
    lock_drop(lock);
    for (size_t i = 0; i < a.count; i++)
        imrec_free(a.uris[i]);
    imrec_free(a.uris);
    manifest_free(&a.old);
    return st;
}

enum imrec_status imrec_append(const struct imrec_pack_task *task,
                               const struct imrec_pack_options *options,
                               struct imrec_pack_result *out, struct imrec_error *err)
{
    return append_to(task, NULL, options, out, err);
}

enum imrec_status imrec_append_items(const struct imrec_pack_task *task,
                                     const struct imrec_pack_source *source,
                                     const struct imrec_pack_options *options,
                                     struct imrec_pack_result *out, struct imrec_error *err)
{
    if (source == NULL)
        return IMREC_REFUSE(err, "there is no source");
    return append_to(task, source, options, out, err);
}
