/* tests/formats/test_class_list.c - numbers and names of classes. */
#include "base/alloc.h"
#include "base/rng.h"
#include "formats/set/class_list.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct bytes text_of(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

LOOP_TEST(a_class_has_the_number_of_its_line, 0, 3) /* _i: line ends, mark, missing last end */
{
    static const char *const texts[] = {"cat\na dog\n\xc3\xa9\n", "cat\r\na dog\r\n\xc3\xa9",
                                        "\357\273\277cat\ra dog\r\xc3\xa9\r"};
    struct class_list l;
    uint32_t number;
    ck_assert_int_eq(class_list_read("c.txt", text_of(texts[_i]), &l, NULL), IMREC_OK);
    ck_assert_uint_eq(l.count, 3);
    ck_assert(class_list_find(&l, text_of("cat"), &number) && number == 0);
    ck_assert(class_list_find(&l, text_of("a dog"), &number) && number == 1);
    ck_assert(class_list_find(&l, text_of("\xc3\xa9"), &number) && number == 2);
    ck_assert(!class_list_find(&l, text_of("dog"), &number));
    ck_assert(!class_list_find(&l, text_of("ca"), &number));
    ck_assert(!class_list_find(&l, text_of("cats"), &number));
    ck_assert(!class_list_find(&l, text_of(""), &number));
    class_list_free(&l);
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"cat\ndog\ncat\n", "c.txt line 3: class 'cat' is already on line 1"},
    {"b\na\na\nb\n", "c.txt line 3: class 'a' is already on line 2"}, /* the first that repeats */
    {"cat\n\ndog\n", "c.txt line 2: the name of a class is empty"},
    {"cat\nd\tog\n", "c.txt line 2: the name of a class holds a tab"},
    {"cat\n\xff\n", "c.txt line 2: the name of a class is not UTF-8"},
};

LOOP_TEST(a_bad_list_is_refused_with_file_and_line, 0, COUNT(bad))
{
    struct class_list l;
    struct imrec_error err = {0};
    ck_assert_int_eq(class_list_read("c.txt", text_of(bad[_i].text), &l, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strncmp(err.message, bad[_i].says, strlen(bad[_i].says)) == 0, "%s", err.message);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

LOOP_TEST(a_name_that_the_file_cannot_hold_is_not_added, 0, 6)
{
    static const char *const names[] = {"", "a\tb", "a\nb", "a\rb", "\xc3", "\xed\xa0\x80"};
    struct class_list l = {0};
    ck_assert_int_eq(class_list_add(&l, text_of(names[_i]), NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(class_list_add(&l, (struct bytes){(const uint8_t *)"a\0b", 3}, NULL),
                     IMREC_ERR_ARGUMENT);
    ck_assert_uint_eq(l.count, 0);
    class_list_free(&l);
}

TEST(many_classes_are_found_and_written_as_they_were_read)
{
    enum { MANY = 21843 };
    struct class_list l = {0}, again;
    struct buf text = BUF_INIT(1 << 22);
    char name[40];
    uint32_t number;
    for (uint32_t i = 0; i < MANY; i++) { /* in no order, all different */
        const uint64_t v = rng_block((struct rng_key){3, 4}, i, 0, 0, RNG_AUGMENT).v[0];
        snprintf(name, sizeof(name), "n%" PRIx64 "-%u", v % 4096, i);
        ck_assert_int_eq(class_list_add(&l, text_of(name), NULL), IMREC_OK);
    }
    ck_assert_int_eq(class_list_seal(&l, NULL), IMREC_OK);
    for (uint32_t i = 0; i < MANY; i++)
        ck_assert(class_list_find(&l, class_list_name(&l, i), &number) && number == i);
    ck_assert_int_eq(class_list_write(&l, &text, NULL), IMREC_OK);
    ck_assert_int_eq(class_list_read("c.txt", (struct bytes){text.p, text.n}, &again, NULL),
                     IMREC_OK);
    ck_assert_uint_eq(again.count, MANY);
    ck_assert_uint_eq(again.text.n, l.text.n);
    ck_assert_mem_eq(again.text.p, l.text.p, l.text.n);
    class_list_free(&again);
    class_list_free(&l);
    buf_free(&text);
}

TEST(sealing_refuses_two_equal_names)
{
    struct class_list l = {0};
    struct imrec_error err = {0};
    ck_assert_int_eq(class_list_add(&l, text_of("x"), NULL), IMREC_OK);
    ck_assert_int_eq(class_list_add(&l, text_of("y"), NULL), IMREC_OK);
    ck_assert_int_eq(class_list_seal(&l, &err), IMREC_OK);
    ck_assert_int_eq(class_list_add(&l, text_of("x"), NULL), IMREC_OK);
    ck_assert_int_eq(class_list_seal(&l, &err), IMREC_ERR_ARGUMENT);
    ck_assert_str_eq(err.message, "classes 0 and 2 are both called 'x'");
    class_list_free(&l);
}

TEST(an_empty_list_is_a_list)
{
    struct class_list l;
    uint32_t number;
    ck_assert_int_eq(class_list_read("c.txt", (struct bytes){NULL, 0}, &l, NULL), IMREC_OK);
    ck_assert(!class_list_find(&l, text_of("a"), &number));
    class_list_free(&l);
}

TEST(survives_failure_of_the_nth_allocation)
{
    STARVING(memory)
    {
        struct class_list l;
        memory.st = class_list_read("c.txt", text_of("a\nb\nc\n"), &l, NULL);
        class_list_free(&l);
    }
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
