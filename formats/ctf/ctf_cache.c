/* formats/ctf/ctf_cache.c - an index as bytes, and back; a doubtful cache is refused. */
#include "formats/ctf/ctf_cache.h"

#include "base/math.h"
#include "formats/crc32c.h"

#include <string.h>

enum {
    FIXED_BYTES = 88, /* of a head, before the names */
    SAMPLE_BYTES = 64 << 10,
    CRC_AT_ONCE = 256, /* sequences */
    FLAG_SKIP_IDS = 1,
    FLAG_MAIN = 2,  /* a stream defines the size */
    FLAG_KNOWN = 4, /* only some names count */
};

static const uint8_t magic[8] = {0x89, 'C', 'T', 'F', '-', 'I', 'D', 'X'};

uint64_t ctf_cache_sample(uint64_t size, uint32_t k, size_t *n)
{
    if (size <= (uint64_t)SAMPLE_BYTES * CTF_CACHE_SAMPLES) { /* all of it */
        const uint64_t begin = min_u64((uint64_t)k * SAMPLE_BYTES, size);
        *n = (size_t)min_u64(size - begin, SAMPLE_BYTES);
        return begin;
    }
    *n = SAMPLE_BYTES;
    return (size - SAMPLE_BYTES) / (CTF_CACHE_SAMPLES - 1) * k +
           (size - SAMPLE_BYTES) % (CTF_CACHE_SAMPLES - 1) * k / (CTF_CACHE_SAMPLES - 1);
}

/* ---- head -------------------------------------------------------------------------------- */

/* The names that an index depends on: the stream that defines the size, then, after a line end
 * each, those that count. Written to `to`, compared with `like`; either may be NULL. */
struct names {
    uint8_t *to;
    const uint8_t *like;
    size_t n;
    bool same;
};

static void add_name(struct names *a, const char *s, size_t n)
{
    if (n > 0 && a->to != NULL)
        memcpy(a->to + a->n, s, n);
    a->same &= n == 0 || a->like == NULL || memcmp(a->like + a->n, s, n) == 0;
    a->n += n;
}

static struct names names_of(const struct ctf_index_options *o, uint8_t *to, const uint8_t *like)
{
    struct names a = {to, like, 0, true};
    add_name(&a, o->main_alias, o->main_alias != NULL ? strlen(o->main_alias) : 0);
    for (uint32_t i = 0; o->known != NULL && i < o->known_streams; i++) {
        add_name(&a, "\n", 1);
        add_name(&a, o->known[i].alias, strlen(o->known[i].alias));
    }
    return a;
}

size_t ctf_cache_head_bytes(const struct ctf_index_options *o)
{
    return FIXED_BYTES + (size_t)align_up(names_of(o, NULL, NULL).n, 8) + 8;
}

/* What does not depend on the index: a usable cache begins with the same bytes. */
enum { KNOWN_BYTES = 56 };
static void put_known(const struct ctf_cache_facts *f, uint8_t *p)
{
    const struct ctf_index_options *o = f->options;
    memcpy(p, magic, sizeof(magic));
    store_le32(p + 8, 1); /* version */
    store_le32(p + 12, (uint32_t)ctf_cache_head_bytes(o));
    store_le64(p + 16, o->size);
    store_le64(p + 24, f->modified);
    store_le32(p + 32, f->sample);
    store_le32(p + 36, (o->skip_sequence_ids ? FLAG_SKIP_IDS : 0) |
                           (o->main_alias != NULL ? FLAG_MAIN : 0) |
                           (o->known != NULL ? FLAG_KNOWN : 0));
    store_le64(p + 40, o->chunk_bytes);
    store_le64(p + 48, names_of(o, NULL, NULL).n);
}

void ctf_cache_write_head(const struct ctf_index *x, const struct ctf_cache_facts *facts,
                          uint32_t table_crc, uint8_t *head)
{
    const size_t n = ctf_cache_head_bytes(facts->options);
    put_known(facts, head);
    store_le64(head + 56, x->sequences);
    store_le64(head + 64, x->samples);
    store_le64(head + 72, x->chunks);
    store_le32(head + 80, table_crc);
    store_le32(head + 84, 0);
    memset(head + FIXED_BYTES, 0, n - FIXED_BYTES);
    (void)names_of(facts->options, head + FIXED_BYTES, NULL);
    store_le32(head + n - 8, crc32c(0, head, n - 8));
    store_le32(head + n - 4, 0);
}

