/* imrec/report.h - what long calls report: their progress, and what they find. */
#ifndef IMREC_REPORT_H
#define IMREC_REPORT_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Later versions may append fields. */
struct imrec_progress {
    uint64_t done, total; /* images of a packer, else records; total is 0 while it is not known */
    uint64_t bytes, total_bytes; /* of the input; total_bytes is 0 while it is not known */
    /* Of a packer. */
    uint64_t found;   /* images found so far, while the folder is scanned */
    uint64_t skipped; /* of done */
    uint64_t resumed; /* of done: by earlier runs */
};
/* Progress callback: called often, one call at a time, perhaps from other threads. false ends the
 * call with IMREC_ERR_CANCELLED. May be NULL. */
typedef bool imrec_progress_fn(void *user, const struct imrec_progress *p);

enum imrec_finding_kind {
    IMREC_FOUND_DAMAGE,   /* bytes [begin, end) contain no readable record; text and binary files of
                             CNTK: the data at begin are wrong */
    IMREC_FOUND_CHECKSUM, /* the record at begin differs from what was packed */
    IMREC_FOUND_INDEX,    /* .idx and shard disagree about the record at begin */
    IMREC_FOUND_RECORD,   /* the record at begin has no well-formed image record header */
    IMREC_FOUND_IMAGE,    /* the image at begin does not decode */
    IMREC_FOUND_SET,      /* manifest, checksums or shards do not belong together */
    IMREC_FOUND_FILE,     /* the file of a folder or list whose image is at begin is empty, or it
                             cannot be read */
    IMREC_FOUND_KINDS,    /* the number of kinds */
};
IMREC_API const char *imrec_finding_name(enum imrec_finding_kind kind); /* "damage", ... */

/* Later versions may append fields. */
struct imrec_finding {
    enum imrec_finding_kind kind;
    const char *uri; /* of the shard or file */
    uint32_t shard;
    uint64_t begin, end; /* bytes of the shard; both 0 if the finding has no place */
    uint64_t id;         /* of the image, if it could be read */
    const char *reason;  /* one sentence */
    uint64_t lost;       /* sequences that a binary file of CNTK loses by it */
};
/* One call at a time; the finding is valid during the call. May be NULL. */
typedef void imrec_finding_fn(void *user, const struct imrec_finding *f);

#ifdef __cplusplus
}
#endif
#endif
