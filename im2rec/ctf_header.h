/* im2rec/ctf_header.h - the header file of ctf2bin: what the inputs of a text are. */
#ifndef IMREC_IM2REC_CTF_HEADER_H
#define IMREC_IM2REC_CTF_HEADER_H

#include "formats/sequence_chunk.h"
#include "imrec/error.h"

struct ctf_header {
    struct stream_info *stream;
    uint32_t streams;
    uint8_t *text; /* memory of the names */
};

/* `name` stands in messages. A line: <name> <alias> <dense|sparse> <dim>, in blanks or tabs. */
IMREC_NODISCARD enum imrec_status ctf_header_load(const char *name, enum stream_element element,
                                                  const char *defines_mb_size,
                                                  struct ctf_header *out, struct imrec_error *err);
void ctf_header_free(struct ctf_header *h); /* zeroed memory is fine */
#endif
