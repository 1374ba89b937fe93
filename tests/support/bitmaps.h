/* tests/support/bitmaps.h - images that no encoder has a say in: the same bytes everywhere. */
#ifndef IMREC_TESTS_BITMAPS_H
#define IMREC_TESTS_BITMAPS_H

#include "base/buf.h"

#include <check.h>
#include <string.h>

/* Appends a bitmap of 3 to 22 px, all of one colour. */
static inline void add_bitmap(struct buf *record, uint32_t i)
{
    uint8_t file[54 + 22 * 68] = {'B', 'M'};
    const uint32_t side = 3 + i * 7 % 20, row = (side * 3 + 3) / 4 * 4;
    store_le32(file + 2, 54 + side * row);
    store_le32(file + 10, 54);
    store_le32(file + 14, 40);
    store_le32(file + 18, side);
    store_le32(file + 22, side);
    file[26] = 1;
    file[28] = 24;
    memset(file + 54, (int)(i % 251), (size_t)side * row);
    ck_assert_int_eq(buf_append(record, file, 54 + (size_t)side * row, NULL), IMREC_OK);
}
#endif
