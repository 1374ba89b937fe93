/* imrec/records.h - records one by one: reading shards in file order, writing a shard.
 *
 * Images in CBF files (docs/formats/cbf.md) are read as records are: `data` is the image;
 * one that is stored decoded comes as a BMP file, where its values are pixels of a square; one
 * that cannot be read is a damaged range; seeking goes to the first image from `offset` on. */
#ifndef IMREC_RECORDS_H
#define IMREC_RECORDS_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a record is besides a sample: in files of insightface's script a header names the range of
 * the identities' keys, and each identity the range of its images' (docs/formats/image_record.md).
 */
enum imrec_metadata { IMREC_NO_METADATA, IMREC_HEADER, IMREC_IDENTITY };

/* One record. Pointers live until the next call on the reader. */
struct imrec_record {
    const void *data; /* the record's bytes, parts rejoined */
    size_t size;
    const char *uri; /* of the shard */
    uint32_t shard;  /* its number in the expanded list */
    uint64_t offset; /* of the record's head in the shard */
    bool is_image;   /* the fields below hold what the image record header says */
    uint64_t id, id2;
    const float *labels;
    uint32_t label_count;
    const void *image;
    size_t image_size;
    const void *mask; /* behind the image (imrec/segmentation.h); NULL: there is none, or its
                         trailer is wrong, and belongs to the image's bytes then */
    size_t mask_size;
    enum imrec_metadata metadata; /* not IMREC_NO_METADATA: no sample, without an image; its two
                                     labels are the range [first, end) of the keys that it names */
};

struct imrec_reader; /* opaque; one thread at a time */

/* Opens the partition part_index of num_parts of `uri` (as path_imgrec of the iterator). A file of
 * another kind, a set without any record, and shards that are missing are errors, as there. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_open(const char *uri, uint64_t part_index, uint64_t num_parts,
                  struct imrec_reader **out, struct imrec_error *err);
/* The same for files as they are: an empty one has no records, and nobody asks whether all shards
 * of a set are there. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_open_files(const char *uri, uint64_t part_index, uint64_t num_parts,
                        struct imrec_reader **out, struct imrec_error *err);

/* The next record in file order, metadata as well. IMREC_END at the end. IMREC_ERR_DATA: a damaged
 * range was skipped; *err says which (shard, first and last byte, reason) and the next call goes on
 * with the record after it. Other errors end the reading. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_next(struct imrec_reader *r, struct imrec_record *out, struct imrec_error *err);
/* The range behind the last IMREC_ERR_DATA: bytes [*begin, *end) of shard *shard. */
IMREC_API void
imrec_reader_damage(const struct imrec_reader *r, uint32_t *shard, uint64_t *begin, uint64_t *end);
/* Goes to the record whose head is at `offset` of shard `shard`. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_seek(struct imrec_reader *r, uint32_t shard, uint64_t offset, struct imrec_error *err);

/* How many samples there are, in the whole data set (num_parts = 1): out of the index beside every
 * shard, else by reading all heads, once. Metadata has no number. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_count(struct imrec_reader *r, uint64_t *count, struct imrec_error *err);
/* Sample `number`, from 0 in file order, and nothing else, is read. IMREC_ERR_CORRUPT: it is not
 * readable, or the index is wrong about it. imrec_reader_next() then begins anew with its shard. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_get(struct imrec_reader *r, uint64_t number, struct imrec_record *out,
                 struct imrec_error *err);
/* Likewise, but without the image: `data`, `image` and `mask` are NULL, their sizes 0. Of a
 * record in one part only the head is read, so that the labels of a large data set take seconds.
 * Where the head is not what the index promises the whole record is read, as by imrec_reader_get().
 */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_head(struct imrec_reader *r, uint64_t number, struct imrec_record *out,
                  struct imrec_error *err);
/* Likewise the record at bytes [begin, end) of shard `shard`, as an index says: `end` is where a
 * later record begins, or anything behind the shard. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_at(struct imrec_reader *r, uint32_t shard, uint64_t begin, uint64_t end,
                struct imrec_record *out, struct imrec_error *err);
IMREC_API void imrec_reader_close(struct imrec_reader *r);

struct imrec_writer; /* opaque; one thread at a time */

/* Writes `path` and, unless idx_path is NULL, its index. Nothing stands under these names
 * before imrec_writer_commit(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_writer_open(const char *path, const char *idx_path, bool force, struct imrec_writer **out,
                  struct imrec_error *err);
/* Appends raw bytes as one record under the index key `key`. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_writer_append(struct imrec_writer *w,
                                                                uint64_t key, const void *bytes,
                                                                size_t n, struct imrec_error *err);
/* Appends an image record. label_count 1 stores the label in the header (flag 0). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_writer_append_image(struct imrec_writer *w, uint64_t key, const float *labels,
                          uint32_t label_count, uint64_t id, const void *image, size_t n,
                          struct imrec_error *err);
/* The same with a mask, a PNG of the image's size as it is stored (imrec/segmentation.h). Neither
 * is looked at. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_writer_append_masked(struct imrec_writer *w, uint64_t key, const float *labels,
                           uint32_t label_count, uint64_t id, const void *image, size_t n,
                           const void *mask, size_t mask_bytes, struct imrec_error *err);
/* Bytes of the shard so far: where the next record's head will be. */
IMREC_API uint64_t imrec_writer_size(const struct imrec_writer *w);
/* Makes the files real, or, on failure, removes them. The writer is gone either way. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_writer_commit(struct imrec_writer *w, struct imrec_error *err);
IMREC_API void imrec_writer_abort(struct imrec_writer *w); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
