/* tests/formats/test_text_number.c - numbers exact to the last bit, in any locale. */
#include "base/rng.h"
#include "formats/text.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct bytes text_of(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static float value_of(const char *s)
{
    float v = 0;
    struct guarded g = guarded_copy(s, strlen(s));
    ck_assert_msg(text_to_float((struct bytes){g.p, strlen(s)}, &v) == TEXT_FLOAT_OK, "%s", s);
    guarded_free(g);
    return v;
}

static bool same(float a, float b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

START_TEST(reads_whole_numbers_of_64_bits)
{
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.",
                                      "0x1",
                                      "18446744073709551616",
                                      "99999999999999999999999999"};
    uint64_t v = 1;
    ck_assert(text_to_u64(text_of("18446744073709551615"), &v) && v == UINT64_MAX);
    ck_assert(text_to_u64(text_of("0000000000000000000000000"), &v) && v == 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!text_to_u64(text_of(bad[i]), &v), "%s", bad[i]);
    char out[20];
    ck_assert_uint_eq(text_from_u64(UINT64_MAX, out), 20);
    ck_assert_mem_eq(out, "18446744073709551615", 20);
    ck_assert_uint_eq(text_from_u64(0, out), 1);
    ck_assert_int_eq(out[0], '0');
}
END_TEST

/* Ties, borders and long texts: the value as the compiler reads it, which rounds right. */
#define CASE(text)                                                                                 \
    {                                                                                              \
#text, text##f                                                                             \
    }
static const struct {
    const char *text;
    float value;
} exact[] = {
    CASE(0.),
    CASE(1.),
    CASE(.5),
    CASE(3.e0),
    CASE(1e0),
    CASE(1E+5),
    CASE(1e-5),
    CASE(0.1),
    CASE(16777217.),
    CASE(16777219.),
    CASE(16777217.0000000000000000000000000000000000001),
    CASE(16777216.9999999999999999999999999999999999999),
    CASE(8388608.5),
    CASE(8388609.5),
    CASE(3.4028234663852886e38),
    CASE(340282346638528859811704183484516925440.),
    CASE(3.40282356779733661637539395458142568447e38), /* just under what rounds to infinity */
    CASE(1.17549435e-38),
    CASE(1.17549428e-38),
    CASE(
        1.175494280757364291727882991035766513322858992758990427682963118425003064965173038558532425668090581893920898438e-38),
    CASE(1e-45),
    {"7.0064923216240853546186479164495806564013097093825788587853e-46", 0},
    CASE(7.0064923216240853546186479164495806564013097093825788587854e-46),
    CASE(7.1e-46),
    CASE(2.1e-45),
    CASE(2.2e-45),
    CASE(0.000000000000000000000000000000000000000000001),
    {"1e-46", 0},
    {"1e-300", 0},
    CASE(0e99999),
    CASE(9007199254740993.),
    CASE(9007199791611905.),
    CASE(123456789012345678901234567890.),
    CASE(0.333333333333333333333333333333333333333),
    CASE(
        1.00000005960464477539062500000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001),
    CASE(1.000000059604644775390625),
    CASE(
        1.00000005960464477539062500000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000),
    CASE(1.0000001788139343),
    CASE(1.000000178813934326171875),
    CASE(8.589973e9),
    CASE(1e22),
    CASE(1e23),
    CASE(5e-23),
};

START_TEST(rounds_to_the_nearest_float_ties_to_even) /* loop over exact */
{
    char negative[300];
    snprintf(negative, sizeof(negative), "-%s", exact[_i].text);
    ck_assert_msg(same(value_of(exact[_i].text), exact[_i].value), "%s", exact[_i].text);
    ck_assert_msg(same(value_of(negative), -exact[_i].value), "%s", negative);
}
END_TEST

START_TEST(rounds_as_strtof_does_on_random_decimals)
{
    for (uint64_t i = 0; i < 8000; i++) {
        const struct rng_block r = rng_block((struct rng_key){5, 6}, i, 0, 0, RNG_AUGMENT);
        char text[128];
        if (i % 2 == 0) /* any digits and power */
            snprintf(text, sizeof(text), "%" PRIu64 "%09" PRIu64 "e%d", r.v[0] >> r.v[1] % 64,
                     r.v[2] % 1000000000, (int)(r.v[3] % 90) - 60);
        else { /* half way between two floats, or a hair beside it */
            const uint32_t bits = (uint32_t)(r.v[0] % 0x7f000000u);
            float low, high;
            memcpy(&low, &bits, sizeof(low));
            high = nextafterf(low, INFINITY);
            snprintf(text, sizeof(text), "%.*e", (int)(r.v[1] % 60) + 6,
                     ((double)low + (double)high) / 2);
        }
        const float want = strtof(text, NULL);
        float got;
        if (isinf(want))
            ck_assert_int_eq(text_to_float(text_of(text), &got), TEXT_FLOAT_TOO_LARGE);
        else
            ck_assert_msg(text_to_float(text_of(text), &got) == TEXT_FLOAT_OK && same(got, want),
                          "%s: %a, not %a", text, (double)value_of(text), (double)want);
    }
}
END_TEST

