/* minibatch/corpus/corpus.c - opening the files of a deserializer, and the tables over them. */
#include "minibatch/corpus/corpus.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/math.h"
#include "container/walk/cbf_file.h"
#include "minibatch/corpus/corpus_kind.h"
#include "minibatch/corpus/corpus_slices.h"
#include "minibatch/corpus/corpus_streams.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum imrec_status no_memory(const struct corpus *c, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the tables of %.200s", c->o.file);
}

static const struct ctf_index *index_of(const struct corpus_file *f)
{
    return ctf_index_file_index(f->index);
}

/* ---- files ------------------------------------------------------------------------------- */

/* What `type` asks for, or the first bytes of the first file. */
static enum imrec_status find_kind(struct corpus *c, struct imrec_error *err)
{
    bool binary = false;
    const int asked = corpus_type(c->o.type);
    if (asked < 0)
        return IMREC_REFUSE(err,
                            "type '%.60s' is not known; CNTKTextFormatReader, CNTKBinaryReader, "
                            "CNTKTextFormatDeserializer, CNTKBinaryFormatDeserializer, text and "
                            "binary are",
                            c->o.type);
    if (asked == CORPUS_BY_BYTES)
        IMREC_TRY(cbf_file_is(c->file[0].in, &binary, err));
    binary |= cbf_file_is_named(c->file[0].name); /* its fault is reported later */
    c->text = asked == CORPUS_TEXT || (asked == CORPUS_BY_BYTES && !binary);
    return IMREC_OK;
}

static enum imrec_status open_sources(struct corpus *c, struct imrec_error *err)
{
    if (c->o.file == NULL)
        return IMREC_REFUSE(err, "file is missing");
    IMREC_TRY(uri_list_expand(c->o.file, "", &c->names, err));
    c->file = imrec_zalloc(c->names.count, sizeof(*c->file));
    if (c->file == NULL || c->names.count > UINT32_MAX)
        return no_memory(c, err);
    for (; c->files < c->names.count; c->files++) {
        c->file[c->files].name = c->names.uri[c->files];
        IMREC_TRY(source_open(c->names.uri[c->files], &c->file[c->files].in, err));
    }
    return find_kind(c, err);
}

static enum imrec_status
index_text(struct corpus *c, struct corpus_file *f, struct imrec_error *err)
{
    const struct ctf_index_options o = {
        .name = f->name,
        .size = f->in->size,
        .main_alias = c->defining == UINT32_MAX ? NULL : c->stream[c->defining].alias,
        .skip_sequence_ids = c->o.skip_sequence_ids,
        .chunk_bytes = min_u64((uint64_t)c->o.chunk_size_in_bytes, CORPUS_TEXT_BLOCK),
        .known = c->o.ignore_unknown_inputs ? c->stream : NULL,
        .known_streams = c->streams,
    };
    return ctf_index_file_open(f->name, f->in, &o, c->o.cache_index, c->o.trace_level >= 2,
                               &f->index, err);
}

/* Only a file without a header is looked at further: there may be many, and far away. */
static enum imrec_status read_header(struct corpus_file *f, struct imrec_error *err)
{
    const enum imrec_status st = cbf_file_header(f->in, f->name, &f->head, err);
    if (st == IMREC_ERR_CORRUPT)
        IMREC_TRY(corpus_kind_check(f->in, f->name, true, err));
    return st;
}

