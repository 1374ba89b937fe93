/* tests/formats/test_ctf_number.c - numbers out of text against strtof and strtod, to the last
 * bit. */
#include "base/rng.h"
#include "formats/ctf/ctf_number.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t draw(uint64_t i, uint32_t k)
{
    return rng_block((struct rng_key){17, 4}, i, k, 0, RNG_AUGMENT).v[0];
}

/* Where the C library and we must agree to the bit, or both say "too large". */
static void check(const char *text)
{
    char padded[4096];
    struct ctf_number n;
    float f = 42;
    double d = 42;
    snprintf(padded, sizeof(padded), "%s\n", text);
    const uint8_t *p = (const uint8_t *)padded, *end = ctf_number_scan(p, &n);
    ck_assert_msg(end == p + strlen(text), "%s", text);
    const float wf = strtof(text, NULL);
    const double wd = strtod(text, NULL);
    const enum ctf_rounding rf = ctf_number_float(&n, p, end, &f);
    const enum ctf_rounding rd = ctf_number_double(&n, p, end, &d);
    ck_assert_msg(rf == (isinf(wf) ? CTF_TOO_LARGE : CTF_ROUNDED), "%s", text);
    ck_assert_msg(rd == (isinf(wd) ? CTF_TOO_LARGE : CTF_ROUNDED), "%s", text);
    ck_assert_msg(isinf(wf) || memcmp(&f, &wf, sizeof(f)) == 0, "%s: %a, not %a", text, f, wf);
    ck_assert_msg(isinf(wd) || memcmp(&d, &wd, sizeof(d)) == 0, "%s: %a, not %a", text, d, wd);
}

START_TEST(random_numbers_of_every_spelling_are_rounded_as_by_the_c_library)
{
    static const char *const forms[] = {"%.6f", "%.9g", "%.17g", "%.6e", "%.0f", "%.1f", "%.12e"};
    char text[512];
    for (uint64_t i = 0; i < 300000; i++) {
        const uint64_t bits = draw(i, 0);
        double v;
        float f;
        const uint32_t low = (uint32_t)(bits >> 7);
        memcpy(&f, &low, sizeof(f));
        memcpy(&v, &bits, sizeof(v));
        v = i % 3 == 0 ? v : i % 3 == 1 ? (double)f : (double)(int64_t)bits / 1e15;
        if (!isfinite(v))
            continue;
        snprintf(text, sizeof(text), forms[i % 7], v);
        check(text);
    }
}
END_TEST

/* The middle of two floats (or doubles), written out, and a little above and below it. */
static void check_around(double middle)
{
    char text[1200], more[4096];
    snprintf(text, sizeof(text), "%.760f", middle);
    check(text);
    snprintf(more, sizeof(more), "%s1", text);
    check(more);
    snprintf(more, sizeof(more), "%s%0200d1", text, 0);
    check(more);
    for (size_t n = strlen(text); n-- > 0;)
        if (text[n] > '0' && text[n] <= '9') {
            text[n]--;
            break;
        }
    check(text);
}

START_TEST(middles_of_two_floats_and_their_neighbours)
{
    for (uint64_t i = 0; i < 3000; i++) {
        float a;
        const uint32_t bits = (uint32_t)draw(i, 1) & 0x7fffffff;
        memcpy(&a, &bits, sizeof(a));
        if (!isfinite(a) || a > 1e30f)
            continue;
        check_around(((double)a + (double)nextafterf(a, INFINITY)) / 2);
    }
}
END_TEST

START_TEST(hard_and_odd_cases)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+0",
                                        "00",
                                        "0.0",
                                        "0e9999",
                                        "-0e-9999",
                                        ".5",
                                        "2.",
                                        "2.E2",
                                        "1e5",
                                        "1E+5",
                                        "16777217",
                                        "16777219",
                                        "33554433.0",
                                        "9007199254740993",
                                        "9007199254740993e0",
                                        "9007199254740992.99999999999999999999999",
                                        "123456789012345678901234567890",
                                        "0.000000000000000000000000000000000000000000001",
                                        "3.4028235e38",
                                        "3.4028235677973366e38",
                                        "3.4028235677973367e38",
                                        "340282356779733661637539395458142568447.9",
                                        "1e39",
                                        "-1e39",
                                        "1e400",
                                        "1e-46",
                                        "7.006492321624085e-46",
                                        "7.0064923216240854e-46",
                                        "1e-320",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1.7976931348623157e308",
                                        "1.7976931348623159e308",
                                        "2.2250738585072011e-308",
                                        "1.1754943508222875e-38",
                                        "1.17549429e-38",
                                        "8.589973e9",
                                        "8589973504.5",
                                        "1e99999999999999999999",
                                        "1e-99999999999999999999",
                                        "0.1e1",
                                        "100000000000000000000000e-23",
                                        "1e22",
                                        "1e23",
                                        "9007199254740991e22",
                                        "1.00000017881393432617187499",
                                        "1.00000017881393432617187500",
                                        "1.00000017881393432617187501"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check(texts[i]);
    char text[3000] = "0.";
    for (int i = 2; i < 2500; i++)
        text[i] = (char)('0' + i % 10);
    check(text); /* fraction digits */
    memset(text, '7', 320);
    text[320] = '\0';
    check(text); /* integer digits: too large */
    memset(text, '0', 2900);
    memcpy(text + 2880, "12.5e3", 7);
    check(text); /* leading zeros */
    snprintf(text, sizeof(text), "1%01000de-1000", 0);
    check(text);
    snprintf(text, sizeof(text), "0.%01000d1e1001", 0);
    check(text);
}
END_TEST

static const struct {
    const char *text;
    int end; /* where the scan stops; -1: no number */
} scans[] = {
    {"", -1},     {"+", -1},   {"-", -1},    {".", -1},    {"e5", -1},   {"nan", -1},
    {"inf", -1},  {"+-1", -1}, {"1e", -1},   {"1e+", -1},  {"1e-x", -1}, {"-.e1", -1},
    {"1,2", 1},   {"1;2", 1},  {"1-2", 1},   {"1e5-3", 3}, {"1.2.3", 3}, {"1f", 1},
    {"1e5e5", 3}, {"0x10", 1}, {"12 34", 2}, {"1:2", 1},   {"1.|", 2},   {"--1", -1},
};

START_TEST(a_number_ends_where_the_grammar_says) /* loop */
{
    struct ctf_number n;
    char text[32];
    snprintf(text, sizeof(text), "%s\n", scans[_i].text);
    const uint8_t *end = ctf_number_scan((const uint8_t *)text, &n);
    if (scans[_i].end < 0)
        ck_assert_ptr_null(end);
    else
        ck_assert_int_eq(end - (const uint8_t *)text, scans[_i].end);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ctf_number");
    TCase *tc = tcase_create("core");
    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, random_numbers_of_every_spelling_are_rounded_as_by_the_c_library);
    tcase_add_test(tc, middles_of_two_floats_and_their_neighbours);
    tcase_add_test(tc, hard_and_odd_cases);
    tcase_add_loop_test(tc, a_number_ends_where_the_grammar_says, 0,
                        sizeof(scans) / sizeof(scans[0]));
    return suite_run(s);
}
