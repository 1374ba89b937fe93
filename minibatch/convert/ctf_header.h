/* minibatch/convert/ctf_header.h - what the inputs of a text are: the header file of ctf2bin, or a
 * CNTK configuration in its place. */
#ifndef IMREC_MINIBATCH_CONVERT_CTF_HEADER_H
#define IMREC_MINIBATCH_CONVERT_CTF_HEADER_H

#include "formats/sequence_chunk.h"
#include "imrec/convert.h"
#include "imrec/minibatch.h"

struct ctf_header {
    struct stream_info *stream;
    uint32_t streams;
    uint64_t room;
    /* What a configuration says of the reading; nothing of it: zero. */
    bool skip_sequence_ids, ignore_unknown_inputs, frame_mode;
    int64_t max_errors;
    uint8_t *text; /* memory of the names */
    struct imrec_minibatch_config *config;
};

/* Of o: header, precision, precision_of, defines_mb_size, action. A line of a header file:
 * <name> <alias> <dense|sparse> <dim> [float|double], in blanks or tabs. */
IMREC_NODISCARD enum imrec_status ctf_header_load(const struct imrec_convert_options *o,
                                                  struct ctf_header *out, struct imrec_error *err);
void ctf_header_free(struct ctf_header *h); /* zeroed memory is fine */
#endif
