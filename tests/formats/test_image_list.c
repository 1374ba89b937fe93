/* tests/formats/test_image_list.c - lists of both originals, many labels, names, and bad lines. */
#include "base/alloc.h"
#include "formats/set/image_list.h"
#include "tests/support/guard.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <float.h>
#include <stdio.h>

static struct bytes text_of(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static const struct {
    const char *line;
    uint32_t label_width;
    uint64_t id;
    uint32_t labels;
    float last;
    const char *path;
} good[] = {
    {"0\t0.000000\ttop.jpeg\n", 0, 0, 1, 0, "top.jpeg"},
    {"10\t1.0\t1.5\t-1.000000\tkodim01 stone building.jpg\r\n", 0, 10, 3, -1,
     "kodim01 stone building.jpg"},
    {"10\t1.0\t1.5\t-1\ta.jpg", 3, 10, 3, -1, "a.jpg"},
    {"18446744073709551615\t2\t sub dir/ a.jpg \n", 1, UINT64_MAX, 1, 2, " sub dir/ a.jpg "},
    {"7 3.5 a/b c.jpg\n", 0, 7, 1, 3.5f, "a/b c.jpg"}, /* blanks only: one label */
    {"7 3.5 2 b c.jpg\n", 2, 7, 2, 2, "b c.jpg"},      /* blanks only: as many as asked for */
    {"7\t3.5 b c.jpg\n", 1, 7, 1, 3.5f, "b c.jpg"},    /* a tab, but not before the path */
    {"7 1 2\t3\tb c.jpg\n", 0, 7, 3, 3, "b c.jpg"},    /* blanks between labels */
    {"\n \n\xc3\xa9\n", 0, 0, 0, 0, NULL},             /* blank lines are passed, then an error */
    {"7  3.5  a  b.jpg", 0, 7, 1, 3.5f, "a  b.jpg"},
    {"1\t1\t1.jpg\n", 1, 1, 1, 1, "1.jpg"},
    {"1\t1\t5\n", 0, 1, 1, 1, "5"}, /* a path may look like a number */
    {"\357\273\2771\t1\ta\n", 0, 1, 1, 1, "a"},
    {"1\tnan\t-inf\ta\n", 0, 1, 2, -__builtin_inff(), "a"},
};

LOOP_TEST(reads_the_lists_of_both_originals, 0, COUNT(good))
{
    struct guarded g = guarded_copy(good[_i].line, strlen(good[_i].line));
    struct image_list l;
    struct image_list_entry e;
    image_list_begin(&l, "a.lst", good[_i].label_width, (struct bytes){g.p, strlen(good[_i].line)},
                     0, 0);
    const enum imrec_status st = image_list_next(&l, &e, NULL);
    if (good[_i].path == NULL) {
        ck_assert_int_eq(st, IMREC_ERR_CORRUPT);
        ck_assert_uint_eq(l.lines.number, 3);
    } else {
        ck_assert_int_eq(st, IMREC_OK);
        ck_assert_uint_eq(e.id, good[_i].id);
        ck_assert_uint_eq(e.label_count, good[_i].labels);
        ck_assert(e.labels[e.label_count - 1] == good[_i].last);
        ck_assert_uint_eq(e.path.n, strlen(good[_i].path));
        ck_assert_mem_eq(e.path.p, good[_i].path, e.path.n);
    }
    ck_assert_int_eq(image_list_next(&l, &e, NULL), IMREC_END);
    image_list_end(&l);
    guarded_free(g);
}

static const struct {
    const char *line, *says;
    uint32_t label_width;
} bad[] = {
    {"a.jpg\n", "'a.jpg' is not an id", 0},
    {"-1\t0\ta.jpg\n", "'-1' is not an id", 0},
    {"1.0\t0\ta.jpg\n", "'1.0' is not an id", 0},
    {"18446744073709551616\t0\ta.jpg\n", "is not an id", 0},
    {"1\tcat\ta.jpg\n", "'cat' is not a label", 0},
    {"1\t0\t1,5\ta.jpg\n", "'1,5' is not a label", 0},
    {"1\t0x10\ta.jpg\n", "'0x10' is not a label", 0},
    {"1\t1e39\ta.jpg\n", "too large", 0},
    {"1\t2\n", "is not id, labels and path", 0},
    {"1\ta.jpg\n", "is not a label", 0},
    {"1\n", "is not id, labels and path", 0},
    {"1\t2\t\n", "is not id, labels and path", 0},
    {"7 3.5  ", "is not id, labels and path", 0},
    {"1\t2\t  \n", "is not id, labels and path", 0},
    {"1\t2\t3\ta.jpg\n", "2 labels, expected label_width=1", 1},
    {"1\t2\ta.jpg\n", "1 labels, expected label_width=2", 2},
    {"1 2 a.jpg\n", "'a.jpg' is not a label", 2},
};

/* What a line of labels gives for each type: 1 read, 0 refused. */
static const struct {
    const char *line;
    uint32_t typed;
    bool rounded, float32, float64, int64;
} types[] = {
    {"1\t16777216\ta\n", 0, 1, 1, 1, 1},    {"1\t16777217\ta\n", 0, 1, 0, 1, 1},
    {"1\t0.1\ta\n", 0, 1, 1, 1, 0},         {"1\t9007199254740993\ta\n", 0, 1, 0, 0, 1},
    {"1\tnan\tinf\ta\n", 0, 1, 1, 1, 0},    {"1\t2\t16777217\ta\n", 0, 1, 0, 1, 1},
    {"1\t2\t16777217\ta\n", 1, 1, 1, 1, 1}, /* the second does not matter */
    {"1\t2\t16777217\ta\n", 2, 1, 0, 1, 1},
};

LOOP_TEST(labels_are_read_for_a_type, 0, COUNT(types))
{
    const bool reads[] = {types[_i].rounded, types[_i].float32, types[_i].float64, types[_i].int64};
    for (int type = LIST_LABELS_ROUNDED; type <= LIST_LABELS_INT64; type++) {
        struct image_list l;
        struct image_list_entry e;
        struct imrec_error err = {0};
        image_list_begin(&l, "a.lst", 0, text_of(types[_i].line), 0, 0);
        l.type = (enum list_labels)type;
        l.typed = types[_i].typed;
        const enum imrec_status st = image_list_next(&l, &e, &err);
        ck_assert_msg((st == IMREC_OK) == reads[type], "type %d: %s", type, err.message);
        ck_assert((l.exact != NULL) == (type >= LIST_LABELS_FLOAT64));
        image_list_end(&l);
    }
}

LOOP_TEST(what_is_not_finite_is_not_packed, 0, 4) /* _i: what it is, and where */
{
    static const char *const lines[] = {"1\tnan\t1\ta\n", "1\t-inf\t1\ta\n", "1\t1\tnan\ta\n",
                                        "1\t1\t2\ta\n"};
    for (uint32_t typed = 0; typed < 2; typed++) {
        struct image_list l;
        struct image_list_entry e;
        struct imrec_error err = {0};
        image_list_begin(&l, "a.lst", 0, text_of(lines[_i]), 0, 0);
        l.type = LIST_LABELS_FLOAT32;
        l.typed = typed;
        l.packs = true;
        const enum imrec_status st = image_list_next(&l, &e, &err);
        ck_assert_int_eq(st, _i < 2 || (_i == 2 && typed == 0) ? IMREC_ERR_CORRUPT : IMREC_OK);
        if (st != IMREC_OK)
            ck_assert_msg(strstr(err.message, _i == 1 ? "a.lst line 1: '-inf' is no label"
                                                      : "a.lst line 1: 'nan' is no label") != NULL,
                          "%s", err.message);
        image_list_end(&l);
    }
}

static const struct {
    const char *line;
    uint32_t columns;
    const char *path, *last; /* path NULL: refused, with the words `last` */
} further[] = {
    {"1\t2\ta.jpg\tb.jpg", 1, "a.jpg", "b.jpg"},
    {"1\t2\t3\ta.jpg\tb.jpg\tc d", 2, "a.jpg", "b.jpg\tc d"},
    {"1\t2\ta.jpg\t\t", 2, "a.jpg", "\t"},
    {"1 2 a b.jpg\tc", 1, "a b.jpg", "c"},
    {"1\t2\ta.jpg", 2, NULL, "once its last columns are taken off"},
    {"1\t2\ta.jpg", 3, NULL, "2 tabs, which are too few for id, labels, path and the 3 columns"},
    {"a.jpg", 1, NULL, "0 tabs, which are too few for id, labels, path and the 1 columns"},
    {"\ta.jpg", 1, NULL, "'' is not an id"},
};

LOOP_TEST(columns_after_the_path_are_taken_off, 0, COUNT(further))
{
    struct guarded g = guarded_copy(further[_i].line, strlen(further[_i].line));
    struct image_list l;
    struct image_list_entry e;
    struct imrec_error err = {0};
    image_list_begin(&l, "a.lst", 0, (struct bytes){g.p, strlen(further[_i].line)}, 0, 0);
    l.columns = further[_i].columns;
    const enum imrec_status st = image_list_next(&l, &e, &err);
    if (further[_i].path == NULL) {
        ck_assert_int_eq(st, IMREC_ERR_CORRUPT);
        ck_assert_msg(strstr(err.message, further[_i].last) != NULL, "%s", err.message);
    } else {
        ck_assert_msg(st == IMREC_OK, "%s", err.message);
        ck_assert_uint_eq(e.path.n, strlen(further[_i].path));
        ck_assert_mem_eq(e.path.p, further[_i].path, e.path.n);
        ck_assert_uint_eq(l.last.n, strlen(further[_i].last));
        ck_assert_mem_eq(l.last.p, further[_i].last, l.last.n);
    }
    image_list_end(&l);
    guarded_free(g);
}

LOOP_TEST(a_bad_line_is_named_and_the_next_one_still_read, 0, COUNT(bad))
{
    char text[128];
    struct image_list l;
    struct image_list_entry e;
    struct imrec_error err = {0};
    struct guarded g = guarded_copy(bad[_i].line, strlen(bad[_i].line)); /* and alone */
    image_list_begin(&l, "a.lst", bad[_i].label_width, (struct bytes){g.p, strlen(bad[_i].line)}, 0,
                     0);
    ck_assert_int_eq(image_list_next(&l, &e, NULL), IMREC_ERR_CORRUPT);
    image_list_end(&l);
    guarded_free(g);
    snprintf(text, sizeof(text), "\n%s\n9\t%s8\tz\n", bad[_i].line,
             bad[_i].label_width == 2 ? "8\t" : "");
    image_list_begin(&l, "a.lst", bad[_i].label_width, text_of(text), 0, 0);
    ck_assert_int_eq(image_list_next(&l, &e, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, bad[_i].says) != NULL, "%s", err.message);
    ck_assert_msg(strncmp(err.message, "a.lst line 2: ", 14) == 0, "%s", err.message);
    ck_assert_uint_eq(err.offset, 1);
    ck_assert_int_eq(image_list_next(&l, &e, &err), IMREC_OK);
    ck_assert_uint_eq(e.id, 9);
    image_list_end(&l);
}

TEST(a_NUL_in_a_path_is_refused)
{
    static const char line[] = "1\t2\ta\0b\n";
    struct image_list l;
    struct image_list_entry e;
    image_list_begin(&l, "a.lst", 0, (struct bytes){(const uint8_t *)line, sizeof(line) - 1}, 0, 0);
    ck_assert_int_eq(image_list_next(&l, &e, NULL), IMREC_ERR_CORRUPT);
    image_list_end(&l);
}

TEST(labels_are_written_with_six_decimals_or_as_many_as_they_need)
{
    static const float labels[] = {3, 0.5f, -1, 1e-7f, 0.1f, 16777216, 1.0f / 3, -FLT_MAX};
    const struct image_list_entry e = {42, labels, 8, text_of("a b/\xc3\xa9.jpg")};
    struct buf out = BUF_INIT(1 << 12);
    ck_assert_int_eq(image_list_write(&out, &e, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&out, "", 1, NULL), IMREC_OK);
    ck_assert_str_eq((const char *)out.p,
                     "42\t3.000000\t0.500000\t-1.000000\t1e-07\t0.100000\t"
                     "16777216.000000\t3.3333334e-01\t-340282346638528859811704183484516925440."
                     "000000\ta b/\xc3\xa9.jpg\n");
    struct image_list l;
    struct image_list_entry again;
    image_list_begin(&l, "a.lst", 0, (struct bytes){out.p, out.n - 1}, 0, 0);
    ck_assert_int_eq(image_list_next(&l, &again, NULL), IMREC_OK);
    ck_assert_uint_eq(again.label_count, 8);
    ck_assert_mem_eq(again.labels, labels, sizeof(labels));
    image_list_end(&l);
    buf_free(&out);
}

LOOP_TEST(what_a_list_cannot_hold_is_not_written, 0, 6)
{
    static const char *const paths[] = {"", " ", "a\tb", "a\nb", "a\rb", "a"};
    static const float label = 1;
    struct buf out = BUF_INIT(1 << 12);
    struct imrec_error err = {0};
    const struct image_list_entry e = {1, &label, _i == 5 ? 0 : 1, text_of(paths[_i])};
    ck_assert_int_eq(image_list_write(&out, &e, &err), IMREC_ERR_ARGUMENT);
    ck_assert_uint_eq(out.n, 0);
    ck_assert_ptr_null(strpbrk(err.message, "\n\r\t"));
}

TEST(survives_failure_of_the_nth_allocation)
{
    STARVING(memory)
    {
        struct image_list l;
        struct image_list_entry e;
        image_list_begin(&l, "a.lst", 0, text_of("1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\ta\n"),
                         0, 0);
        memory.st = image_list_next(&l, &e, NULL);
        image_list_end(&l);
    }
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
