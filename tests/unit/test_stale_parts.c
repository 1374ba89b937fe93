/* tests/unit/test_stale_parts.c - force removes what an interrupted run of the same set left. */
#include "im2rec/stale_parts.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <string.h>
#include <unistd.h>

static const char *const gone[] = {"a.rec.part", "a-00000-of-00003.rec.part",
                                   "a-00002-of-00003.idx.part", "a-00011-of-123456.crc.part",
                                   "a-00000-of-00002.cbf.part"};
static const char *const kept[] = {"a.rec",
                                   "a-00000-of-00003.rec",
                                   "a.lst.part",
                                   "a.journal.part",
                                   "b.rec.part",
                                   "aa-00000-of-00003.rec.part",
                                   "a-0-of-3.rec.part",
                                   "a-00000-of-00003.rec.partial",
                                   ".rec.part",
                                   "a-00000-of-00003-00000-of-00003.rec.part"};

START_TEST(parts_of_the_set_go_and_everything_else_stays)
{
    struct tmpdir dir = tmpdir_make();
    char uri[2][600];
    snprintf(uri[0], sizeof(uri[0]), "%s", tmp_path(&dir, "a.rec"));
    snprintf(uri[1], sizeof(uri[1]), "file://%s", tmp_path(&dir, "a.rec"));
    for (int u = 0; u < 2; u++) {
        for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
            tmp_write(&dir, gone[i], "x", 1);
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
            tmp_write(&dir, kept[i], "x", 1);
        ck_assert_int_eq(stale_parts_remove(uri[u], NULL), IMREC_OK);
        for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
            ck_assert_msg(tmp_size(tmp_path(&dir, gone[i])) == -1, "%s", gone[i]);
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
            ck_assert_msg(tmp_size(tmp_path(&dir, kept[i])) == 1, "%s", kept[i]);
    }
    ck_assert_int_eq(stale_parts_remove("mem://a.rec", NULL), IMREC_OK);
    ck_assert_int_eq(stale_parts_remove("/no/such/folder/a.rec", NULL), IMREC_OK);
    tmpdir_remove(&dir);
}
END_TEST

START_TEST(a_name_without_folder_means_this_one)
{
    struct tmpdir dir = tmpdir_make();
    tmp_write(&dir, "a-00000-of-00003.rec.part", "x", 1);
    ck_assert_int_eq(chdir(tmp_path(&dir, ".")), 0);
    ck_assert_int_eq(stale_parts_remove("a.rec", NULL), IMREC_OK);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "a-00000-of-00003.rec.part")), -1);
    ck_assert_int_eq(chdir("/"), 0);
    tmpdir_remove(&dir);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stale_parts");
    TCase *tc = tcase_create("core");
    suite_add_tcase(s, tc);
    tcase_add_test(tc, parts_of_the_set_go_and_everything_else_stays);
    tcase_add_test(tc, a_name_without_folder_means_this_one);
    return suite_run(s);
}
