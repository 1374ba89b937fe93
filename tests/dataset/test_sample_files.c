/* tests/dataset/test_sample_files.c - texts in which records keep what a tar archive was made of:
 * they come from files that anybody may have written. */
#include "dataset/transfer/sample_files.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

/* A copy without a byte after it: what is read beyond the end is found by the sanitizer. */
static struct bytes exact(const char *text)
{
    const size_t n = strlen(text);
    uint8_t *p = malloc(n);
    ck_assert(n == 0 || p != NULL);
    if (n != 0)
        memcpy(p, text, n);
    return (struct bytes){p, n};
}

static void drop(struct bytes b)
{
    free((void *)(uintptr_t)b.p);
}

static const struct {
    const char *text;
    bool good;
    uint64_t id, id2;
} ids[] = {
    {"7 0", true, 7, 0},
    {"18446744073709551615 18446744073709551615", true, UINT64_MAX, UINT64_MAX},
    {"007 10", true, 7, 10},
    {"18446744073709551616 0", false, 0, 0},
    {"0 18446744073709551620", false, 0, 0},
    {"99999999999999999999999999 0", false, 0, 0},
    {"", false, 0, 0},
    {"7", false, 0, 0},
    {"7 ", false, 0, 0},
    {" 7", false, 0, 0},
    {" 7 0", false, 0, 0},
    {"7  0", false, 0, 0},
    {"7 0 ", false, 0, 0},
    {"7 0\n", false, 0, 0},
    {"7\t0", false, 0, 0},
    {"-7 0", false, 0, 0},
    {"7 +0", false, 0, 0},
    {"7: 0", false, 0, 0},
    {"7 /", false, 0, 0},
};

LOOP_TEST(ids_are_two_whole_numbers, 0, COUNT(ids))
{
    const struct bytes text = exact(ids[_i].text);
    uint64_t id = 99, id2 = 99;
    ck_assert_msg(sample_ids_read(text, &id, &id2) == ids[_i].good, "'%s'", ids[_i].text);
    ck_assert_uint_eq(id, ids[_i].good ? ids[_i].id : 99);
    ck_assert_uint_eq(id2, ids[_i].good ? ids[_i].id2 : 99);
    drop(text);
}

static const struct {
    const char *text;
    uint64_t image;
    const char *words[4]; /* none: it is refused */
} files[] = {
    {"0 jpg/cls/json", 0, {"jpg", "cls", "json"}},
    {"12 a", 12, {"a"}},
    {"999999999 a", 999999999, {"a"}},
    {"- cls/txt", UINT64_MAX, {"cls", "txt"}},
    {"0 a//b", 0, {"a", "", "b"}},
    {"0 seg.png/a b", 0, {"seg.png", "a b"}},
    {"0 a/", 0, {"a"}},
    {"", 0, {NULL}},
    {"0", 0, {NULL}},
    {"0 ", 0, {NULL}},
    {" a", 0, {NULL}},
    {"x a", 0, {NULL}},
    {"0x a", 0, {NULL}},
    {"-- a", 0, {NULL}},
    {"-1 a", 0, {NULL}},
    {"1- a", 0, {NULL}},
    {": a", 0, {NULL}},
    {"/ a", 0, {NULL}},
    {"1000000000 a", 0, {NULL}},
};

LOOP_TEST(files_are_a_number_and_extensions, 0, COUNT(files))
{
    const struct bytes text = exact(files[_i].text);
    struct sample_files f;
    struct bytes word;
    size_t n = 0;
    const bool good = sample_files_begin(&f, text);
    ck_assert_msg(good == (files[_i].words[0] != NULL), "'%s'", files[_i].text);
    if (good) {
        ck_assert_uint_eq(f.image, files[_i].image);
        for (; sample_files_next(&f, &word); n++) {
            ck_assert_msg(files[_i].words[n] != NULL && word.n == strlen(files[_i].words[n]), "%s",
                          files[_i].text);
            ck_assert(memcmp(word.p, files[_i].words[n], word.n) == 0);
        }
        ck_assert(files[_i].words[n] == NULL);
    }
    drop(text);
}
