/* codec/jpeg_writer.h - libjpeg's compressor with manners: errors as values, bytes into memory,
 * optimal tables without a pass of libjpeg's own. */
#ifndef IMREC_CODEC_JPEG_WRITER_H
#define IMREC_CODEC_JPEG_WRITER_H

#include "codec/format.h"
#include "codec/jpeg/recode/jpeg_optimize.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

struct jpeg_writer {
    struct jpeg_compress_struct cinfo; /* client_data is this struct */
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    struct buf *out;
    void (*body)(struct jpeg_writer *w); /* what is written, by the members below */
    struct jpeg_decompress_struct *from; /* of coefficients that are written again */
    jvirt_barray_ptr *coefficients;
    bool tile;      /* restart markers */
    size_t most;    /* bytes: an image of more is given up */
    bool optimize;  /* by libjpeg */
    bool no_memory; /* for *out */
    const struct stop *stop;
    struct jpeg_optimizer *optimizer;
    struct buf plain; /* with standard tables */
};

/* The codec's own, made when first needed. */
IMREC_NODISCARD enum imrec_status
jpeg_writer_of(struct codec *c, struct jpeg_writer **out, struct imrec_error *err);
/* What w->body writes, with optimal tables, into c->encoded. It may be called twice. */
IMREC_NODISCARD enum imrec_status
jpeg_writer_run(struct jpeg_writer *w, struct codec *c, struct imrec_error *err);
void jpeg_writer_abort(struct jpeg_writer *w); /* after somebody else's longjmp out of a run */
#endif
