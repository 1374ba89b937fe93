/* CPython's generator: numbers made with random.Random of Python 3. */
#include "im2rec/list/python_random.h"
#include "tests/support/suite.h"

#include <check.h>

static const struct {
    uint64_t seed;
    uint32_t words[3], last; /* the first three, and the 2000th */
} known[] = {
    {0u, {3626764237u, 1654615998u, 3255389356u}, 3908016617u},
    {100u, {625644691u, 1973661107u, 1953896601u}, 3321196663u},
    {4294967295u, {2728839433u, 2661025012u, 872737089u}, 2640887251u},
    {1099511627781u, {2166296868u, 2220160828u, 1153647273u}, 110103354u},
    {9223372036854775807u, {1359979423u, 2819855560u, 2711238091u}, 640895611u},
};

START_TEST(words_are_those_of_python)
{
    struct python_random r;
    uint32_t word = 0;
    python_random_seed(&r, known[_i].seed);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(python_random_bits(&r, 32), known[_i].words[i]);
    for (int i = 3; i < 2000; i++)
        word = python_random_bits(&r, 32);
    ck_assert_uint_eq(word, known[_i].last);
}
END_TEST

START_TEST(numbers_below_n_are_those_of_randrange)
{
    static const uint32_t n[] = {1, 2, 3, 4, 10, 1000, 1u << 31, UINT32_MAX};
    static const uint32_t want[] = {0u, 1u, 1u, 1u, 6u, 749u, 1502108412u, 1861930331u};
    struct python_random r;
    python_random_seed(&r, 100);
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(python_random_below(&r, n[i]), want[i]);
}
END_TEST

START_TEST(a_shuffle_of_a_thousand_is_python_s)
{
    static const uint16_t want[8] = {878, 857, 349, 313, 382, 850, 927, 194};
    uint16_t x[1000];
    struct python_random r;
    for (uint16_t i = 0; i < 1000; i++)
        x[i] = i;
    python_random_seed(&r, 7);
    for (uint32_t i = 1000; i > 1; i--) {
        const uint32_t k = python_random_below(&r, i);
        const uint16_t keep = x[i - 1];
        x[i - 1] = x[k];
        x[k] = keep;
    }
    ck_assert_mem_eq(x, want, sizeof(want));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("python random");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, words_are_those_of_python, 0, sizeof(known) / sizeof(known[0]));
    tcase_add_test(t, numbers_below_n_are_those_of_randrange);
    tcase_add_test(t, a_shuffle_of_a_thousand_is_python_s);
    suite_add_tcase(s, t);
    return suite_run(s);
}
