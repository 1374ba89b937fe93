/* tests/support/record_reads.h - what the next record of a reader must be. */
#ifndef IMREC_TESTS_RECORD_READS_H
#define IMREC_TESTS_RECORD_READS_H

#include "imrec/records.h"

#include <check.h>
#include <string.h>

/* An image of these bytes, with one label. */
static inline void expect(struct imrec_reader *r, uint64_t id, const char *image, float label)
{
    struct imrec_record x;
    struct imrec_error err = {0};
    ck_assert_msg(imrec_reader_next(r, &x, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(x.id, id);
    ck_assert(x.is_image && x.image_size == strlen(image));
    ck_assert_mem_eq(x.image, image, x.image_size);
    ck_assert(x.label_count == 1 && x.labels[0] == label);
}

/* Damage, whose reason has these words. */
static inline void expect_lost(struct imrec_reader *r, const char *words)
{
    struct imrec_record x;
    struct imrec_error err = {0};
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
}

/* Nothing more; the reader is closed. */
static inline void expect_end(struct imrec_reader *r)
{
    struct imrec_record x;
    ck_assert_int_eq(imrec_reader_next(r, &x, NULL), IMREC_END);
    imrec_reader_close(r);
}
#endif
