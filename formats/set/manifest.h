/* formats/set/manifest.h - the files of a packed set; a set is complete when it has one.
 * docs/formats/manifest.md is the specification. */
#ifndef IMREC_FORMATS_SET_MANIFEST_H
#define IMREC_FORMATS_SET_MANIFEST_H

#include "base/buf.h"
#include "base/bytes.h"
#include "imrec/error.h"

#define MANIFEST_MAX_BYTES  (1u << 28) /* of the text; more is refused before it is parsed */
#define MANIFEST_MAX_SHARDS (1u << 20)

struct manifest_file { /* in the manifest's folder */
    const char *name;  /* one path component; NULL: the set has no such file */
    uint64_t bytes;
    uint32_t crc32c; /* of the whole file */
};

struct manifest_shard {
    struct manifest_file rec, idx, checksums;
    uint64_t records;
};

struct manifest_option { /* of the packer, as text */
    const char *name, *value;
};

struct json_value;
struct manifest {
    const char *packer; /* "imrec 0.1.0" */
    struct manifest_shard *shards;
    size_t shard_count;
    uint64_t records, bytes; /* sums over the shards; bytes: of the .rec files */
    uint64_t skipped;        /* images that could not be packed */
    uint64_t class_count;
    uint32_t label_width;
    struct manifest_file list, classes;
    struct manifest_option *options; /* those that shape bytes, in the packer's order */
    size_t option_count;
    struct json_value *owner; /* of what manifest_read() made; NULL: the caller's own memory */
};

/* Every field is checked: types, ranges, names, sums. `name` is the file's, for messages. On
 * failure *out is zeroed. */
IMREC_NODISCARD enum imrec_status
manifest_read(const char *name, struct bytes text, struct manifest *out, struct imrec_error *err);
/* Appends the text: equal manifests give equal bytes. A manifest that manifest_read() would refuse
 * is IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status
manifest_write(const struct manifest *m, struct buf *out, struct imrec_error *err);
void manifest_free(struct manifest *m); /* what manifest_read() made; zeroed memory is fine */
#endif
