/* codec/jpeg_reader.h - libjpeg's decompressor with manners: errors as values, bytes from
 * memory, nothing left over from the image before. */
#ifndef IMREC_CODEC_JPEG_READER_H
#define IMREC_CODEC_JPEG_READER_H

#include "base/stop.h"
#include "codec/jpeg/jpeg_header.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

/* Tables that a decompressor keeps from image to image: an image that lacks one must not
 * see another's. */
struct jpeg_tables {
    JQUANT_TBL *quant[NUM_QUANT_TBLS];
    JHUFF_TBL *dc[NUM_HUFF_TBLS], *ac[NUM_HUFF_TBLS];
    JHUFF_TBL *standard_dc[NUM_HUFF_TBLS], *standard_ac[NUM_HUFF_TBLS]; /* libjpeg's presets */
};

struct jpeg_reader {
    struct jpeg_decompress_struct cinfo; /* client_data is this struct */
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    struct jpeg_tables tables;

    struct bytes image;
    bool accept_truncated;
    uint32_t max_scans;
    const struct stop *stop;
    bool ended;     /* libjpeg asked for more bytes than there are */
    bool truncated; /* pixels are missing for that reason */
    bool many_scans, too_many_scans;
    uint32_t warnings;
};

IMREC_NODISCARD enum imrec_status
jpeg_reader_new(struct jpeg_reader **out, struct imrec_error *err);
void jpeg_reader_free(struct jpeg_reader *r); /* NULL is allowed */

/* Makes `image` the image to read; forgets the one before. */
void jpeg_reader_begin(struct jpeg_reader *r, struct bytes image, const struct jpeg_head *head);

/* Runs body(r, job), in which libjpeg may give up at any call: then the reader is put back to
 * its beginning and the reason returned. What body() needs after that must not be its locals. */
IMREC_NODISCARD enum imrec_status jpeg_reader_run(struct jpeg_reader *r,
                                                  void (*body)(struct jpeg_reader *r, void *job),
                                                  void *job, struct imrec_error *err);

/* To be called by body(): gives up with IMREC_ERR_CORRUPT, unless truncation is accepted. */
void jpeg_reader_truncated(struct jpeg_reader *r);
/* To be called by body() before it reads past the last scan. */
void jpeg_reader_protect_tables(struct jpeg_reader *r);
#endif
