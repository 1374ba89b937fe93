/* imrec/file_kind.h - the kind of a file, by its bytes. */
#ifndef IMREC_FILE_KIND_H
#define IMREC_FILE_KIND_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum imrec_file_kind {
    IMREC_FILE_UNKNOWN,  /* also an empty file, and text of no known kind */
    IMREC_FILE_RECORDIO, /* begins with a record */
    IMREC_FILE_CBF, /* CNTK's binary format, intact or damaged: its magic is at the beginning, or
                       at the header to which the last bytes point, or the name ends in ".cbf" */
    IMREC_FILE_CTF, /* CNTK's text format: the first line is an optional id, then a pipe */
    IMREC_FILE_WEBDATASET, /* a tar archive */
    IMREC_FILE_OTHER,      /* a known kind that no reader here takes: an image, an index, ... */
    IMREC_FILE_TFRECORD,   /* begins with a record of TensorFlow's */
};

/* Sets *out. *words (`words` may be NULL) is static text such as "CNTK text" or "a JPEG image";
 * NULL for IMREC_FILE_UNKNOWN. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_file_kind(const char *uri, enum imrec_file_kind *out, const char **words,
                struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
