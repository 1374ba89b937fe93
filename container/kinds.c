/* container/kinds.c - the kinds of containers, and which one a shard is, by its first bytes. */
#include "container/kinds.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/cbf.h"
#include "container/image_files.h"
#include "formats/file_kind.h"
#include "formats/recordio/recordio.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PIECE_BYTES ((size_t)1 << 20)
#define HEAD_MOST   ((size_t)12) /* bytes of a head, of any kind: a multiple of 4 */

const struct container_kind *const container_kinds[] = {&recordio_kind, &cbf_kind, &webdataset_kind,
                                                        &tfrecord_kind, NULL};

static bool ends_with(const char *uri, const char *suffix)
{
    const size_t n = strlen(uri), m = suffix != NULL ? strlen(suffix) : 0;
    return suffix != NULL && n >= m && strcmp(uri + n - m, suffix) == 0;
}

const struct container_kind *kinds_of(enum imrec_container c)
{
    switch (c) {
    case IMREC_CONTAINER_AUTO:
        return NULL;
    case IMREC_CONTAINER_FOLDER:
        return &folder_kind;
    case IMREC_CONTAINER_LIST:
        return &list_kind;
    case IMREC_CONTAINER_TFRECORD:
        return &tfrecord_kind;
    default:
        return container_kinds[c - 1];
    }
}

/* The kind that a shard's name promises. */
static const struct container_kind *named(const char *uri)
{
    for (size_t i = 0; container_kinds[i] != NULL; i++)
        if (ends_with(uri, container_kinds[i]->suffix) ||
            ends_with(uri, container_kinds[i]->other_suffix))
            return container_kinds[i];
    return container_kinds[0];
}

/* ---- what is no shard -------------------------------------------------------------------- */

/* "train.rec" of "train.idx", where it is there. */
static void name_shard(const char *uri, char *out, size_t room)
{
    const size_t n = strlen(uri);
    bool there;
    out[0] = '\0';
    if (n < 4 || n >= room || strcmp(uri + n - 4, ".idx") != 0)
        return;
    memcpy(out, uri, n - 4);
    memcpy(out + n - 4, ".rec", 5);
    if (sink_exists(out, &there, NULL) != IMREC_OK || !there)
        out[0] = '\0';
}

static enum imrec_status
refuse_kind(const char *uri, const struct file_kind *k, struct imrec_error *err)
{
    char shard[300] = "", instead[400] = "";
    if (k->weight == FILE_KIND_INDEX)
        name_shard(uri, shard, sizeof(shard));
    if (k->weight == FILE_KIND_INDEX)
        (void)snprintf(instead, sizeof(instead), shard[0] != '\0' ? ": the shard is %s" : "%s",
                       shard);
    else if (k->instead != NULL)
        (void)snprintf(instead, sizeof(instead), ": %s", k->instead);
    IMREC_REFUSE(err, "%.200s is %s, not a %s%.230s", uri, k->words, named(uri)->name, instead);
    imrec_error_file(err, uri);
    return IMREC_ERR_ARGUMENT;
}

static enum imrec_status
refuse_headless(const struct shard *h, const struct file_kind *k, struct imrec_error *err)
{
    imrec_error_at(err, IMREC_ERR_CORRUPT, 0,
                   "%.300s holds no record: no RecordIO head in its %" PRIu64 " bytes%s%s%s",
                   h->uri, h->size, k->words != NULL ? ", which begin with " : "",
                   k->words != NULL ? k->words : "",
                   named(h->uri) == &cbf_kind ? ", and no magic of CNTK's binary format"
                   : named(h->uri) == &tfrecord_kind
                       ? ", and none of a TFRecord file (compressed ones are not read: write it "
                         "without compression_type)"
                       : "");
    imrec_error_file(err, h->uri);
    return IMREC_ERR_CORRUPT;
}

/* ---- searching --------------------------------------------------------------------------- */

/* Whether a head is on a multiple of 4, or, `shifted`, on any byte. */
static bool has_head(const uint8_t *p, size_t n, bool shifted)
{
    for (size_t by = 0; by < (shifted ? RECORDIO_ALIGN : 1) && by < n; by++)
        if (recordio_sync(p + by, n - by) < n - by)
            return true;
    return false;
}

/* The kind of which there is a head in the piece at `at`; NULL: of none. */
static const struct container_kind *
kind_in(const struct shard *h, bool shifted, uint64_t at, struct bytes piece)
{
    if (has_head(piece.p, piece.n, shifted))
        return container_kinds[0];
    for (size_t i = 0; container_kinds[i] != NULL; i++)
        if (container_kinds[i]->find != NULL &&
            container_kinds[i]->find(piece, h->size - at) < piece.n)
            return container_kinds[i];
    return NULL;
}

