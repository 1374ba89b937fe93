/* tests/support/cbf_support.h - CBF files in memory for tests: reading a whole one, writing one. */
#ifndef IMREC_TESTS_CBF_SUPPORT_H
#define IMREC_TESTS_CBF_SUPPORT_H

#include "base/buf.h"
#include "base/error.h"
#include "formats/cbf/cbf_chunk.h"
#include "formats/cbf/cbf_writer.h"

/* The header of a whole file in memory, by the steps that cbf_header.h tells. */
static inline enum imrec_status
cbf_open(struct bytes file, struct cbf_header *h, struct imrec_error *err)
{
    static const uint8_t none[CBF_TAIL_BYTES];
    uint64_t offset = 0;
    const struct bytes prefix = {file.p, file.n < CBF_PREFIX_BYTES ? file.n : CBF_PREFIX_BYTES};
    *h = (struct cbf_header){0};
    IMREC_TRY(cbf_check_prefix(prefix, err));
    IMREC_TRY(cbf_header_offset(file.n < CBF_TAIL_BYTES ? none : file.p + file.n - CBF_TAIL_BYTES,
                                file.n, &offset, err));
    return cbf_header_parse((struct bytes){file.p + offset, file.n - (size_t)offset}, offset, h,
                            err);
}

/* Bytes of chunk i of a whole file in memory. */
static inline struct bytes
cbf_chunk_bytes(struct bytes file, const struct cbf_header *h, uint32_t i)
{
    return (struct bytes){file.p + h->chunk[i].offset, (size_t)h->chunk[i].bytes};
}

/* A cbf_emit_fn into a struct buf. */
static inline enum imrec_status
cbf_to_buf(void *user, const void *p, size_t n, struct imrec_error *err)
{
    return buf_append(user, p, n, err);
}
#endif
