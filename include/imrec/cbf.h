/* imrec/cbf.h - summarizes and checks a file of CNTK's binary format (CBF). */
#ifndef IMREC_CBF_H
#define IMREC_CBF_H

#include "imrec/minibatch.h"
#include "imrec/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct imrec_cbf_stream {
    const char *name;
    bool sparse;
    uint32_t dim;
    enum imrec_precision precision; /* of the values */
};
struct imrec_cbf_card {
    const struct imrec_cbf_stream *stream;
    uint32_t streams;
    uint64_t bytes, chunks, sequences, samples, largest_chunk; /* from the header */
    uint64_t findings, lost; /* if the data were read: errors, and sequences lost by them */
    void *owner;
};
/* Reads the header, and with `data` every chunk, and checks each count and index. A header that
 * cannot be used is IMREC_ERR_CORRUPT; damaged data are reported to finding() (may be NULL) and
 * counted. Free *out with imrec_cbf_card_free(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_cbf_card(const char *uri, bool data, imrec_finding_fn *finding, void *user,
               struct imrec_cbf_card *out, struct imrec_error *err);
IMREC_API void imrec_cbf_card_free(struct imrec_cbf_card *c); /* zeroed memory is allowed */

#ifdef __cplusplus
}
#endif
#endif