/* The kind of the first head anywhere; NULL: there is none. What cannot be read may be one. */
static enum imrec_status find_head(const struct shard *h, bool shifted,
                                   const struct container_kind **out, struct imrec_error *err)
{
    uint8_t *piece = imrec_realloc(NULL, PIECE_BYTES, 1);
    if (piece == NULL)
        return IMREC_NO_MEMORY(err, "no memory to look for a record");
    *out = NULL;
    for (uint64_t at = 0; *out == NULL && h->size - at >= RECORDIO_PART_HEAD_BYTES;
         at += PIECE_BYTES - HEAD_MOST) {
        const uint64_t left = h->size - at;
        const size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        *out = source_read_again(h->source, at, piece, n, NULL) != IMREC_OK
                   ? container_kinds[0]
                   : kind_in(h, shifted, at, (struct bytes){piece, n});
        if (n < PIECE_BYTES)
            break;
    }
    imrec_free(piece);
    return IMREC_OK;
}

/* The kind that has such first bytes; NULL: none. */
static const struct container_kind *recognized(const char *uri, struct bytes first)
{
    const struct container_kind *const by_name = named(uri);
    for (size_t i = 0; container_kinds[i] != NULL; i++)
        if (container_kinds[i]->recognize(first))
            return container_kinds[i];
    return by_name->recognize_empty != NULL && by_name->recognize_empty(first) ? by_name : NULL;
}

/* container=, or who reads one kind only, is taken at its word. */
static enum imrec_status refuse_other(const struct shard *h, const struct container_kind *said,
                                      const char *is, struct imrec_error *err)
{
    IMREC_REFUSE(err, "%.300s must be a %s, but begins as %s%s", h->uri, said->name,
                 is != NULL ? "a " : "nothing that is known", is != NULL ? is : "");
    imrec_error_file(err, h->uri);
    return IMREC_ERR_ARGUMENT;
}

/* *out is NULL where the shard has no byte. */
static enum imrec_status kind_of(const struct shard *h, const struct container_options *o,
                                 const struct container_kind **out, struct imrec_error *err)
{
    const struct container_kind *said = kinds_of(o->container);
    uint8_t bytes[FILE_KIND_BYTES];
    const size_t n = h->size < sizeof(bytes) ? (size_t)h->size : sizeof(bytes);
    const struct bytes first = {bytes, n};
    *out = n == 0 ? NULL : container_kinds[0];
    if (n == 0 || source_read_again(h->source, 0, bytes, n, NULL) != IMREC_OK)
        return IMREC_OK;
    const struct container_kind *found = recognized(h->uri, first);
    const struct file_kind k = file_kind_of(first);
    const bool searched = said == container_kinds[0] || (said != NULL && said->find != NULL);
    if (said != NULL && found != said && (found != NULL || !searched))
        return refuse_other(h, said, found != NULL ? found->name : k.words, err);
    if (found != NULL) {
        *out = found;
        return IMREC_OK;
    }
    if (file_kind_is_sure(&k))
        return refuse_kind(h->uri, &k, err);
    IMREC_TRY(find_head(h, o->shifted, out, err));
    if (*out == NULL)
        return refuse_headless(h, &k, err);
    return said == NULL || *out == said ? IMREC_OK : refuse_other(h, said, (*out)->name, err);
}

static enum imrec_status two_kinds(const char *a, const struct container_kind *of_a, const char *b,
                                   const char *of_b, struct imrec_error *err)
{
    return IMREC_REFUSE(err, "%.180s is a %s and %.180s a %s: a set is of one kind", a, of_a->name,
                        b, of_b);
}

enum imrec_status kinds_check(const struct later_check *base, const char *uri, struct bytes first,
                              struct imrec_error *err)
{
    const struct kind_check *c = (const struct kind_check *)base;
    const struct container_kind *found = recognized(uri, first);
    if (c->kind == NULL || found == c->kind)
        return IMREC_OK;
    const struct file_kind k = file_kind_of(first);
    if (found == NULL && file_kind_is_sure(&k))
        return refuse_kind(uri, &k, err);
    if (found == NULL && (c->kind == container_kinds[0] || c->kind->find != NULL)) /* damage */
        return IMREC_OK;
    return two_kinds(c->first, c->kind, uri, found != NULL ? found->name : "file of another kind",
                     err);
}

enum imrec_status kinds_find(const struct container *c, const struct container_kind **out,
                             bool *empty, struct imrec_error *err)
{
    const struct container_kind *found = NULL;
    uint32_t first = 0;
    for (uint32_t i = 0; i < c->shard_count; i++) {
        const struct container_kind *kind;
        IMREC_TRY(kind_of(&c->shards[i], &c->options, &kind, err));
        if (kind == NULL || kind == found)
            continue;
        if (found != NULL)
            return two_kinds(c->shards[first].uri, found, c->shards[i].uri, kind->name, err);
        found = kind;
        first = i;
        if (c->late != NULL) {
            *c->late = (struct kind_check){{kinds_check}, kind, c->shards[i].uri};
            break;
        }
    }
    *empty = found == NULL;
    *out = found != NULL ? found : container_kinds[0];
    return IMREC_OK;
}