static enum imrec_status open_files(struct corpus *c, struct imrec_error *err)
{
    IMREC_TRY(open_sources(c, err));
    for (uint32_t i = 0; c->text && i < c->files; i++)
        IMREC_TRY(corpus_kind_check(c->file[i].in, c->file[i].name, false, err));
    if (c->text)
        IMREC_TRY(corpus_take_streams(c, err));
    for (uint32_t i = 0; i < c->files; i++) {
        struct corpus_file *f = &c->file[i];
        IMREC_TRY(c->text ? index_text(c, f, err) : read_header(f, err));
        if (!c->text)
            IMREC_TRY(i == 0 ? corpus_take_streams(c, err) : corpus_same_streams(c, f, err));
        f->first = c->sequences;
        c->sequences += c->text ? index_of(f)->sequences : f->head.sequences;
    }
    return IMREC_OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

static enum imrec_status
add_block(struct corpus *c, const struct corpus_block *b, struct imrec_error *err)
{
    if (c->blocks == UINT32_MAX - 1)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "%.200s has more chunks than a source can hold; ask for larger ones "
                          "by chunkSizeInBytes",
                          c->o.file);
    if (!IMREC_GROW(c->block, c->block_room, c->blocks + 1))
        return no_memory(c, err);
    c->block[c->blocks++] = *b;
    return IMREC_OK;
}

static enum imrec_status
add_text_chunk(struct corpus *c, uint32_t file, uint32_t n, struct imrec_error *err)
{
    const struct ctf_chunk *t = &index_of(&c->file[file])->chunk[n];
    const struct corpus_block b = {
        .first = c->file[file].first + t->first,
        .bytes = t->bytes,
        .sequences = t->sequences,
        .samples = (uint32_t)t->samples, /* fewer than bytes, which are few */
        .file = file,
        .number = n,
    };
    return add_block(c, &b, err);
}

/* As a block, or in slices. */
static enum imrec_status add_binary_chunk(struct corpus *c, uint32_t file, uint32_t n,
                                          uint64_t *first, struct imrec_error *err)
{
    const struct cbf_chunk_entry *e = &c->file[file].head.chunk[n];
    struct corpus_block b = {.bytes = e->bytes, .samples = e->samples, .file = file, .number = n};
    uint32_t each;
    IMREC_TRY(corpus_slice(c, &c->file[file], n, &each, err));
    b.slice = each > 0;
    for (uint32_t at = 0; at < e->sequences || at == 0; at += b.sequences) {
        b.first = *first + at;
        b.from = at;
        b.sequences = each > 0 && each < e->sequences - at ? each : e->sequences - at;
        if (b.slice) {
            b.samples = b.sequences;
            b.bytes = e->bytes / e->sequences * b.sequences;
        }
        IMREC_TRY(add_block(c, &b, err));
        if (b.sequences == 0)
            break;
    }
    *first += e->sequences;
    return IMREC_OK;
}

static enum imrec_status make_blocks(struct corpus *c, struct imrec_error *err)
{
    uint64_t first = 0;
    for (uint32_t i = 0; i < c->files; i++) {
        const struct corpus_file *f = &c->file[i];
        for (uint32_t n = 0; n < (c->text ? index_of(f)->chunks : f->head.chunks); n++)
            IMREC_TRY(c->text ? add_text_chunk(c, i, n, err)
                              : add_binary_chunk(c, i, n, &first, err));
    }
    c->length = imrec_zalloc(c->blocks, sizeof(*c->length));
    c->chunk = imrec_zalloc(c->blocks, sizeof(*c->chunk));
    if (c->length == NULL || c->chunk == NULL)
        return no_memory(c, err);
    return !c->text && c->defining != UINT32_MAX ? corpus_measure(c, err) : IMREC_OK;
}

/* Whether a block continues the chunk that `before` is in. */
static bool continues_chunk(const struct corpus *c, const struct corpus_block *before,
                            const struct corpus_block *b, uint64_t bytes)
{
    if (before->file != b->file)
        return false;
    return c->text ? bytes + b->bytes <= (uint64_t)c->o.chunk_size_in_bytes
                   : before->number == b->number;
}

/* Runs of blocks that together are no larger than a chunk may be. */
static void make_chunks(struct corpus *c, bool of_blocks)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->blocks; i++) {
        struct corpus_block *b = &c->block[i];
        struct corpus_chunk *k = c->chunks > 0 ? &c->chunk[c->chunks - 1] : NULL;
        if (k == NULL || of_blocks || !continues_chunk(c, b - 1, b, bytes) ||
            (uint64_t)k->sequences + b->sequences > UINT32_MAX) {
            k = &c->chunk[c->chunks++];
            *k = (struct corpus_chunk){.first = b->first, .block = i};
            bytes = 0;
        }
        b->chunk = c->chunks - 1;
        k->blocks++;
        k->sequences += b->sequences;
        k->samples += b->samples;
        c->samples += b->samples;
        bytes += b->bytes;
    }
}

