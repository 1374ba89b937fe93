/* im2rec/set/set_index.c - the binary indexes of a large set, made of the .idx of its shards when
 * these have their names, before the manifest has its own: a run that is interrupted here is
 * finished, or discarded, with them. */
#include "base/alloc.h"
#include "base/error.h"
#include "container/shards/index_load.h"
#include "formats/recordio/record_index.h"
#include "formats/set/manifest.h"
#include "formats/set/set_names.h"
#include "im2rec/set/set_files.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>

#define LINE_BYTES 44u /* of an .idx at most */

struct making {
    const struct set_files *files;
    struct index_blocks h; /* number and hash_before are the next shard's */
    struct index_entry *entry;
    uint64_t room;
};

/* That of the set that is being published: under its temporary name until all else is done. */
static enum imrec_status
load_manifest(const struct set_files *s, struct manifest *m, struct imrec_error *err)
{
    char name[NAME_BYTES], part[NAME_BYTES + 8];
    uint8_t *text = NULL;
    size_t n = 0;
    *m = (struct manifest){0};
    set_name(s->rec, SET_MANIFEST, name);
    snprintf(part, sizeof(part), "%s.part", name);
    IMREC_TRY(source_load_if_there(part, MANIFEST_MAX_BYTES, &text, &n, err));
    if (text == NULL) /* it has its name already */
        IMREC_TRY(source_load(name, MANIFEST_MAX_BYTES, &text, &n, err));
    const enum imrec_status st = manifest_read(name, (struct bytes){text, n}, m, err);
    imrec_free(text);
    return st;
}

/* The writer of the .idx gives ascending offsets. *n: of x->entry. */
static enum imrec_status
parse(struct making *x, const char *name, struct bytes text, uint64_t *n, struct imrec_error *err)
{
    struct index_cursor c;
    enum imrec_status st;
    struct index_entry e;
    *n = 0;
    record_index_begin(&c, name, text);
    while ((st = record_index_next(&c, &e.key, &e.offset, err)) == IMREC_OK) {
        if (!IMREC_GROW(x->entry, x->room, *n + 1))
            return IMREC_NO_MEMORY(err, "no memory for an index of %" PRIu64 " records", *n + 1);
        if (*n != 0 && x->entry[*n - 1].offset >= e.offset)
            return imrec_fail(err, IMREC_ERR_CORRUPT, "%s: its offsets do not ascend", name);
        x->entry[(*n)++] = e;
    }
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status load_entries(struct making *x, const char *rec, uint64_t records,
                                      uint64_t *n, struct imrec_error *err)
{
    char name[NAME_BYTES];
    uint8_t *text;
    size_t bytes;
    set_name(rec, SET_INDEX, name);
    IMREC_TRY(source_load(name, (size_t)(records + 1) * LINE_BYTES, &text, &bytes, err));
    const enum imrec_status st = parse(x, name, (struct bytes){text, bytes}, n, err);
    imrec_free(text);
    return st;
}

static enum imrec_status identify(const char *rec, struct index_blocks *h, struct imrec_error *err)
{
    struct source *source;
    IMREC_TRY(source_open(rec, &source, err));
    const enum imrec_status st =
        index_of_shard(&(struct index_shard){rec, source, source->size, false}, h, err);
    source_close(source);
    return st;
}

static enum imrec_status
write_one(struct making *x, const char *rec, uint64_t records, struct imrec_error *err)
{
    char name[NAME_BYTES];
    struct index_blocks h;
    struct sink *to;
    uint64_t n;
    IMREC_TRY(stop_check(x->files->stop, err));
    IMREC_TRY(load_entries(x, rec, records, &n, err));
    IMREC_TRY(identify(rec, &h, err));
    h.number = x->h.number;
    h.hash_before = x->h.hash_before;
    if (n == records && (n == 0 || x->entry[0].offset == 0))
        h.flags = INDEX_BLOCKS_COMPLETE; /* a shard that was written here has no gap */
    set_name(rec, SET_BINARY_INDEX, name);
    IMREC_TRY(sink_open(name, &to, err));
    sink_stop_with(to, x->files->stop);
    const enum imrec_status st = index_write(to, &h, x->entry, n, err);
    if (st != IMREC_OK) {
        sink_abort(to);
        return st;
    }
    x->h.number++;
    x->h.hash_before = h.hash_after;
    return sink_commit(to, err);
}

static bool is_wanted(const struct set_files *s, const struct manifest *m)
{
    return s->binary_index == IMREC_BINARY_INDEX_AUTO ? m->records > SET_BINARY_INDEX_RECORDS
                                                      : s->binary_index == IMREC_BINARY_INDEX_YES;
}

enum imrec_status
set_index_publish(const struct set_files *s, uint64_t shards, struct imrec_error *err)
{
    char rec[NAME_BYTES];
    struct manifest m;
    struct making x = {.files = s, .h = {.hash_before = INDEX_BLOCKS_HASH_BEGIN}};
    if (!s->kind->side_files || s->binary_index == IMREC_BINARY_INDEX_NO)
        return IMREC_OK;
    enum imrec_status st = load_manifest(s, &m, err);
    const bool wanted = st == IMREC_OK && m.shard_count == shards && is_wanted(s, &m);
    for (uint64_t k = 0; wanted && st == IMREC_OK && k < shards; k++) {
        set_shard_name(s->rec, k, shards, s->numbered, rec);
        st = write_one(&x, rec, m.shards[k].records, err);
    }
    imrec_free(x.entry);
    manifest_free(&m);
    return st;
}
