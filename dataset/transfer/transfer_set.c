/* dataset/transfer/transfer_set.c */
#include "dataset/transfer/transfer_set.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "dataset/transfer/old_shards.h"
#include "dataset/transfer/unfinished.h"
#include "storage/lock.h"
#include "storage/sink.h"
#include "storage/uri_range.h"

#include <inttypes.h>
#include <stdio.h>

#define SHARDS_MOST ((int64_t)1 << 20)

/* ---- names -------------------------------------------------------------------------------- */

/* Of shard k of `count`, allocated. Before the count is known it is 0. */
static enum imrec_status name_of(const struct transfer_set *s, uint64_t k, uint64_t count,
                                 char **out, struct imrec_error *err)
{
    char tail[64];
    const char *const whole = s->names != NULL ? s->names[k] : s->output;
    (void)snprintf(tail, sizeof(tail), "-%05" PRIu64 "-of-%05" PRIu64 "%s", k, count,
                   s->output + s->stem);
    *out = s->numbered ? imrec_joined(s->output, s->stem, tail)
                       : imrec_joined(whole, strlen(whole), "");
    return *out != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for a name");
}

struct name_list {
    char **names;
    uint64_t count, room;
};

static enum imrec_status keep_name(void *user, const char *name, struct imrec_error *err)
{
    struct name_list *l = user;
    if (!IMREC_GROW(l->names, l->room, l->count + 1))
        return IMREC_NO_MEMORY(err, "no memory for names");
    l->names[l->count] = imrec_joined(name, strlen(name), "");
    return l->names[l->count++] != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for names");
}

/* "out-{0000..0015}.tar" is 16 shards. */
static enum imrec_status
take_range(struct transfer_set *s, const struct imrec_records_options *o, struct imrec_error *err)
{
    struct name_list l = {NULL, 0, 0};
    if (o->shards != 0 || o->shard_size != 0)
        return IMREC_REFUSE(
            err, "%.200s names every shard: shards and shard_size belong to one name", o->output);
    const enum imrec_status st = uri_range_names(o->output, keep_name, &l, err);
    s->names = l.names;
    s->count = s->name_count = l.count;
    return st;
}

enum imrec_status transfer_set_init(struct transfer_set *s, const struct transfer_kind *kind,
                                    const struct imrec_records_options *o, struct imrec_error *err)
{
    const size_t n = strlen(o->output);
    *s = (struct transfer_set){.kind = kind, .output = o->output, .count = 1};
    for (const char *const *suffix = kind->suffixes; *suffix != NULL; suffix++)
        if (n > strlen(*suffix) && strcmp(o->output + n - strlen(*suffix), *suffix) == 0)
            s->stem = n - strlen(*suffix);
    if (o->shards < 0 || o->shards > SHARDS_MOST || o->shard_size < 0)
        return IMREC_REFUSE(err,
                            "shards=%" PRId64 " shard_size=%" PRId64 ": there are 1 to %" PRId64
                            " shards, of 1 byte and more",
                            o->shards, o->shard_size, SHARDS_MOST);
    if (o->shards != 0 && o->shard_size != 0)
        return IMREC_REFUSE(err, "shards and shard_size say the same twice: give one of them");
    if (uri_range_in(o->output) != NULL)
        return take_range(s, o, err);
    s->numbered = o->shards != 0 || o->shard_size != 0;
    s->size = (uint64_t)o->shard_size;
    s->count = o->shard_size != 0 ? 0 : o->shards != 0 ? (uint64_t)o->shards : 1;
    return IMREC_OK;
}

bool transfer_set_needs_total(const struct transfer_set *s)
{
    return s->count > 1;
}

/* ---- files of a shard --------------------------------------------------------------------- */

/* The name next to `shard`, allocated. */
static char *file_of(const char *shard, enum set_file what)
{
    return what == SET_REC ? imrec_joined(shard, strlen(shard), "") : set_path(shard, what);
}

static void remove_name(const char *name, const char *suffix)
{
    char *all = name != NULL ? imrec_joined(name, strlen(name), suffix) : NULL;
    if (all != NULL && sink_remove(all, NULL) != IMREC_OK)
        all[0] = '\0'; /* it stays, under the name of an unfinished file */
    imrec_free(all);
}

