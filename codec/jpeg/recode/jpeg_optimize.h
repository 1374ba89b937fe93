/* codec/jpeg/recode/jpeg_optimize.h - a JPEG with standard Huffman tables to the same one with
 * optimal tables.
 *
 * libjpeg finds optimal tables in a pass of its own over all coefficients, with slow code; its
 * coder with given tables is fast. So it codes with the standard tables, and the codes are
 * exchanged here: the bytes are those that libjpeg's own optimization writes. */
#ifndef IMREC_CODEC_JPEG_RECODE_JPEG_OPTIMIZE_H
#define IMREC_CODEC_JPEG_RECODE_JPEG_OPTIMIZE_H

#include "base/buf.h"

struct jpeg_optimizer; /* memory of one thread, used again */
struct stop;

IMREC_NODISCARD enum imrec_status
jpeg_optimizer_new(struct jpeg_optimizer **out, struct imrec_error *err);
void jpeg_optimizer_free(struct jpeg_optimizer *o); /* NULL is allowed */
void jpeg_optimizer_drop(struct jpeg_optimizer *o); /* its memory, but for the tables */
uint64_t jpeg_optimizer_claim(uint64_t pixels); /* maximum bytes it holds, besides a few JPEGs */
size_t jpeg_optimizer_memory(const struct jpeg_optimizer *o);

/* JPEGs from here on get these tables, WORD_TABLES of them, where word_file would take them; NULL:
 * optimal ones. */
struct symbol_spec;
void jpeg_optimizer_share(struct jpeg_optimizer *o, const struct symbol_spec *shared,
                          uint64_t shared_most);
/* Adds how often each of WORD_SYMBOLS is in a JPEG that was made here, or by the encoder. *done
 * false: it is none. */
IMREC_NODISCARD enum imrec_status jpeg_optimizer_count(struct jpeg_optimizer *o, struct bytes jpeg,
                                                       const struct stop *stop, uint64_t *count,
                                                       bool *done, struct imrec_error *err);

/* A baseline JPEG of one scan, as libjpeg writes them, into out->p[0..n).
 * *done false: it is not one; out is worthless. */
IMREC_NODISCARD enum imrec_status jpeg_optimize(struct jpeg_optimizer *o, struct bytes plain,
                                                const struct stop *stop, struct buf *out,
                                                bool *done, struct imrec_error *err);
#endif
