/* imrec/reader_options.h - what is read of a data set, for all readers of records and what is built
 * on them: the card, verifying, merging, converting. The iterator's parameters of these names mean
 * the same. */
#ifndef IMREC_READER_OPTIONS_H
#define IMREC_READER_OPTIONS_H

#include "imrec/iter_params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table; columns as in imrec/iter_params.h. An option that the kind of the files has no use for
 * is IMREC_ERR_ARGUMENT when they are opened. */
/* clang-format off */
#define IMREC_READER_PARTS(X) /* which part of a sample is what */ \
    X(const char *, image,      "",  0, 255,   "SUFFIX,...|FEATURE", "reading", "of tars: the file of a sample that is its image; of TFRecords: the feature; as of the iterator") \
    X(const char *, label,      "",  0, 255,   "SUFFIX|SUFFIX:PATH|FEATURE|none", "reading", "of tars: the file of a sample that has its labels; of TFRecords: the feature; none = there are none")
#define IMREC_READER_FILES(X) /* which files, and what their labels become */ \
    X(int64_t, label_offset,    "0", -(1 << 24), 1 << 24, "classes", "reading", "added to every label") \
    X(const char *, path_root,  "",  0, 65535, "DIR",  "reading", "of lists (.lst): the folder, of any store, that their files are in; nothing = the current one") \
    X(enum imrec_container, container, "auto", 0, 6, "auto|rec|cbf|tar|folder|list|tfrecord", "reading", "of what kind the files are, and which ones of a directory are meant; auto = as names and first bytes tell")
#define IMREC_READER_PARAMS(X) \
    IMREC_READER_PARTS(X) \
    IMREC_READER_FILES(X) \
    X(const char *, mask,       "",  0, 255,   "SUFFIX|FEATURE", "reading", "of tars: the file of a sample that is its mask; of TFRecords: the feature; nothing = the usual one")
/* clang-format on */

/* Fill with imrec_reader_options_init(), then change fields. Text must stay valid during the call
 * that is given the options; NULL is "". Where a function takes a pointer to them, NULL means the
 * defaults. */
struct imrec_reader_options {
    size_t struct_size;
    IMREC_READER_PARAMS(IMREC_FIELD)
};

IMREC_API void imrec_reader_options_init_sized(struct imrec_reader_options *o, size_t size);
static inline void imrec_reader_options_init(struct imrec_reader_options *o)
{
    imrec_reader_options_init_sized(o, sizeof(*o));
}

#ifdef __cplusplus
}
#endif
#endif