/* Of shard k of `count` all files, whose names end in `suffix`. */
static void
remove_shard(const struct transfer_set *s, uint64_t k, uint64_t count, const char *suffix)
{
    char *shard;
    if (name_of(s, k, count, &shard, NULL) != IMREC_OK)
        return;
    const enum set_file *what = s->kind->side_files;
    for (;; what++) {
        char *file = file_of(shard, *what);
        remove_name(file, suffix);
        imrec_free(file);
        if (*what == SET_REC)
            break;
    }
    imrec_free(shard);
}

/* ---- shards ------------------------------------------------------------------------------- */

static enum imrec_status open_shard(struct transfer_set *s, struct imrec_error *err)
{
    char *name;
    IMREC_TRY(name_of(s, s->number, s->count, &name, err));
    const enum imrec_status st = s->kind->open(s->out, name, err);
    s->open = st == IMREC_OK;
    s->records = 0;
    imrec_free(name);
    return st;
}

/* A record that was made is of the next one. */
static enum imrec_status end_shard(struct transfer_set *s, struct imrec_error *err)
{
    if (!s->open) /* no record at all: an empty shard all the same */
        IMREC_TRY(open_shard(s, err));
    s->open = false;
    s->number++;
    return s->kind->finish(s->out, &s->bytes, err);
}

/* Ends shards until the record belongs into the one being written, as im2rec does. */
static enum imrec_status
right_shard(struct transfer_set *s, uint64_t index, struct imrec_error *err)
{
    while (s->count > 1 && s->number + 1 < s->count &&
           index >= share_begin(s->total, s->number + 1, s->count))
        IMREC_TRY(end_shard(s, err));
    if (s->size != 0 && s->open && s->records != 0 && s->kind->size(s->out) > s->size)
        return end_shard(s, err);
    return IMREC_OK;
}

enum imrec_status
transfer_set_write(struct transfer_set *s, uint64_t index, struct imrec_error *err)
{
    IMREC_TRY(right_shard(s, index, err));
    if (!s->open)
        IMREC_TRY(open_shard(s, err));
    s->records++;
    return s->kind->write(s->out, err);
}

/* ---- the set ------------------------------------------------------------------------------ */

static enum imrec_status
all_are_there(const struct transfer_set *s, uint64_t count, bool *whole, struct imrec_error *err)
{
    *whole = true;
    for (uint64_t k = 0; *whole && k < count; k++) {
        char *shard;
        IMREC_TRY(name_of(s, k, count, &shard, err));
        const enum imrec_status st = sink_exists(shard, whole, err);
        imrec_free(shard);
        IMREC_TRY(st);
    }
    return IMREC_OK;
}

/* Of a run that was killed while shards got their names: these are all, which stay, or go. Where
 * the size of shards says how many there will be, OUT.unfinished stays with all of them: the same
 * command is to replace them, also when it is killed again. */
static enum imrec_status clear_named(struct transfer_set *s, struct imrec_error *err)
{
    uint64_t count;
    bool whole;
    IMREC_TRY(unfinished_read(s->output, s->stem, &count, err));
    if (count == 0)
        return IMREC_OK;
    IMREC_TRY(all_are_there(s, count, &whole, err));
    for (uint64_t k = 0; !whole && k < count; k++)
        remove_shard(s, k, count, "");
    if (whole && s->count == 0)
        s->named = count;
    else
        unfinished_end(s->output, s->stem);
    return IMREC_OK;
}

/* Two runs would write into the same temporary files. */
static enum imrec_status clear(struct transfer_set *s, struct imrec_error *err)
{
    char *lock = imrec_joined(s->output, s->stem, ".lock");
    enum imrec_status st =
        lock != NULL ? lock_take(lock, &s->lock, err) : IMREC_NO_MEMORY(err, "no memory");
    imrec_free(lock);
    if (st == IMREC_OK)
        st = clear_named(s, err);
    const struct old_shards old = {s->output, s->stem, s->kind->side_files,
                                   s->named != 0 ? s->named : s->count};
    return st == IMREC_OK ? old_shards_clear(&old, err) : st;
}

enum imrec_status
transfer_set_begin(struct transfer_set *s, uint64_t total, struct imrec_error *err)
{
    s->total = total;
    if (s->count > 1 && total < s->count)
        return IMREC_REFUSE(err, "%.200s: %" PRIu64 " shards of %" PRIu64 " records: one has none",
                            s->output, s->count, total);
    if (s->numbered)
        IMREC_TRY(clear(s, err));
    s->begun = true;
    return s->kind->begin(&s->out, err);
}

