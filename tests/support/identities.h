/* tests/support/identities.h - a set as insightface's script packs it: images under the keys 1 to
 * N, each identity's side by side, then a header of key 0 that names the keys of the identities, N
 * + 1 and on, then the identities, each with the range of its images' keys. */
#ifndef IMREC_TESTS_IDENTITIES_H
#define IMREC_TESTS_IDENTITIES_H

#include "formats/recordio/image_record.h"
#include "formats/recordio/record_index.h"
#include "formats/recordio/recordio.h"
#include "storage/mem.h"
#include "tests/support/bitmaps.h"

#include <stdio.h>

enum { IDENTITIES = 5, IDENTITY_IMAGES = 14 };
static const uint32_t identity_sizes[IDENTITIES] = {3, 1, 4, 2, 4};

struct identity_set {
    struct buf rec, idx;
    bool header_first; /* as in a file that was sorted by key */
    bool two_labels;   /* of an image: class, and whether it is aligned */
    float header[2];   /* else than it should be, where that is not 0, 0 */
    uint64_t odd_key;  /* one record more, behind the images: its key, 0: none */
    float odd[2];
    bool odd_image;
};

/* One record, and its line. NULL for `labels`: the one label `label`. */
static inline void
identity_put(struct identity_set *s, uint64_t key, float label, const float labels[2], bool image)
{
    struct buf record = BUF_INIT(1 << 16);
    ck_assert_int_eq(image_record_head(&record, labels != NULL ? labels : &label,
                                       labels != NULL ? 2 : 1, false, key, 0, NULL),
                     IMREC_OK);
    if (image)
        add_bitmap(&record, (uint32_t)key);
    ck_assert_int_eq(record_index_write(&s->idx, key, s->rec.n, NULL), IMREC_OK);
    ck_assert_int_eq(recordio_frame((struct bytes){record.p, record.n}, &s->rec, NULL), IMREC_OK);
    buf_free(&record);
}

static inline void identity_header(struct identity_set *s)
{
    const float right[2] = {IDENTITY_IMAGES + 1, IDENTITY_IMAGES + 1 + IDENTITIES};
    identity_put(s, 0, 0, s->header[1] != 0 ? s->header : right, false);
}

static inline void identity_make(struct identity_set *s)
{
    s->rec = BUF_INIT(1 << 24);
    s->idx = BUF_INIT(1 << 20);
    if (s->header_first)
        identity_header(s);
    for (uint32_t k = 0, key = 1; k < IDENTITIES; k++)
        for (uint32_t i = 0; i < identity_sizes[k]; i++, key++) {
            const float labels[2] = {(float)k, 1};
            identity_put(s, key, (float)k, s->two_labels ? labels : NULL, true);
        }
    if (s->odd_key != 0)
        identity_put(s, s->odd_key, 0, s->odd, s->odd_image);
    if (!s->header_first)
        identity_header(s);
    for (uint32_t k = 0, key = 1; k < IDENTITIES; key += identity_sizes[k++]) {
        const float range[2] = {(float)key, (float)(key + identity_sizes[k])};
        identity_put(s, IDENTITY_IMAGES + 1 + k, 0, range, false);
    }
}

/* As mem://NAME.rec and, if asked for, mem://NAME.idx. */
static inline void identity_store(const struct identity_set *s, const char *name, bool index)
{
    char file[64];
    snprintf(file, sizeof(file), "%s.rec", name);
    ck_assert_int_eq(mem_put(file, s->rec.p, s->rec.n, NULL), IMREC_OK);
    snprintf(file, sizeof(file), "%s.idx", name);
    if (index)
        ck_assert_int_eq(mem_put(file, s->idx.p, s->idx.n, NULL), IMREC_OK);
}

static inline void identity_free(struct identity_set *s)
{
    buf_free(&s->rec);
    buf_free(&s->idx);
}
#endif
