/* im2rec/ctf_header.h - the header file of ctf2bin: what the inputs of a text are. */
#ifndef IMREC_IM2REC_CTF_HEADER_H
#define IMREC_IM2REC_CTF_HEADER_H

#include "formats/sequence_chunk.h"
#include "imrec/convert.h"

struct ctf_header {
    struct stream_info *stream;
    uint32_t streams;
    uint8_t *text; /* memory of the names */
};

/* Of o: header, precision, precision_of, defines_mb_size. A line of a header file:
 * <name> <alias> <dense|sparse> <dim> [float|double], in blanks or tabs. */
IMREC_NODISCARD enum imrec_status ctf_header_load(const struct imrec_convert_options *o,
                                                  struct ctf_header *out, struct imrec_error *err);
void ctf_header_free(struct ctf_header *h); /* zeroed memory is fine */
#endif