static const char *why_other(const uint8_t *head, const uint8_t *known)
{
    static const struct {
        size_t begin, end;
        const char *why;
    } fields[] = {
        {0, 8, "it is not an imrec index"},     {8, 12, "it has another version"},
        {16, 24, "the text had another size"},  {24, 32, "the text was changed at another time"},
        {32, 36, "the text had other content"}, {12, KNOWN_BYTES, "it was made with other options"},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (memcmp(head + fields[i].begin, known + fields[i].begin,
                   fields[i].end - fields[i].begin) != 0)
            return fields[i].why;
    return NULL;
}

/* Whether the parts fill the file exactly; their places in *c. */
static bool fills(struct ctf_cache *c, size_t head_bytes, uint64_t file_bytes)
{
    uint64_t sequences, end;
    c->table_at = head_bytes;
    return !__builtin_mul_overflow(c->chunks, CTF_CACHE_CHUNK_BYTES, &c->table_bytes) &&
           !__builtin_mul_overflow(c->sequences, CTF_CACHE_SEQUENCE_BYTES, &sequences) &&
           !__builtin_add_overflow(c->table_at, c->table_bytes, &c->sequences_at) &&
           !__builtin_add_overflow(c->sequences_at, sequences, &end) && end == file_bytes &&
           end <= SIZE_MAX;
}

const char *ctf_cache_read_head(const uint8_t *head, const struct ctf_cache_facts *facts,
                                uint64_t file_bytes, struct ctf_cache *out)
{
    const size_t n = ctf_cache_head_bytes(facts->options);
    uint8_t known[KNOWN_BYTES];
    put_known(facts, known);
    const char *why = why_other(head, known);
    if (why != NULL)
        return why;
    if (!names_of(facts->options, NULL, head + FIXED_BYTES).same) /* padding: in the checksum */
        return "it was made with other options";
    if (load_le32(head + n - 8) != crc32c(0, head, n - 8))
        return "its head is damaged";
    *out = (struct ctf_cache){.sequences = load_le64(head + 56),
                              .samples = load_le64(head + 64),
                              .chunks = load_le64(head + 72),
                              .table_crc = load_le32(head + 80)};
    if (!fills(out, n, file_bytes))
        return "its size differs from the size in its head";
    if (out->sequences == 0 || out->chunks == 0)
        return "it has no sequence";
    return NULL;
}

/* ---- table of chunks --------------------------------------------------------------------- */

static uint32_t sequences_crc(const struct ctf_sequence *s, uint32_t n)
{
    uint8_t bytes[CRC_AT_ONCE * CTF_CACHE_SEQUENCE_BYTES];
    uint32_t crc = 0;
    for (uint32_t at = 0; at < n; at += CRC_AT_ONCE) {
        const size_t some = n - at < CRC_AT_ONCE ? n - at : CRC_AT_ONCE;
        ctf_cache_write_sequences(s + at, some, bytes);
        crc = crc32c(crc, bytes, some * CTF_CACHE_SEQUENCE_BYTES);
    }
    return crc;
}

void ctf_cache_write_table(const struct ctf_index *x, uint8_t *table)
{
    for (uint64_t i = 0; i < x->chunks; i++, table += CTF_CACHE_CHUNK_BYTES) {
        const struct ctf_chunk *c = &x->chunk[i];
        store_le64(table, c->first);
        store_le32(table + 8, c->sequences);
        store_le32(table + 12, sequences_crc(x->sequence + c->first, c->sequences));
        store_le64(table + 16, c->offset);
        store_le64(table + 24, c->bytes);
        store_le64(table + 32, c->samples);
        store_le64(table + 40, c->line);
    }
}

/* Whether a chunk can follow what ended before it. */
static bool follows(const struct ctf_chunk *c, const struct ctf_chunk *before, uint64_t text_bytes)
{
    const uint64_t first = before == NULL ? 0 : before->first + before->sequences;
    const uint64_t line = before == NULL ? 0 : before->line;
    return c->first == first && c->sequences > 0 && c->offset <= text_bytes &&
           (before == NULL || c->offset == before->offset + before->bytes) && c->bytes > 0 &&
           c->bytes <= text_bytes - c->offset && c->line > line &&
           c->samples <= (uint64_t)c->sequences * UINT32_MAX;
}

const char *ctf_cache_read_table(const struct ctf_cache *c, const uint8_t *table,
                                 uint64_t text_bytes, struct ctf_chunk *out, uint32_t *crc)
{
    uint64_t sequences = 0, samples = 0;
    if (crc32c(0, table, (size_t)c->table_bytes) != c->table_crc)
        return "its table of chunks is damaged";
    for (uint64_t i = 0; i < c->chunks; i++, table += CTF_CACHE_CHUNK_BYTES) {
        out[i] = (struct ctf_chunk){.first = load_le64(table),
                                    .sequences = load_le32(table + 8),
                                    .offset = load_le64(table + 16),
                                    .bytes = load_le64(table + 24),
                                    .samples = load_le64(table + 32),
                                    .line = load_le64(table + 40)};
        crc[i] = load_le32(table + 12);
        if (!follows(&out[i], i > 0 ? &out[i - 1] : NULL, text_bytes))
            return "its table of chunks is wrong";
        sequences += out[i].sequences;
        if (__builtin_add_overflow(samples, out[i].samples, &samples))
            return "its table of chunks is wrong";
    }
    const struct ctf_chunk *last = &out[c->chunks - 1];
    return sequences == c->sequences && samples == c->samples &&
                   last->offset + last->bytes == text_bytes
               ? NULL
               : "its table of chunks is wrong";
}

/* ---- sequences --------------------------------------------------------------------------- */

void ctf_cache_write_sequences(const struct ctf_sequence *s, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++, to += CTF_CACHE_SEQUENCE_BYTES) {
        const struct ctf_sequence q = s[i];
        store_le64(to, q.key);
        store_le64(to + 8, q.offset);
        store_le32(to + 16, q.bytes);
        store_le32(to + 20, q.length);
    }
}

const char *ctf_cache_read_chunk(const struct ctf_chunk *c, uint32_t crc, const uint8_t *bytes,
                                 struct ctf_sequence *out)
{
    uint64_t samples = 0, at = c->offset;
    const uint64_t end = c->offset + c->bytes;
    if (crc32c(0, bytes, (size_t)c->sequences * CTF_CACHE_SEQUENCE_BYTES) != crc)
        return "a chunk's sequences are damaged";
    for (uint32_t i = 0; i < c->sequences; i++, bytes += CTF_CACHE_SEQUENCE_BYTES) {
        const struct ctf_sequence q = {load_le64(bytes), load_le64(bytes + 8),
                                       load_le32(bytes + 16), load_le32(bytes + 20)};
        if (q.offset != at || q.bytes == 0 || q.bytes > end - at)
            return "a chunk's sequences are wrong";
        at += q.bytes;
        samples += q.length;
        out[i] = q;
    }
    return samples == c->samples && at == end ? NULL : "a chunk's sequences are wrong";
}
