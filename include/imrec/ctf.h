/* imrec/ctf.h - summarizes a file of CNTK's text format (CTF) without a description of it. */
#ifndef IMREC_CTF_H
#define IMREC_CTF_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IMREC_CTF_LOOKED ((uint64_t)16 << 20) /* bytes that are searched for inputs */

/* An input, in the order of first samples; at most 256, with names of up to 255 bytes. */
struct imrec_ctf_input {
    const char *alias;  /* its name in the file */
    bool sparse;        /* the first value has an index */
    bool varies;        /* dense, but samples have different numbers of values: damage */
    uint64_t samples;   /* in the searched bytes */
    uint64_t width;     /* values of the first sample that has any */
    uint64_t max_index; /* sparse: the largest index; dim is larger */
};
struct imrec_ctf_card {
    const struct imrec_ctf_input *input;
    uint32_t inputs;
    uint64_t bytes;     /* of the file */
    uint64_t looked;    /* that were searched for inputs, from the first one */
    uint64_t sequences; /* in the complete file */
    uint64_t samples;   /* lines with contents: samples of the longest input */
    uint64_t longest;   /* samples of the longest sequence */
    uint64_t chunks;    /* of chunk_bytes */
    bool has_ids;       /* the first line has an id, so ids define sequences */
    void *owner;
};

/* Reads the complete text once. chunk_bytes: size of a chunk, 0 = 32 MiB. An id that returns later,
 * or a text without a sequence, is IMREC_ERR_CORRUPT. Free *out with imrec_ctf_card_free(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_ctf_card(const char *uri, bool skip_sequence_ids, uint64_t chunk_bytes,
               struct imrec_ctf_card *out, struct imrec_error *err);
IMREC_API void imrec_ctf_card_free(struct imrec_ctf_card *c); /* zeroed memory is allowed */

#ifdef __cplusplus
}
#endif
#endif