static enum imrec_status check_samples(const struct corpus *c, struct imrec_error *err)
{
    if (c->samples > 0)
        return IMREC_OK;
    const struct corpus_file *f = &c->file[0];
    if (c->text)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0, "%.200s: no line holds a sample", f->name);
    return imrec_error_at(err, IMREC_ERR_CORRUPT, f->head.table + 12,
                          "%.200s: byte %" PRIu64 ": the chunks say that their %" PRIu64
                          " sequences have 0 samples, there must be at least 1",
                          f->name, f->head.table + 12, c->sequences);
}

/* Logs what a file turned out to be, where the log level asks for everything. */
static void tell(const struct corpus *c)
{
    char inputs[300];
    size_t n = 0;
    for (uint32_t i = 0; i < c->streams && n < sizeof(inputs); i++)
        n += (size_t)snprintf(
            inputs + n, sizeof(inputs) - n, "%s%.40s (%s, dim %" PRIu32 ", %s)", i > 0 ? ", " : "",
            c->stream[i].name, c->stream[i].storage == STREAM_SPARSE ? "sparse" : "dense",
            c->stream[i].dim, c->stream[i].element == STREAM_DOUBLE ? "double" : "float");
    imrec_log(IMREC_LOG_TRACE,
              "%.200s: %s, files: %" PRIu32 ", sequences: %" PRIu64 ", samples: %" PRIu64
              ", chunks: %" PRIu32 "; inputs: %s",
              c->o.file, c->text ? "text" : "binary", c->files, c->sequences, c->samples, c->chunks,
              inputs);
}

/* ---- questions --------------------------------------------------------------------------- */

/* The last of block[begin, end) that begins at `sequence` or before: the first one does. */
static uint32_t search(const struct corpus *c, uint32_t begin, uint32_t end, uint64_t sequence)
{
    return begin - 1 +
           (uint32_t)first_at_least(c->block + begin, sizeof(*c->block),
                                    offsetof(struct corpus_block, first), end - begin,
                                    sequence + 1);
}

uint32_t corpus_block_of(const struct corpus *c, uint32_t chunk, uint32_t n)
{
    const struct corpus_chunk *k = &c->chunk[chunk];
    return search(c, k->block, k->block + k->blocks, k->first + n);
}

uint32_t corpus_block_at(const struct corpus *c, uint64_t sequence)
{
    return search(c, 0, c->blocks, sequence);
}

/* The lengths of a binary chunk, stored before its data. If they do not sum to the number in the
 * header, the whole chunk will be lost; on the timeline all its samples get one place. */
static enum imrec_status read_lengths(struct corpus *c, uint32_t block, struct imrec_error *err)
{
    const struct corpus_block *b = &c->block[block];
    const struct corpus_file *f = &c->file[b->file];
    uint32_t *length = imrec_realloc(NULL, b->sequences, sizeof(*length));
    uint64_t sum = 0;
    if (length == NULL)
        return b->sequences == 0 ? IMREC_OK : no_memory(c, err);
    const enum imrec_status st =
        source_read(f->in, f->head.chunk[b->number].offset + 4 * (uint64_t)b->from, length,
                    4 * (size_t)b->sequences, err);
    if (st != IMREC_OK) {
        imrec_free(length);
        return st;
    }
    for (uint32_t i = 0; i < b->sequences; i++)
        sum += length[i] = load_le32((const uint8_t *)&length[i]);
    if (sum != b->samples) {
        memset(length, 0, 4 * (size_t)b->sequences);
        length[0] = b->samples;
    }
    c->length[block] = length;
    return IMREC_OK;
}