START_TEST(what_is_no_number_is_refused)
{
    static const char *const bad[] = {"",     "-",    "+",       ".",      "e5",  "1e", "1e+",
                                      "1e5.", "1..2", "1,5",     "--1",    "+-1", " 1", "1 ",
                                      "0x1",  "in",   "infinit", "nan(1)", "1_0", "1f", "."};
    static const char *const large[] = {"1e39", "340282356779733661637539395458142568448",
                                        "1e999999999", "-3.41e38",
                                        "99999999999999999999999999999999999999999999"};
    float v;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct guarded g = guarded_copy(bad[i], strlen(bad[i]));
        ck_assert_msg(text_to_float((struct bytes){g.p, strlen(bad[i])}, &v) ==
                          TEXT_FLOAT_MALFORMED,
                      "%s", bad[i]);
        guarded_free(g);
    }
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
        ck_assert_msg(text_to_float(text_of(large[i]), &v) == TEXT_FLOAT_TOO_LARGE, "%s", large[i]);
    ck_assert(value_of("7") == 7 && value_of("+7") == 7);
    ck_assert(isnan(value_of("NaN")) && value_of("-Infinity") == -INFINITY &&
              value_of("+inf") == INFINITY);
}
END_TEST

START_TEST(reads_doubles_as_strtod_does)
{
    static const char *const all[] = {"0",
                                      "-0.0",
                                      "1",
                                      "0.1",
                                      "-7.25e-3",
                                      "9007199254740993",
                                      "9007199254740992.5",
                                      "0.30000001192092896",
                                      "1e308",
                                      "4.9e-324",
                                      "2.4703282292062327e-324",
                                      "1e-400",
                                      "123456789012345678901234567890",
                                      ".5",
                                      "5.",
                                      "17976931348623157e292"};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct guarded g = guarded_copy(all[i], strlen(all[i]));
        double v = 7;
        const double want = strtod(all[i], NULL);
        ck_assert_int_eq(text_to_double((struct bytes){g.p, strlen(all[i])}, &v), TEXT_FLOAT_OK);
        ck_assert_msg(memcmp(&v, &want, sizeof(v)) == 0, "%s: %.17g", all[i], v);
        guarded_free(g);
    }
    double v;
    ck_assert_int_eq(text_to_double(text_of("1e309"), &v), TEXT_FLOAT_TOO_LARGE);
    ck_assert_int_eq(text_to_double(text_of("1e"), &v), TEXT_FLOAT_MALFORMED);
    ck_assert(text_to_double(text_of("-inf"), &v) == TEXT_FLOAT_OK && v == (double)-INFINITY);
    ck_assert(text_to_double(text_of("nan"), &v) == TEXT_FLOAT_OK && isnan(v));
}
END_TEST

START_TEST(knows_which_whole_numbers_a_float_or_a_double_has)
{
    static const struct {
        const char *text;
        bool of_float, of_double;
    } all[] = {{"16777216", true, true},
               {"16777217", false, true},
               {"-16777217.000", false, true},
               {"1.6777217e7", false, true},
               {"16777218", true, true},
               {"16777217.5", true, true}, /* a fraction is rounded */
               {"9007199254740992", true, true},
               {"9007199254740993", false, false},
               {"9007199254740994", false, true},
               {"1e30", true, true}, /* as are measures */
               {"12345678901234567891", false, false},
               {"18446744073709551616", true, true}, /* 2^64 */
               {"18446744073709551617", false, false},
               {"inf", true, true},
               {"nan", true, true},
               {"0.1", true, true},
               {"1e-400", true, true}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const struct bytes b = text_of(all[i].text);
        float f;
        double d;
        ck_assert_int_eq(text_to_float(b, &f), TEXT_FLOAT_OK);
        ck_assert_int_eq(text_to_double(b, &d), TEXT_FLOAT_OK);
        ck_assert_msg(text_keeps_whole(b, (double)f) == all[i].of_float, "%s", all[i].text);
        ck_assert_msg(text_keeps_whole(b, d) == all[i].of_double, "%s", all[i].text);
    }
}
END_TEST

