/* minibatch/corpus/joint.c - the corpora of a source as one. */
#include "minibatch/corpus/joint.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "minibatch/corpus/id_table.h"

#include <inttypes.h>
#include <string.h>

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the tables of the sequences");
}

/* ---- streams ----------------------------------------------------------------------------- */

static enum imrec_status
check_stream(const struct joint *j, const struct joint_stream *s, struct imrec_error *err)
{
    for (uint32_t k = 0; k < j->streams; k++) {
        const struct joint_stream *other = &j->stream[k];
        if (other->corpus == s->corpus) /* its own were compared already */
            continue;
        if (strcmp(other->info->name, s->info->name) == 0)
            return IMREC_REFUSE(err,
                                "input '%.60s' is in deserializer %" PRIu32 " and in %" PRIu32
                                "; give one of them another name, and the old one as alias",
                                s->info->name, other->corpus, s->corpus);
        if (other->info->defines_mb_size && s->info->defines_mb_size)
            return IMREC_REFUSE(err,
                                "definesMBSize is set for input '%.60s' and for input '%.60s'; "
                                "one stream only can define the minibatch size",
                                other->info->name, s->info->name);
    }
    return IMREC_OK;
}

static enum imrec_status take_streams(struct joint *j, struct imrec_error *err)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < j->corpora; k++)
        n += j->corpus[k]->streams;
    j->stream = imrec_zalloc(n, sizeof(*j->stream));
    if (j->stream == NULL || n > UINT32_MAX)
        return no_memory(err);
    for (uint32_t k = 0; k < j->corpora; k++)
        for (uint32_t i = 0; i < j->corpus[k]->streams; i++) {
            const struct joint_stream s = {k, i, &j->corpus[k]->stream[i]};
            IMREC_TRY(check_stream(j, &s, err));
            j->stream[j->streams++] = s;
        }
    return IMREC_OK;
}

/* ---- joining ----------------------------------------------------------------------------- */

static enum imrec_status grow_rows(struct joint *j, struct imrec_error *err)
{
    const uint64_t need = max_u64(j->rows + 1, 1024);
    uint64_t same = j->room, again = j->room; /* one room for three arrays */
    return IMREC_GROW(j->kept, same, need) && IMREC_GROW(j->length, again, need) &&
                   imrec_grow(&j->elsewhere, &j->room, need,
                              (j->corpora - 1) * sizeof(*j->elsewhere))
               ? IMREC_OK
               : no_memory(err);
}

/* Samples of a sequence of the corpus, wherever it is. */
static enum imrec_status
length_at(struct corpus *c, uint64_t sequence, uint32_t *out, struct imrec_error *err)
{
    const uint32_t chunk = c->block[corpus_block_at(c, sequence)].chunk;
    return corpus_length(c, chunk, (uint32_t)(sequence - c->chunk[chunk].first), out, err);
}

static uint32_t defining_corpus(const struct joint *j)
{
    for (uint32_t k = 0; k < j->corpora; k++)
        if (j->corpus[k]->defining != UINT32_MAX)
            return k;
    return UINT32_MAX;
}

static enum imrec_status
lacks(const struct joint *j, uint32_t has, uint32_t lacks_it, uint64_t key, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "sequence id %" PRIu64 " of %.160s is not in %.160s; missing_ids=drop "
                      "leaves such sequences out",
                      key, j->corpus[has]->o.file, j->corpus[lacks_it]->o.file);
}

/* Sequence n of `chunk` of the first corpus, whose id is `key`; appended where all others have
 * it. */
static enum imrec_status join_one(struct joint *j, const struct id_table *ids, bool drop,
                                  uint32_t chunk, uint32_t n, struct imrec_error *err)
{
    struct corpus *lead = j->corpus[0];
    const uint32_t block = corpus_block_of(lead, chunk, n), defining = defining_corpus(j);
    uint64_t key = 0;
    uint32_t most = 0;
    IMREC_TRY(corpus_key(lead, block,
                         (uint32_t)(lead->chunk[chunk].first + n - lead->block[block].first), &key,
                         err));
    IMREC_TRY(grow_rows(j, err));
    IMREC_TRY(corpus_length(lead, chunk, n, &most, err));
    most = defining == 0 || defining == UINT32_MAX ? most : 0;
    for (uint32_t k = 1; k < j->corpora; k++) {
        uint64_t *at = &j->elsewhere[j->rows * (j->corpora - 1) + k - 1];
        uint32_t length = 0;
        if (!id_table_find(&ids[k], key, at)) {
            j->dropped++;
            return drop ? IMREC_OK : lacks(j, 0, k, key, err);
        }
        IMREC_TRY(length_at(j->corpus[k], *at, &length, err));
        if ((defining == UINT32_MAX || defining == k) && length > most)
            most = length;
    }
    j->kept[j->rows] = n;
    j->length[j->rows++] = most;
    j->chunk[chunk].sequences++;
    j->chunk[chunk].samples += most;
    return IMREC_OK;
}

static enum imrec_status
join_all(struct joint *j, const struct id_table *ids, bool drop, struct imrec_error *err)
{
    const struct corpus *lead = j->corpus[0];
    j->first = imrec_zalloc(lead->chunks, sizeof(*j->first));
    if (j->first == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < lead->chunks; i++) {
        j->first[i] = j->rows;
        for (uint32_t n = 0; n < lead->chunk[i].sequences; n++)
            IMREC_TRY(join_one(j, ids, drop, i, n, err));
    }
    if (j->rows == 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "no sequence id of %.160s is in all the other files", lead->o.file);
    return IMREC_OK;
}

