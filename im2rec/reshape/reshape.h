/* im2rec/reshape/reshape.h - what imrec_reshape() and imrec_append() share. */
#ifndef IMREC_IM2REC_RESHAPE_RESHAPE_H
#define IMREC_IM2REC_RESHAPE_RESHAPE_H

#include "base/stop.h"
#include "formats/set/manifest.h"
#include "imrec/reshape.h"

struct reshape_job {
    const char *const *uris;
    size_t count;
    const char *out;
    const struct imrec_reshape_options *o;
    const struct manifest_option *options; /* of the manifest */
    size_t option_count;
    uint64_t skipped;        /* images, for the manifest */
    uint64_t id_base;        /* added to the ids of shards */
    size_t id_base_from;     /* from this one on */
    bool keep_shards;        /* a shard of the result for each of the sources */
    bool replaces;           /* the first source is the set `out` */
    const struct stop *stop; /* ends the copying of records; NULL: nothing does */
    bool new_classes;        /* a later source may have more classes, after those of the first */
    bool warned;             /* of sources without checksums */
};
IMREC_NODISCARD enum imrec_status
reshape_run(const struct reshape_job *j, struct imrec_reshape_result *out, struct imrec_error *err);
#endif
