/* formats/cbf/cbf_header.h - the header of a CBF file: its streams, and where its chunks are.
 * docs/formats/cbf.md is the specification. No I/O: a caller that reads from storage calls
 *
 *     1. cbf_check_prefix() with the first CBF_PREFIX_BYTES (all there are, of a shorter file),
 *     2. cbf_header_offset() with the last CBF_TAIL_BYTES: the header is [offset, end of file),
 *     3. cbf_header_parse() with those bytes,
 *     4. cbf_chunk_parse() (cbf_chunk.h) with the bytes [offset, offset + bytes) of a chunk.
 *
 * Every error is IMREC_ERR_CORRUPT and names byte offset, field, value and what would be right.
 */
#ifndef IMREC_FORMATS_CBF_CBF_HEADER_H
#define IMREC_FORMATS_CBF_CBF_HEADER_H

#include "formats/sequence_chunk.h"
#include "imrec/error.h"

#define CBF_MAGIC            0x636e746b5f62696eu
#define CBF_VERSION          1u
#define CBF_PREFIX_BYTES     12u
#define CBF_TAIL_BYTES       8u
#define CBF_MAX_STREAMS      65536u
#define CBF_MAX_NAME_BYTES   65535u
#define CBF_DEFAULT_CHUNK    ((uint64_t)32 << 20)
#define CBF_CHUNK_ENTRY_SIZE 16u

struct cbf_chunk_entry {
    uint64_t offset, bytes; /* in the file */
    uint32_t sequences;
    uint32_t samples; /* sum of its sequences' lengths */
};

struct cbf_header {
    uint32_t streams, chunks;
    struct stream_info *stream;    /* [streams]; name = alias = the name in the file */
    struct cbf_chunk_entry *chunk; /* [chunks], in the order of the file */
    uint64_t sequences, samples;   /* of all chunks; at least one sequence */
    uint64_t largest_chunk;        /* bytes */
    uint64_t table;                /* where the entries of the chunks begin in the file */
    char *names;                   /* memory of the names */
};

/* Whether `prefix`, the first bytes of a file, is that of a CBF file of our version. */
IMREC_NODISCARD enum imrec_status cbf_check_prefix(struct bytes prefix, struct imrec_error *err);
/* Whether a file begins with CBF's magic: for telling formats apart. */
bool cbf_is_magic(struct bytes prefix);
/* Where the header begins, read from the file's last bytes. */
IMREC_NODISCARD enum imrec_status cbf_header_offset(const uint8_t tail[CBF_TAIL_BYTES],
                                                    uint64_t file_bytes, uint64_t *offset,
                                                    struct imrec_error *err);
/* `header`: the bytes from `offset` to the end of the file. Free with cbf_header_free(). */
IMREC_NODISCARD enum imrec_status cbf_header_parse(struct bytes header, uint64_t offset,
                                                   struct cbf_header *out, struct imrec_error *err);
void cbf_header_free(struct cbf_header *h); /* zeroed memory is allowed */

#endif
