/* formats/ctf/ctf_cache.h - an index of a text as bytes of a file next to it.
 * docs/formats/ctf_cache.md
 *
 * The file has the sequences as they are in memory: a chunk's are loaded and checked when the chunk
 * is used; opening reads the head and the table of chunks alone. A bad cache is not an error: these
 * functions return the reason why it cannot be used, or NULL.
 */
#ifndef IMREC_FORMATS_CTF_CTF_CACHE_H
#define IMREC_FORMATS_CTF_CTF_CACHE_H

#include "formats/ctf/ctf_index.h"

#define CTF_CACHE_SUFFIX ".imrec-index" /* of the text's name */

enum {
    CTF_CACHE_SAMPLES = 8, /* pieces of the text to compare */
    CTF_CACHE_CHUNK_BYTES = 48,
    CTF_CACHE_SEQUENCE_BYTES = 24,
};

/* The text and the options that an index was made of; it serves no others. */
struct ctf_cache_facts {
    const struct ctf_index_options *options; /* all but the name */
    uint64_t modified;                       /* the text, ns since 1970; 0: not known */
    uint32_t sample;                         /* crc32c() over ctf_cache_sample(), in order */
};

/* The k-th piece to compare, of a text of `size` bytes; *n may be 0. */
uint64_t ctf_cache_sample(uint64_t size, uint32_t k, size_t *n);

/* Where things are in the file. */
struct ctf_cache {
    uint64_t sequences, samples, chunks;
    uint64_t table_at, table_bytes, sequences_at;
    uint32_t table_crc;
};

/* Bytes of the head of a cache with these options. */
size_t ctf_cache_head_bytes(const struct ctf_index_options *o);
/* head: that many bytes; file_bytes: of the whole cache. */
IMREC_NODISCARD const char *ctf_cache_read_head(const uint8_t *head,
                                                const struct ctf_cache_facts *facts,
                                                uint64_t file_bytes, struct ctf_cache *out);
/* table: c->table_bytes; out and crc: for c->chunks; crc: the checksum of a chunk's sequences. */
IMREC_NODISCARD const char *ctf_cache_read_table(const struct ctf_cache *c, const uint8_t *table,
                                                 uint64_t text_bytes, struct ctf_chunk *out,
                                                 uint32_t *crc);
/* The sequences of a chunk, c->sequences * 24 bytes; these may overlap `out`. */
IMREC_NODISCARD const char *ctf_cache_read_chunk(const struct ctf_chunk *c, uint32_t crc,
                                                 const uint8_t *bytes, struct ctf_sequence *out);

/* Writing. A table's crc goes into the head, so the table is made first. */
void ctf_cache_write_table(const struct ctf_index *x, uint8_t *table);
void ctf_cache_write_head(const struct ctf_index *x, const struct ctf_cache_facts *facts,
                          uint32_t table_crc, uint8_t *head);
void ctf_cache_write_sequences(const struct ctf_sequence *s, size_t n, uint8_t *to);
#endif
