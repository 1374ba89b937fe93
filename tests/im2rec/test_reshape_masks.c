/* Sets into sets keep what stands behind a record's image. */
#include "imrec/imrec.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <string.h>

enum { RECORDS = 3 };
static const char image[] = "an image that nobody decodes", mask[] = "a mask";

static void write_set(const char *rec)
{
    struct imrec_writer *w;
    const float labels[2] = {1, 2};
    ck_assert_int_eq(imrec_writer_open(rec, NULL, true, &w, NULL), IMREC_OK);
    for (uint32_t i = 0; i < RECORDS; i++)
        ck_assert_int_eq(imrec_writer_append_masked(w, i, labels, 2, 10 + i, image, sizeof(image),
                                                    mask, sizeof(mask) - i, NULL),
                         IMREC_OK);
    ck_assert_int_eq(imrec_writer_commit(w, NULL), IMREC_OK);
}

START_TEST(masks_stay_behind_their_images) /* _i: as they are, renumbered, relabelled */
{
    struct tmpdir dir = tmpdir_make();
    char from[2048], to[2048], list[2048];
    static const char lines[] = "10\t7\ta\n11\t8\tb\n12\t9\t9\tc\n";
    struct imrec_reshape_options o;
    struct imrec_reshape_result result;
    struct imrec_error err;
    struct imrec_reader *reader;
    struct imrec_record r;
    snprintf(from, sizeof(from), "%s", tmp_path(&dir, "from.rec"));
    snprintf(to, sizeof(to), "%s", tmp_path(&dir, "to.rec"));
    snprintf(list, sizeof(list), "%s",
             tmp_write(&dir, "new.lst", (const uint8_t *)lines, sizeof(lines) - 1));
    write_set(from);
    imrec_reshape_options_init(&o);
    o.renumber = _i == 1;
    o.labels = _i == 2 ? list : NULL;
    const char *uris[] = {from};
    ck_assert_msg(imrec_reshape(uris, 1, to, "test", &o, &result, &err) == IMREC_OK, "%s",
                  err.message);
    ck_assert_int_eq(imrec_reader_open(to, 0, 1, &reader, NULL), IMREC_OK);
    for (uint32_t i = 0; i < RECORDS; i++) {
        ck_assert_int_eq(imrec_reader_next(reader, &r, NULL), IMREC_OK);
        ck_assert_uint_eq(r.id, _i == 1 ? i : 10 + i);
        ck_assert_uint_eq(r.label_count, _i == 2 && i < 2 ? 1 : 2);
        ck_assert_uint_eq(r.image_size, sizeof(image));
        ck_assert_uint_eq(r.mask_size, sizeof(mask) - i);
        ck_assert_mem_eq(r.mask, mask, r.mask_size);
    }
    imrec_reader_close(reader);
    tmpdir_remove(&dir);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reshape_masks");
    TCase *t = tcase_create("masks");
    tcase_add_loop_test(t, masks_stay_behind_their_images, 0, 3);
    suite_add_tcase(s, t);
    return suite_run(s);
}
