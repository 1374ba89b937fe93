/* codec/jpeg_errors.h - where libjpeg's errors and warnings go. */
#ifndef IMREC_CODEC_JPEG_ERRORS_H
#define IMREC_CODEC_JPEG_ERRORS_H

#include <stdio.h>

#include <jpeglib.h>

static inline void jpeg_print_nothing(j_common_ptr cinfo)
{
    (void)cinfo;
}

/* For cinfo.err: `exit` leaves libjpeg, `emit` takes warnings, nothing is printed. */
static inline struct jpeg_error_mgr *jpeg_errors_go_to(struct jpeg_error_mgr *errors,
                                                       void (*exit)(j_common_ptr),
                                                       void (*emit)(j_common_ptr, int))
{
    jpeg_std_error(errors);
    errors->error_exit = exit;
    errors->emit_message = emit;
    errors->output_message = jpeg_print_nothing;
    return errors;
}
#endif