START_TEST(reads_whole_numbers_of_64_bits_with_sign)
{
    static const struct {
        const char *text;
        int64_t v;
    } good[] = {{"0", 0},
                {"-0.0", 0},
                {"16777217", 16777217},
                {"-5.000000", -5},
                {"1.5e1", 15},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {"9007199254740993.0", 9007199254740993}};
    static const char *const bad[] = {
        "",  "1.5",    "9223372036854775808", "-9223372036854775809", "1e19", "inf", "nan", "1e-1",
        "x", "1e99999"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int64_t v = 99;
        ck_assert_msg(text_to_i64(text_of(good[i].text), &v), "%s", good[i].text);
        ck_assert_int_eq(v, good[i].v);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t v;
        ck_assert_msg(!text_to_i64(text_of(bad[i]), &v), "%s", bad[i]);
    }
}
END_TEST

START_TEST(every_float_written_reads_back) /* a stride over all 2^32 bit patterns */
{
    for (uint64_t i = 0; i < 1u << 13; i++) {
        const uint32_t bits = (uint32_t)(i * 524309u);
        char out[TEXT_FLOAT_BYTES];
        float v, again;
        memcpy(&v, &bits, sizeof(v));
        const size_t n = text_from_float(v, out);
        ck_assert_uint_le(n, TEXT_FLOAT_BYTES);
        ck_assert_int_eq(text_to_float((struct bytes){(uint8_t *)out, n}, &again), TEXT_FLOAT_OK);
        ck_assert_msg(isnan(v) ? isnan(again) : same(v, again), "%.*s", (int)n, out);
    }
}
END_TEST

START_TEST(labels_look_as_the_original_writes_them)
{
    static const struct {
        float v;
        const char *text;
    } all[] = {{0, "0.000000"},
               {-0.0f, "-0.000000"},
               {999, "999.000000"},
               {-1, "-1.000000"},
               {0.5f, "0.500000"},
               {0.1f, "0.100000"},
               {1e-7f, "1e-07"},
               {123456.7f, "123456.703125"},
               {16777216, "16777216.000000"},
               {-FLT_MAX, "-340282346638528859811704183484516925440.000000"},
               {1.0f / 3, "3.3333334e-01"},
               {1e-45f, "1e-45"}};
    char out[TEXT_FLOAT_BYTES];
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const size_t n = text_from_float(all[i].v, out);
        ck_assert_msg(n == strlen(all[i].text) && memcmp(out, all[i].text, n) == 0, "%.*s", (int)n,
                      out);
    }
}
END_TEST

START_TEST(a_decimal_comma_changes_nothing)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8", "de_DE",
                                        "C.UTF-8"};
    char out[TEXT_FLOAT_BYTES];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (setlocale(LC_ALL, names[i]) == NULL)
            continue;
        ck_assert(value_of("1.5") == 1.5f);
        ck_assert_uint_eq(text_from_float(-1.5f, out), 9);
        ck_assert_mem_eq(out, "-1.500000", 9);
        ck_assert_uint_eq(text_from_float(1.5e-7f, out), 7);
        ck_assert_mem_eq(out, "1.5e-07", 7);
    }
    setlocale(LC_ALL, "C");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("numbers");
    TCase *tc = tcase_create("numbers");
    tcase_set_timeout(tc, 50);
    tcase_add_test(tc, reads_whole_numbers_of_64_bits);
    tcase_add_loop_test(tc, rounds_to_the_nearest_float_ties_to_even, 0,
                        sizeof(exact) / sizeof(exact[0]));
    tcase_add_test(tc, rounds_as_strtof_does_on_random_decimals);
    tcase_add_test(tc, what_is_no_number_is_refused);
    tcase_add_test(tc, reads_doubles_as_strtod_does);
    tcase_add_test(tc, knows_which_whole_numbers_a_float_or_a_double_has);
    tcase_add_test(tc, reads_whole_numbers_of_64_bits_with_sign);
    tcase_add_test(tc, every_float_written_reads_back);
    tcase_add_test(tc, labels_look_as_the_original_writes_them);
    tcase_add_test(tc, a_decimal_comma_changes_nothing);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
