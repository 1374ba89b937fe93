/* tests/unit/test_minibatch_sizes.c - how large minibatches are in which epoch. */
#include "minibatch/plan/minibatch_sizes.h"
#include "tests/support/suite.h"

#include <string.h>

static const struct {
    const char *text;
    uint64_t size[6]; /* of the first epochs; the last one holds for ever */
} good[] = {
    {"256", {256, 256, 256, 256, 256, 256}},
    {"128*2+1024", {128, 128, 1024, 1024, 1024, 1024}},
    {" 128*2 + 1024 ", {128, 128, 1024, 1024, 1024, 1024}},
    {"128*2:1024", {128, 128, 1024, 1024, 1024, 1024}},
    {"[128]*2+[1024]", {128, 128, 1024, 1024, 1024, 1024}},
    {"[128, 1024]*2 + 7", {128, 1024, 128, 1024, 7, 7}},
    {"[(2,128),(1,1024)]", {128, 128, 1024, 1024, 1024, 1024}},
    {"(2,128), (1,1024)", {128, 128, 1024, 1024, 1024, 1024}},
    {"1:2:3", {1, 2, 3, 3, 3, 3}},
    {"2147483647", {2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647}},
};

START_TEST(every_spelling_means_the_same) /* loop */
{
    struct minibatch_sizes s;
    struct imrec_error err;
    ck_assert_msg(minibatch_sizes_parse(good[_i].text, &s, &err) == IMREC_OK, "%s", err.message);
    for (uint64_t epoch = 0; epoch < 6; epoch++)
        ck_assert_uint_eq(minibatch_size(&s, epoch), good[_i].size[epoch]);
    ck_assert_uint_eq(minibatch_size(&s, UINT64_MAX), good[_i].size[5]);
}
END_TEST

static const char *const bad[] = {"",     "0",     "-1",  "128*",  "128*0",     "128**2",
                                  "1.5",  "128 2", "1+",  "[1",    "[1]]",      "(1)",
                                  "(1,2", "[[1]]", "1;2", "(0,3)", "2147483648"};

START_TEST(what_is_no_schedule_is_refused_and_shown) /* loop */
{
    struct minibatch_sizes s;
    struct imrec_error err;
    ck_assert_int_eq(minibatch_sizes_parse(bad[_i], &s, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "expected at character"));
}
END_TEST

START_TEST(a_list_cannot_grow_without_bound)
{
    struct minibatch_sizes s;
    ck_assert_int_eq(minibatch_sizes_parse("[1,2]*128", &s, NULL), IMREC_OK);
    ck_assert_int_eq(minibatch_sizes_parse("[1,2]*129", &s, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(minibatch_sizes_parse("[1,2]*2147483647", &s, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(minibatch_sizes_parse("[1]*2147483647", &s, NULL), IMREC_OK);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("minibatch_sizes");
    TCase *tc = tcase_create("core");
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, every_spelling_means_the_same, 0, sizeof(good) / sizeof(good[0]));
    tcase_add_loop_test(tc, what_is_no_schedule_is_refused_and_shown, 0,
                        sizeof(bad) / sizeof(bad[0]));
    tcase_add_test(tc, a_list_cannot_grow_without_bound);
    return suite_run(s);
}
