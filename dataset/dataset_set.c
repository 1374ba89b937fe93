/* dataset/dataset_set.c - do the files of packed sets belong together, as their manifests say? */
#include "dataset/dataset_set.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/kinds.h"
#include "container/shards/manifest_beside.h"
#include "container/shards/shard_sets.h"
#include "formats/crc32c.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <string.h>

#define PIECE_BYTES ((size_t)1 << 20)

struct checking {
    const struct dataset_files *files;
    bool allow_missing;
    imrec_finding_fn *finding;
    void *user;
    uint32_t shard;   /* through which the set was found */
    const char *path; /* of its manifest */
    bool lacks;       /* shards are missing, and reported */
};

/* ---- telling ---------------------------------------------------------------------------- */

static void tell(const struct checking *c, const char *uri, uint32_t shard, const char *reason)
{
    c->finding(c->user, &(struct imrec_finding){
                            .kind = IMREC_FOUND_SET, .uri = uri, .shard = shard, .reason = reason});
}

/* ---- one file of the manifest ----------------------------------------------------------- */

/* The checksum of all bytes, a piece at a time. */
static enum imrec_status sum_bytes(struct source *s, uint32_t *crc, struct imrec_error *err)
{
    uint8_t *piece = imrec_realloc(NULL, PIECE_BYTES, 1);
    enum imrec_status st = IMREC_OK;
    if (piece == NULL)
        return IMREC_NO_MEMORY(err, "no memory to read it");
    *crc = 0;
    for (uint64_t at = 0; st == IMREC_OK && at < s->size; at += PIECE_BYTES) {
        const size_t n = s->size - at < PIECE_BYTES ? (size_t)(s->size - at) : PIECE_BYTES;
        st = source_read(s, at, piece, n, err);
        if (st == IMREC_OK)
            *crc = crc32c(*crc, piece, n);
    }
    imrec_free(piece);
    return st;
}

static enum imrec_status
compare_bytes(struct source *s, const struct manifest_file *f, bool whole, struct imrec_error *err)
{
    struct imrec_error why;
    uint32_t crc = 0;
    if (s->size != f->bytes)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%" PRIu64 " bytes, and the manifest says %" PRIu64, s->size, f->bytes);
    if (whole && sum_bytes(s, &crc, &why) != IMREC_OK)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%.400s", why.message);
    if (!whole || crc == f->crc32c)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "the manifest's checksum of this file is 0x%08x, its bytes have 0x%08x",
                      f->crc32c, crc);
}

static enum imrec_status
check_bytes(const char *path, const struct manifest_file *f, bool whole, struct imrec_error *err)
{
    struct imrec_error why;
    struct source *s;
    if (source_open(path, &s, &why) != IMREC_OK)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "the manifest names this file: %.400s",
                          why.message);
    const enum imrec_status st = compare_bytes(s, f, whole, err);
    source_close(s);
    return st;
}

