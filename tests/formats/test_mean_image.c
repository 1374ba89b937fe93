/* tests/formats/test_mean_image.c - the layouts of mean image files, and every field that can lie.
 */
#include "base/alloc.h"
#include "formats/set/mean_image.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

static const float values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -0.5f};
enum { FILE_BYTES = 72 + sizeof(values) + 8 + 8 + 8, NAMES_AT = 72 + sizeof(values) };

static struct buf make_file(void)
{
    struct buf out = BUF_INIT(1 << 12);
    ck_assert_int_eq(mean_image_write(&out, values, 3, 2, 2, NULL), IMREC_OK);
    ck_assert_uint_eq(out.n, FILE_BYTES);
    return out;
}

static void check(const uint8_t *p, size_t n)
{
    struct mean_image m;
    float got[13] = {[12] = 77};
    ck_assert_int_eq(mean_image_read("m", (struct bytes){p, n}, &m, NULL), IMREC_OK);
    ck_assert(m.channels == 3 && m.height == 2 && m.width == 2);
    mean_image_values(&m, got);
    ck_assert_mem_eq(got, values, sizeof(values));
    ck_assert(got[12] == 77);
}

LOOP_TEST(what_is_written_reads_back_at_any_address, 0, 8) /* _i: shifted by _i */
{
    struct buf file = make_file();
    uint8_t shifted[FILE_BYTES + 8];
    memcpy(shifted + _i, file.p, file.n);
    check(shifted + _i, file.n);
    buf_free(&file);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

TEST(older_layouts_of_the_shape_are_read)
{
    struct buf file = make_file();
    uint8_t old[FILE_BYTES];
    memcpy(old, file.p, file.n);
    store_le32(old + 24, 0xf993fac8u); /* without the storage type */
    memmove(old + 28, old + 32, file.n - 32);
    check(old, file.n - 4);
    memcpy(old, file.p, file.n);
    store_le32(old + 24, 3); /* number of dimensions, then 32 bits each */
    for (int i = 0; i < 3; i++)
        store_le32(old + 28 + 4 * i, (uint32_t)load_le64(file.p + 36 + 8 * i));
    memmove(old + 40, old + 60, file.n - 60);
    check(old, file.n - 20);
    buf_free(&file);
}

TEST(a_file_without_a_name_is_read)
{
    struct buf file = make_file();
    store_le64(file.p + NAMES_AT, 0);
    check(file.p, NAMES_AT + 8);
    buf_free(&file);
}

static const struct {
    size_t at, bytes;
    uint64_t value;
    const char *says;
} lies[] = {
    {0, 8, 0x113, "magic"},
    {8, 8, 1, "reserved"},
    {16, 8, 2, "number of arrays"},
    {16, 8, 1ull << 32 | 1, "number of arrays"},
    {24, 4, 0xf993facau, "array's magic"},
    {28, 4, 1, "storage type"},
    {32, 4, 4, "number of dimensions"},
    {36, 8, 5, "number of channels"},
    {36, 8, 0, "number of channels"},
    {44, 8, 65536, "height"},
    {52, 8, 1ull << 63, "width"},
    {52, 8, 65535, "ends after"},
    {60, 4, 0, "device type"},
    {60, 4, 6, "device type"},
    {68, 4, 1, "type of values"},
    {76, 4, 0x7fc00000, "finite"},
    {116, 4, 0xff800000, "finite"},
    {NAMES_AT, 8, 2, "number of names"},
    {NAMES_AT + 8, 8, UINT64_MAX, "length of the name"},
    {NAMES_AT + 8, 8, 9, "ends after"},
    {NAMES_AT + 8, 8, 7, "after the end"},
};

LOOP_TEST(every_field_that_lies_is_named, 0, COUNT(lies))
{
    struct buf file = make_file();
    struct mean_image m;
    struct imrec_error err = {0};
    uint8_t raw[8];
    store_le64(raw, lies[_i].value);
    memcpy(file.p + lies[_i].at, raw, lies[_i].bytes);
    ck_assert_int_eq(mean_image_read("m.bin", (struct bytes){file.p, file.n}, &m, &err),
                     IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, lies[_i].says) != NULL, "%s", err.message);
    ck_assert_msg(strncmp(err.message, "m.bin: ", 7) == 0, "%s", err.message);
    ck_assert_uint_ge(err.offset, lies[_i].at > 72 ? 72 : lies[_i].at);
    buf_free(&file);
}

LOOP_TEST(every_truncation_is_refused, 0, FILE_BYTES) /* _i bytes */
{
    struct buf file = make_file();
    struct guarded g = guarded_copy(file.p, (size_t)_i);
    struct mean_image m;
    ck_assert_int_eq(mean_image_read("m", (struct bytes){g.p, (size_t)_i}, &m, NULL),
                     IMREC_ERR_CORRUPT);
    guarded_free(g);
    buf_free(&file);
}

LOOP_TEST(the_greatest_sizes_are_written_and_read, 0, 2) /* _i: which of the sides is long */
{
    static float zeros[4 * MEAN_IMAGE_MAX_SIDE];
    const uint32_t h = _i == 0 ? MEAN_IMAGE_MAX_SIDE : 1, w = _i == 1 ? MEAN_IMAGE_MAX_SIDE : 1;
    struct buf out = BUF_INIT(1 << 22);
    struct mean_image m;
    ck_assert_int_eq(mean_image_write(&out, zeros, 4, h, w, NULL), IMREC_OK);
    store_le32(out.p + 60, 5); /* the last of the device types */
    ck_assert_int_eq(mean_image_read("m", (struct bytes){out.p, out.n}, &m, NULL), IMREC_OK);
    ck_assert(m.channels == 4 && m.height == h && m.width == w);
    buf_free(&out);
}

TEST(what_no_mean_image_has_is_not_written)
{
    struct buf out = BUF_INIT(1 << 12);
    ck_assert_int_eq(mean_image_write(&out, values, 5, 1, 1, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(mean_image_write(&out, values, 3, 0, 1, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(mean_image_write(&out, values, 3, 1, 65536, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(mean_image_write(&out, values, 3, 65536, 1, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(mean_image_write(&out, values, 3, 1, 0, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(mean_image_write(&out, values, 0, 1, 1, NULL), IMREC_ERR_ARGUMENT);
    const float odd[] = {1, __builtin_inff()};
    ck_assert_int_eq(mean_image_write(&out, odd, 1, 1, 2, NULL), IMREC_ERR_ARGUMENT);
    out.max = 80;
    ck_assert_int_eq(mean_image_write(&out, values, 3, 2, 2, NULL), IMREC_ERR_LIMIT);
    ck_assert_uint_eq(out.n, 0);
    buf_free(&out);
}