/* Sequences of the others that the first lacks. */
static enum imrec_status
count_strangers(struct joint *j, const struct id_table *ids, bool drop, struct imrec_error *err)
{
    for (uint32_t k = 1; k < j->corpora; k++)
        for (uint64_t i = 0, at; i < ids[k].rows; i++) {
            if (id_table_find(&ids[0], ids[k].row[i].key, &at))
                continue;
            if (!drop)
                return lacks(j, k, 0, ids[k].row[i].key, err);
            j->dropped++;
        }
    return IMREC_OK;
}

static enum imrec_status join(struct joint *j, bool drop, struct imrec_error *err)
{
    struct id_table *ids = imrec_zalloc(j->corpora, sizeof(*ids));
    enum imrec_status st = ids == NULL ? no_memory(err) : IMREC_OK;
    for (uint32_t k = 0; k < j->corpora && st == IMREC_OK; k++)
        st = id_table_make(&ids[k], j->corpus[k], err); /* the first: to see that ids are unique */
    if (st == IMREC_OK)
        st = join_all(j, ids, drop, err);
    if (st == IMREC_OK)
        st = count_strangers(j, ids, drop, err);
    for (uint32_t k = 0; k < j->corpora && ids != NULL; k++)
        id_table_free(&ids[k]);
    imrec_free(ids);
    return st;
}

/* ---- questions --------------------------------------------------------------------------- */

enum imrec_status
joint_length(void *joint, uint32_t chunk, uint32_t sequence, uint32_t *out, struct imrec_error *err)
{
    const struct joint *j = joint;
    if (j->first == NULL)
        return corpus_length(j->corpus[0], chunk, sequence, out, err);
    *out = j->length[j->first[chunk] + sequence];
    return IMREC_OK;
}

void joint_length_soon(void *joint, uint32_t chunk, uint32_t sequence)
{
    const struct joint *j = joint;
    if (j->first == NULL)
        corpus_length_soon(j->corpus[0], chunk, sequence);
    else
        __builtin_prefetch(&j->length[j->first[chunk] + sequence]);
}

static struct joint_place place_of(const struct corpus *c, uint32_t block, uint64_t sequence)
{
    return (struct joint_place){block, (uint32_t)(sequence - c->block[block].first)};
}

struct joint_place
joint_find(const struct joint *j, uint32_t chunk, uint32_t sequence, uint32_t corpus)
{
    const struct corpus *c = j->corpus[corpus];
    if (j->first == NULL)
        return place_of(c, corpus_block_of(c, chunk, sequence), c->chunk[chunk].first + sequence);
    const uint64_t row = j->first[chunk] + sequence;
    if (corpus > 0) {
        const uint64_t at = j->elsewhere[row * (j->corpora - 1) + corpus - 1];
        return place_of(c, corpus_block_at(c, at), at);
    }
    return place_of(c, corpus_block_of(c, chunk, j->kept[row]),
                    c->chunk[chunk].first + j->kept[row]);
}

uint64_t joint_memory(const struct joint *j)
{
    uint64_t bytes = j->room * (8 + 8 * (uint64_t)(j->corpora - 1)) +
                     j->chunks * (sizeof(*j->chunk) + sizeof(*j->first));
    for (uint32_t k = 0; k < j->corpora; k++)
        bytes += corpus_memory(j->corpus[k]);
    return bytes;
}

/* ---- life -------------------------------------------------------------------------------- */

static enum imrec_status
open_all(const struct imrec_minibatch_options *o, struct joint *j, struct imrec_error *err)
{
    j->corpus = imrec_zalloc(o->deserializers, sizeof(*j->corpus));
    if (j->corpus == NULL)
        return no_memory(err);
    for (; j->corpora < o->deserializers; j->corpora++)
        IMREC_TRY(corpus_open(&o->deserializer[j->corpora], o->precision, !o->randomize,
                              &j->corpus[j->corpora], err));
    IMREC_TRY(take_streams(j, err));
    const struct corpus *lead = j->corpus[0];
    j->chunks = lead->chunks;
    j->chunk = imrec_zalloc(lead->chunks, sizeof(*j->chunk));
    if (j->chunk == NULL)
        return no_memory(err);
    if (j->corpora > 1)
        return join(j, o->missing_ids == IMREC_MISSING_DROP, err);
    for (uint32_t i = 0; i < lead->chunks; i++)
        j->chunk[i] = (struct timeline_chunk){lead->chunk[i].sequences, lead->chunk[i].samples};
    return IMREC_OK;
}

enum imrec_status
joint_open(const struct imrec_minibatch_options *o, struct joint *out, struct imrec_error *err)
{
    *out = (struct joint){0};
    if (o->deserializers == 0)
        return IMREC_REFUSE(err, "file is missing");
    const enum imrec_status st = open_all(o, out, err);
    if (st != IMREC_OK)
        joint_close(out);
    return st;
}

void joint_close(struct joint *j)
{
    for (uint32_t k = 0; k < j->corpora; k++)
        corpus_close(j->corpus[k]);
    IMREC_FREE(j->corpus, j->stream, j->chunk, j->first, j->kept, j->length, j->elsewhere);
    *j = (struct joint){0};
}
