/* formats/cbf/cbf_writer.h - sequences into the bytes of a CBF file. No I/O: bytes go to a
 * callback, in the order of the file. Equal sequences and chunk size give equal bytes, however the
 * sequences were cut into calls. docs/formats/cbf.md is the specification. */
#ifndef IMREC_FORMATS_CBF_CBF_WRITER_H
#define IMREC_FORMATS_CBF_CBF_WRITER_H

#include "formats/cbf/cbf_header.h"

/* Takes the next n bytes of the file. */
typedef enum imrec_status cbf_emit_fn(void *user, const void *p, size_t n, struct imrec_error *err);

struct cbf_writer;
struct cbf_written {
    uint64_t bytes;  /* given to the callback so far, or after cbf_writer_finish() the file */
    uint64_t chunks; /* that are closed */
    uint64_t sequences, samples;
};

/* Streams are written under info->name, with storage, element and dim as given (copied). A chunk
 * is closed before the sequence that would make it larger than `chunk_bytes` (0: 32 MiB); a
 * sequence larger than that is a chunk of its own. Memory: one chunk, and 16 bytes a closed one.
 * Nothing is emitted before the first chunk is closed. */
IMREC_NODISCARD enum imrec_status
cbf_writer_new(const struct stream_info *info, uint32_t streams, uint64_t chunk_bytes,
               cbf_emit_fn *emit, void *user, struct cbf_writer **out, struct imrec_error *err);
/* Adds all sequences of a chunk whose streams are those of the writer, in its order and types. */
IMREC_NODISCARD enum imrec_status
cbf_writer_add(struct cbf_writer *w, const struct sequence_chunk *c, struct imrec_error *err);
/* Whether the next cbf_writer_add() of this one sequence goes into the chunk that is being filled;
 * else it closes that one first. */
bool cbf_writer_fits(const struct cbf_writer *w, const struct sequence_chunk *one);
/* Closes the chunk that is being filled, if it has a sequence. */
IMREC_NODISCARD enum imrec_status cbf_writer_cut(struct cbf_writer *w, struct imrec_error *err);
/* Closes the last chunk and emits the header. A file needs a sequence. */
IMREC_NODISCARD enum imrec_status cbf_writer_finish(struct cbf_writer *w, struct imrec_error *err);
struct cbf_written cbf_writer_written(const struct cbf_writer *w);
/* Bytes of the file if it were finished now. */
uint64_t cbf_writer_size(const struct cbf_writer *w);
void cbf_writer_free(struct cbf_writer *w); /* NULL is allowed */

/* Continues after chunks that an earlier writer emitted: `bytes` of the file, which end with the
 * last of them. Only before the first cbf_writer_add(). */
IMREC_NODISCARD enum imrec_status cbf_writer_resume(struct cbf_writer *w,
                                                    const struct cbf_chunk_entry *chunk,
                                                    uint32_t chunks, struct imrec_error *err);
#endif
