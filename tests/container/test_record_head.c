/* tests/container/test_record_head.c - what the first bytes of a record say, without the rest. */
#include "container/record_head.h"
#include "storage/mem.h"
#include "tests/support/suite.h"

#include <string.h>

#define M RECORDIO_MAGIC

static const struct {
    uint32_t magic, length; /* with the part flag */
    uint32_t flag;          /* of the image */
    uint64_t begin, end;    /* of the record in a file of zeros */
    bool read, is_image;
} rows[] = {
    {M, 0, 0, 0, 8, true, false},
    {M, 1, 0, 0, 12, true, false},
    {M, 23, 0, 16, 48, true, false}, /* an image's header has 24 */
    {M, 24, 0, 0, 32, true, true},
    {M, 24, 1, 0, 32, true, false}, /* no room for its label */
    {M, 28, 1, 0, 36, true, true},
    {M, 64, 10, 400, 472, true, true},
    {M, 64, 11, 400, 472, true, false},
    {M, 24, 0, 2, 34, false, false},
    {M, 24, 0, 0, 36, false, false},
    {M, 24, 0, 0, 28, false, false},
    {M, 24 | 1u << 29, 0, 0, 32, false, false}, /* a part of one */
    {M ^ 1, 24, 0, 0, 32, false, false},
    {M, 0, 0, 0, 4, false, false},
    {M, 64, 0, 508, 580, false, false}, /* behind the file's end */
};

LOOP_TEST(a_head_says_whether_a_record_is_an_image, 0, COUNT(rows))
{
    uint8_t file[520] = {0};
    struct record_head head;
    struct shard h = {0};
    store_le32(file + rows[_i].begin, rows[_i].magic);
    store_le32(file + rows[_i].begin + 4, rows[_i].length);
    if (rows[_i].begin + 12 <= sizeof(file))
        store_le32(file + rows[_i].begin + 8, rows[_i].flag);
    ck_assert_int_eq(mem_put("a", file, sizeof(file), NULL), IMREC_OK);
    ck_assert_int_eq(source_open("mem://a", &h.source, NULL), IMREC_OK);
    h.size = sizeof(file);
    ck_assert(record_head_read(&h, rows[_i].begin, rows[_i].end, &head) == rows[_i].read);
    if (rows[_i].read) {
        ck_assert(head.is_image == rows[_i].is_image);
        ck_assert(!head.is_image || head.flag == rows[_i].flag);
    }
    source_close(h.source);
    mem_clear();
}
