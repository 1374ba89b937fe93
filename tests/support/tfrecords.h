/* tests/support/tfrecords.h - TFRecord files in memory, record by record. */
#ifndef IMREC_TESTS_TFRECORDS_H
#define IMREC_TESTS_TFRECORDS_H

#include "formats/tfrecord/example_write.h"
#include "formats/tfrecord/tfrecord_frame.h"

#include <check.h>
#include <string.h>

static inline struct bytes text_bytes(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static inline struct example_item bytes_item(const char *name, const char *value)
{
    return (struct example_item){
        .name = text_bytes(name), .type = EXAMPLE_BYTES, .bytes = text_bytes(value)};
}

static inline struct example_item ints_item(const char *name, const int64_t *values, size_t n)
{
    return (struct example_item){
        .name = text_bytes(name), .type = EXAMPLE_INTS, .ints = values, .count = n};
}

/* A record with the Example of n features. */
static inline void tfrecord_put(struct buf *b, const struct example_item *items, size_t n)
{
    struct buf example = BUF_INIT((size_t)1 << 24);
    ck_assert_int_eq(example_write(items, n, &example, NULL), IMREC_OK);
    ck_assert_int_eq(tfrecord_frame((struct bytes){example.p, example.n}, b, NULL), IMREC_OK);
    buf_free(&example);
}

/* An image and its class, under the usual names. */
static inline void tfrecord_image(struct buf *b, const char *image, int64_t label)
{
    const struct example_item items[] = {ints_item("image/class/label", &label, 1),
                                         bytes_item("image/encoded", image)};
    tfrecord_put(b, items, 2);
}
#endif