/* Sequence n of a block of a text. */
static enum imrec_status sequence_of(struct corpus *c, uint32_t block, uint32_t n,
                                     const struct ctf_sequence **out, struct imrec_error *err)
{
    const struct corpus_block *b = &c->block[block];
    const struct corpus_file *f = &c->file[b->file];
    IMREC_TRY(ctf_index_file_need(f->index, b->number, err));
    *out = &index_of(f)->sequence[b->first - f->first + n];
    return IMREC_OK;
}

enum imrec_status
corpus_length(struct corpus *c, uint32_t chunk, uint32_t n, uint32_t *out, struct imrec_error *err)
{
    const uint32_t block = corpus_block_of(c, chunk, n);
    const uint32_t within = (uint32_t)(c->chunk[chunk].first + n - c->block[block].first);
    if (c->text) {
        const struct ctf_sequence *s;
        IMREC_TRY(sequence_of(c, block, within, &s, err));
        *out = s->length;
        return IMREC_OK;
    }
    if (c->block[block].slice) { /* they were looked at */
        *out = 1;
        return IMREC_OK;
    }
    if (c->length[block] == NULL)
        IMREC_TRY(read_lengths(c, block, err));
    *out = c->length[block][within];
    return IMREC_OK;
}

void corpus_length_soon(const struct corpus *c, uint32_t chunk, uint32_t n)
{
    const uint64_t sequence = c->chunk[chunk].first + n;
    if (c->text) {
        const struct corpus_file *f = &c->file[c->block[c->chunk[chunk].block].file];
        __builtin_prefetch(&index_of(f)->sequence[sequence - f->first]);
    } else if (c->chunk[chunk].blocks == 1 && c->length[c->chunk[chunk].block] != NULL) {
        __builtin_prefetch(&c->length[c->chunk[chunk].block][n]);
    }
}

enum imrec_status
corpus_key(struct corpus *c, uint32_t block, uint32_t n, uint64_t *out, struct imrec_error *err)
{
    const struct ctf_sequence *s;
    *out = c->block[block].first + n;
    if (!c->text)
        return IMREC_OK;
    IMREC_TRY(sequence_of(c, block, n, &s, err));
    *out = s->key;
    return IMREC_OK;
}

/* ---- life -------------------------------------------------------------------------------- */

enum imrec_status corpus_open(const struct imrec_deserializer *d, enum imrec_precision precision,
                              bool chunks_of_blocks, struct corpus **out, struct imrec_error *err)
{
    struct corpus *c = *out = imrec_zalloc(1, sizeof(*c));
    if (c == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a corpus");
    c->o = *d;
    c->precision = precision;
    c->defining = UINT32_MAX;
    enum imrec_status st = open_files(c, err);
    if (st == IMREC_OK)
        st = make_blocks(c, err);
    if (st == IMREC_OK) {
        make_chunks(c, chunks_of_blocks);
        st = check_samples(c, err);
    }
    if (st == IMREC_OK && c->o.trace_level >= 2)
        tell(c);
    if (st == IMREC_OK)
        return IMREC_OK;
    corpus_close(c);
    *out = NULL;
    return st;
}

void corpus_close(struct corpus *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; c->length != NULL && i < c->blocks; i++)
        imrec_free(c->length[i]);
    for (uint32_t i = 0; i < c->files; i++) {
        ctf_index_file_close(c->file[i].index);
        cbf_header_free(&c->file[i].head);
        source_close(c->file[i].in);
    }
    uri_list_free(&c->names);
    IMREC_FREE(c->length, c->block, c->chunk, c->file, c->stream, c);
}

uint64_t corpus_memory(const struct corpus *c)
{
    uint64_t bytes =
        (uint64_t)c->blocks * (sizeof(*c->block) + sizeof(*c->chunk) + sizeof(*c->length));
    for (uint32_t i = 0; i < c->files; i++)
        bytes += c->text ? ctf_index_file_memory(c->file[i].index) : 0;
    return bytes + (c->text ? 0 : 4 * c->sequences);
}