/* `whole`: the checksum too. A shard's is what its records' checksums amount to, if it has them. */
static enum imrec_status check_file(const struct checking *c, const struct manifest_file *f,
                                    bool whole, struct imrec_error *err)
{
    if (f->name == NULL)
        return IMREC_OK;
    struct imrec_error why;
    char *path = set_beside(c->path, f->name);
    if (path == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a path");
    if (check_bytes(path, f, whole, &why) != IMREC_OK)
        tell(c, path, c->shard, why.message);
    imrec_free(path);
    return IMREC_OK;
}

/* ---- one manifest ----------------------------------------------------------------------- */

/* Whether the shard is not there, which is no finding where that is allowed. */
static enum imrec_status is_missing(struct checking *c, const struct manifest_shard *s,
                                    bool *missing, struct imrec_error *err)
{
    char *path = set_beside(c->path, s->rec.name);
    if (path == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a path");
    bool there;
    const enum imrec_status st = sink_exists(path, &there, err);
    *missing = st == IMREC_OK && !there;
    c->lacks = c->lacks || *missing;
    imrec_free(path);
    return st;
}

static enum imrec_status
check_shard(struct checking *c, const struct manifest_shard *s, struct imrec_error *err)
{
    bool missing = false;
    IMREC_TRY(is_missing(c, s, &missing, err));
    if (missing && c->allow_missing)
        return IMREC_OK;
    IMREC_TRY(check_file(c, &s->rec, s->checksums.name == NULL, err));
    IMREC_TRY(check_file(c, &s->idx, true, err));
    return check_file(c, &s->checksums, true, err);
}

static enum imrec_status
check_files(struct checking *c, const struct manifest *m, struct imrec_error *err)
{
    struct imrec_error why;
    (void)imrec_fail(&why, IMREC_ERR_CORRUPT, "the manifest %.400s does not name this shard",
                     c->path);
    if (manifest_entry(m, c->files->shards.uri[c->shard]) == NULL)
        tell(c, c->files->shards.uri[c->shard], c->shard, why.message);
    for (size_t i = 0; i < m->shard_count; i++)
        IMREC_TRY(check_shard(c, &m->shards[i], err));
    IMREC_TRY(check_file(c, &m->list, true, err));
    return check_file(c, &m->classes, true, err);
}

static enum imrec_status check_text(struct checking *c, struct bytes text, struct imrec_error *err)
{
    struct manifest m;
    struct imrec_error why;
    enum imrec_status st = manifest_read(c->path, text, &m, &why);
    if (st == IMREC_ERR_NO_MEMORY)
        return imrec_fail(err, st, "%s", why.message);
    if (st != IMREC_OK) {
        tell(c, c->path, c->shard, why.message);
        return IMREC_OK;
    }
    st = check_files(c, &m, err);
    manifest_free(&m);
    return st;
}

static bool same_set(const struct dataset_files *f, uint32_t shard, const char *path)
{
    char *before = shard > 0 ? set_path(f->shards.uri[shard - 1], SET_MANIFEST) : NULL;
    const bool same = before != NULL && strcmp(before, path) == 0;
    imrec_free(before);
    return same;
}

/* ---- shards that are not there ------------------------------------------------------------ */

static enum imrec_status check_one_name(struct checking *c, const struct shard_sets *sets,
                                        size_t begin, size_t end, struct imrec_error *err)
{
    const struct shard_member *m = &sets->member[begin];
    struct shard_gap gap = {0};
    struct imrec_error why;
    bool manifest;
    IMREC_TRY(dataset_has(m->uri, SET_MANIFEST, &manifest, err));
    if (!manifest)
        IMREC_TRY(shard_sets_gap(sets, begin, end, true, &gap, err));
    if (gap.missing == 0)
        return IMREC_OK;
    c->lacks = true;
    c->shard = (uint32_t)m->at;
    (void)imrec_fail(&why, IMREC_ERR_CORRUPT,
                     "its name says %" PRIu64 " shards, and %" PRIu64 " %s missing: %s",
                     gap.promised, gap.missing, gap.missing == 1 ? "is" : "are", gap.names);
    if (!c->allow_missing)
        tell(c, m->uri, c->shard, why.message);
    return IMREC_OK;
}

/* Of sets without a manifest, by their names. */
static enum imrec_status check_names(struct checking *c, struct imrec_error *err)
{
    struct shard_sets sets;
    enum imrec_status st = IMREC_OK;
    IMREC_TRY(shard_sets_init(&sets, &c->files->shards, err));
    for (size_t begin = 0, end; begin < sets.count && st == IMREC_OK; begin = end) {
        end = shard_sets_end(&sets, begin);
        st = check_one_name(c, &sets, begin, end, err);
    }
    shard_sets_free(&sets);
    return st;
}

/* What opening the set would say, where nothing was said yet. */
static enum imrec_status
check_opening(struct checking *c, const struct container_options *set, struct imrec_error *err)
{
    struct shard_list l;
    struct imrec_error why;
    const enum shard_look look = c->allow_missing ? SHARDS_ALLOW_MISSING : SHARDS_COMPLETE;
    const enum imrec_status st =
        shard_list_open(&l, set->path_imgrec, kinds_of(set->container), look, &why);
    if (st == IMREC_OK)
        shard_list_free(&l);
    else if (st == IMREC_ERR_NO_MEMORY)
        return imrec_fail(err, st, "%s", why.message);
    else
        tell(c, set->path_imgrec, 0, why.message);
    return IMREC_OK;
}

enum imrec_status dataset_check_set(const struct container_options *set,
                                    const struct dataset_files *f, bool allow_missing,
                                    imrec_finding_fn *finding, void *user, struct imrec_error *err)
{
    struct checking c = {
        .files = f, .allow_missing = allow_missing, .finding = finding, .user = user};
    enum imrec_status st = IMREC_OK;
    for (; c.shard < f->shards.count && st == IMREC_OK; c.shard++) {
        uint8_t *text;
        char *path;
        size_t n;
        st = dataset_load(f->shards.uri[c.shard], SET_MANIFEST, &path, &text, &n, err);
        c.path = path;
        if (st == IMREC_OK && text != NULL && !same_set(f, c.shard, path))
            st = check_text(&c, (struct bytes){text, n}, err);
        IMREC_FREE(text, path);
    }
    if (st == IMREC_OK)
        st = check_names(&c, err);
    if (st == IMREC_OK && (allow_missing || !c.lacks))
        st = check_opening(&c, set, err);
    return st;
}

/* ---- one file alone ----------------------------------------------------------------------- */

static void take_first(void *user, const struct imrec_finding *f)
{
    struct imrec_error *why = user;
    if (why->status == IMREC_OK)
        (void)imrec_fail(why, IMREC_ERR_CORRUPT, "%.250s: %.250s", f->uri, f->reason);
}

/* What the manifest says of the file; NULL: nothing. */
static const struct manifest_file *
find_file(const struct manifest *m, const char *shard, enum set_file what)
{
    const struct manifest_shard *s = manifest_entry(m, shard);
    if (what != SET_REC)
        return what == SET_LIST ? &m->list : &m->classes;
    return s != NULL ? &s->rec : NULL;
}

static enum imrec_status compare_with(const struct checking *c, struct bytes text,
                                      const char *shard, enum set_file what, bool *known,
                                      struct imrec_error *err)
{
    struct manifest m;
    IMREC_TRY(manifest_read(c->path, text, &m, err));
    const struct manifest_file *f = find_file(&m, shard, what);
    *known = f != NULL && f->name != NULL;
    const enum imrec_status st = *known ? check_file(c, f, true, err) : IMREC_OK;
    manifest_free(&m);
    return st;
}

enum imrec_status
dataset_check_file(const char *shard, enum set_file what, bool *known, struct imrec_error *err)
{
    struct imrec_error why = {.status = IMREC_OK};
    struct checking c = {.finding = take_first, .user = &why};
    uint8_t *text;
    char *path;
    size_t n;
    *known = false;
    enum imrec_status st = dataset_load(shard, SET_MANIFEST, &path, &text, &n, err);
    c.path = path;
    if (st == IMREC_OK && text != NULL)
        st = compare_with(&c, (struct bytes){text, n}, shard, what, known, err);
    IMREC_FREE(text, path);
    if (st == IMREC_OK && why.status != IMREC_OK)
        st = imrec_fail(err, why.status, "%s", why.message);
    return st;
}

enum imrec_status imrec_dataset_compare(const char *shard, struct imrec_error *err)
{
    bool known;
    return dataset_check_file(shard, SET_REC, &known, err);
}
