/* tests/formats/test_ctf_parse.c - what a text of CNTK has wrong: each error once, with its line
 * and column, and which samples and sequences are left. */
#include "tests/support/ctf_text.h"
#include "tests/support/suite.h"

#include <stdio.h>

static const struct {
    const char *text, *says; /* errors, each with its line's end */
    const char *left;        /* samples of a, b and long of each sequence */
    bool frame_mode, defines, ignore;
} cases[] = {
    {.text = "1 |a 1 2 |b 3:1\n|a 3 4 |long 5\n2 |long 6\n", .says = "", .left = "211 001"},
    {.text = "1 |a 1 2\n1 |b 3:1\n",
     .says = "f: line 2, column 3: line 2 of the sequence, but no input has that many samples; one "
             "must have a sample on every line\n",
     .left = "100"},
    {.text = "1 |a 1 2\n1 |b 3:1\n1 |a 3 4\n", /* the line that is too many is none */
     .says = "f: line 2, column 3: line 2 of the sequence, but no input has that many samples; one "
             "must have a sample on every line\n",
     .left = "200"},
    {.text = "1 |a 1 2 |# x\n|# alone\n\n1 |a 3 4\n2 |b\n", .says = "", .left = "200 010"},
    {.text = "1 |a 1 2\n1 |# with an id\n1 |a 3 4\n", .says = "", .left = "200"},
    {.text = "1 |a 1 2\n1\n1 |a 3 4\n",
     .says = "f: line 2, column 1: a sequence id alone; at least one sample or comment must follow "
             "it\n",
     .left = "200"},
    {.text = "1 |a 1 2\n1 |a 5 |b 3:1\n1 |a 3 4\n", /* what is left of a line is no line of it */
     .says = "f: line 2, column 8: input 'a': the sample has 1 values; dim is 2\n",
     .left = "210"},
    {.text = "1 |a 1 2 x |b 3:1 |long 1 |long 2\n2 |b 3:1 x\n",
     .says = "f: line 1, column 10: input 'a': 'x' follows the last value; dim is 2\n"
             "f: line 1, column 28: input 'long' twice on a line\n"
             "f: line 2, column 10: input 'b': 'x' is not of the form index:value\n",
     .left = "011 000"},
    {.text = "1 |a 1 2 | b 3:1 |c 1\n2 x |a 1 2\n",
     .says = "f: line 1, column 11: a name must follow the pipe\n"
             "f: line 1, column 19: no input is called 'c'; ignoreUnknownInputs=true skips such "
             "names\n"
             "f: line 2, column 3: 'x' where a sample or a comment must begin, with a pipe\n",
     .left = "100 100"},
    {.text = "1 |a 1 2 |c 1\n1 |c 2\n1 |a 3 4\n", .says = "", .left = "200", .ignore = true},
    {.text = "1 |a 1 2\n1 |a 3 4\n2 |a 1 2\n",
     .says = "f: line 1, column 1: frameMode: a sequence of 2 samples; exactly one is right\n",
     .left = "000 100",
     .frame_mode = true},
    {.text = "1 |a 1 2\n1 |b 3:1\n1 |b 4:1\n2 |b 5:1\n3 |a 1\n",
     .says = "f: line 4, column 1: the sequence has no sample of input 'a', which defines its "
             "length\n"
             "f: line 5, column 7: input 'a': the sample has 1 values; dim is 2\n",
     .left = "120 000 000",
     .defines = true},
};

enum { ROOM = 2000 };

/* What is said and left of a text, chunk by chunk. */
static void
parse(const char *text, const struct ctf_parse_options *o, char says[ROOM], char left[ROOM])
{
    struct ctf_text t;
    struct sequence_chunk c;
    uint64_t n;
    ck_assert_int_eq(ctf_text_open(&t, text, strlen(text), o, 1 << 20, 1, NULL), IMREC_OK);
    for (uint64_t k = 0; k < t.index.chunks; k++) {
        ck_assert_int_eq(ctf_text_chunk(&t, k, &c, NULL), IMREC_OK);
        const struct ctf_problem *p = ctf_parser_problems(t.parser, &n);
        for (uint64_t i = 0; i < n; i++)
            (void)snprintf(says + strlen(says), ROOM - strlen(says), "%s\n", p[i].message);
        for (uint32_t q = 0; q < c.sequences; q++) {
            (void)snprintf(left + strlen(left), ROOM - strlen(left), "%s", left[0] ? " " : "");
            for (uint32_t i = 0; i < o->streams; i++)
                (void)snprintf(left + strlen(left), ROOM - strlen(left), "%u",
                               sequence_view(&c, i, q, &o->stream[i]).samples);
        }
    }
    ctf_text_close(&t);
}

LOOP_TEST(each_error_is_said_once_and_costs_its_own_sample, 0, COUNT(cases))
{
    const struct stream_info streams[] = {
        {"a", "a", STREAM_DENSE, STREAM_FLOAT, 2, cases[_i].defines},
        {"b", "b", STREAM_SPARSE, STREAM_FLOAT, 9, false},
        {"long", "long", STREAM_DENSE, STREAM_DOUBLE, 1, false}};
    const struct ctf_parse_options o = {.name = "f",
                                        .stream = streams,
                                        .streams = COUNT(streams),
                                        .ignore_unknown = cases[_i].ignore,
                                        .frame_mode = cases[_i].frame_mode,
                                        .max_problems = 100};
    char says[ROOM] = "", left[ROOM] = "";
    parse(cases[_i].text, &o, says, left);
    ck_assert_str_eq(says, cases[_i].says);
    ck_assert_str_eq(left, cases[_i].left);
}

/* Memory of values is enough for the shortest pairs, on a line each. */
TEST(a_pair_on_each_of_many_lines_is_kept)
{
    enum { LINES = 20000 };
    static const struct stream_info b = {"b", "b", STREAM_SPARSE, STREAM_FLOAT, 9, false};
    static const char line[] = "|b 3:1\n";
    const size_t n = sizeof(line) - 1;
    const struct ctf_parse_options o = {.name = "f", .stream = &b, .streams = 1};
    struct ctf_text t;
    struct sequence_chunk c;
    char *text = malloc(1 + LINES * n);
    ck_assert_ptr_nonnull(text);
    text[0] = '1';
    for (size_t i = 0; i < LINES; i++)
        memcpy(text + 1 + i * n, line, n);
    ck_assert_int_eq(ctf_text_open(&t, text, 1 + LINES * n, &o, 1 << 20, 1 << 16, NULL), IMREC_OK);
    free(text);
    ck_assert_int_eq(ctf_text_chunk(&t, 0, &c, NULL), IMREC_OK);
    const struct sequence_view v = sequence_view(&c, 0, 0, &b);
    ck_assert(v.samples == LINES && v.nnz == LINES);
    for (uint64_t i = 0; i < LINES; i++)
        ck_assert(stream_value(v.values, STREAM_FLOAT, i) == 1 &&
                  load_le32(v.indices + 4 * i) == 3 && load_le32(v.counts + 4 * i) == 1);
    ctf_text_close(&t);
}