static enum imrec_status
publish_file(const char *from, const char *to, enum set_file what, struct imrec_error *err)
{
    char *old = file_of(from, what), *new = file_of(to, what);
    const enum imrec_status st = old != NULL && new != NULL ? sink_publish_as(old, new, err)
                                                            : IMREC_NO_MEMORY(err, "no memory");
    IMREC_FREE(old, new);
    return st;
}

static enum imrec_status publish_files(const struct transfer_set *s, const char *from,
                                       const char *to, struct imrec_error *err)
{
    const enum set_file *what = s->kind->side_files;
    if (s->kind->binary_index) { /* of the shard before: it would be found before the new .idx */
        char *name = set_path(to, SET_BINARY_INDEX);
        const enum imrec_status st =
            name != NULL ? sink_remove(name, err) : IMREC_NO_MEMORY(err, "no memory for a path");
        imrec_free(name);
        IMREC_TRY(st);
    }
    for (; *what != SET_REC; what++)
        IMREC_TRY(publish_file(from, to, *what, err));
    return publish_file(from, to, SET_REC, err);
}

/* The shard itself is the last one: one with its name has its files next to it, and none are next
 * to a missing one. */
static enum imrec_status publish_shard(const struct transfer_set *s, const char *from,
                                       const char *to, struct imrec_error *err)
{
    const enum imrec_status st = publish_files(s, from, to, err);
    for (const enum set_file *what = s->kind->side_files; st != IMREC_OK && *what != SET_REC;
         what++) {
        char *file = file_of(to, *what);
        remove_name(file, "");
        imrec_free(file);
    }
    return st;
}

static enum imrec_status
sync_names_of(const struct transfer_set *s, uint64_t k, struct imrec_error *err)
{
    char *shard;
    IMREC_TRY(name_of(s, k, s->number, &shard, err));
    const enum imrec_status st = sink_sync_names(shard, err);
    imrec_free(shard);
    return st;
}

/* Never old ones among new ones: what is missing is noticed, a mixture is not. Shards of a range
 * may be in folders of their own. */
static enum imrec_status make_way(const struct transfer_set *s, struct imrec_error *err)
{
    if (s->number <= 1)
        return IMREC_OK;
    for (uint64_t k = 0; k < s->number; k++)
        remove_shard(s, k, s->number, "");
    for (uint64_t k = 0; k < (s->names != NULL ? s->number : 1); k++)
        IMREC_TRY(sync_names_of(s, k, err));
    return IMREC_OK;
}

static enum imrec_status publish_next(struct transfer_set *s, struct imrec_error *err)
{
    char *from, *to = NULL;
    IMREC_TRY(name_of(s, s->published, s->count, &from, err));
    enum imrec_status st = name_of(s, s->published, s->number, &to, err);
    if (st == IMREC_OK)
        st = publish_shard(s, from, to, err);
    s->published += st == IMREC_OK;
    IMREC_FREE(from, to);
    return st;
}

static enum imrec_status refuse_named(const struct transfer_set *s, struct imrec_error *err)
{
    char *shard;
    IMREC_TRY(name_of(s, 0, s->named, &shard, err));
    const enum imrec_status st = old_shards_refuse(shard, s->output, err);
    imrec_free(shard);
    return st;
}

enum imrec_status transfer_set_commit(struct transfer_set *s, struct imrec_error *err)
{
    do
        IMREC_TRY(end_shard(s, err));
    while (s->number < s->count);
    if (s->named != 0 && s->named != s->number)
        return refuse_named(s, err);
    if (s->numbered && s->number > 1) {
        s->marked = true;
        IMREC_TRY(unfinished_begin(s->output, s->stem, s->number, err));
    }
    IMREC_TRY(make_way(s, err));
    while (s->published < s->number)
        IMREC_TRY(publish_next(s, err));
    s->committed = true;
    return IMREC_OK;
}

/* Also of shards that have their names already: no part of a set is left. One that replaces a
 * single file stays, or is that file still. */
static void discard(const struct transfer_set *s)
{
    for (uint64_t k = 0; k < s->number; k++)
        remove_shard(s, k, s->count, ".part");
    for (uint64_t k = 0; k < s->published; k++)
        remove_shard(s, k, s->number, "");
}

void transfer_set_end(struct transfer_set *s)
{
    if (s->kind == NULL)
        return;
    s->kind->end(s->out);
    if (s->begun && !s->committed)
        discard(s);
    if (s->marked)
        unfinished_end(s->output, s->stem);
    lock_drop(s->lock);
    for (uint64_t k = 0; k < s->name_count; k++)
        imrec_free(s->names[k]);
    imrec_free(s->names);
}
