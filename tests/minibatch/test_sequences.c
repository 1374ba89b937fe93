/* tests/minibatch/test_sequences.c - sequences one after the other, and cards of texts. */
#include "base/alloc.h"
#include "formats/ctf/ctf_look.h"
#include "imrec/ctf.h"
#include "imrec/file_kind.h"
#include "imrec/sequences.h"
#include "storage/mem.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <stdio.h>
#include <string.h>

static struct imrec_error err;
static struct imrec_deserializer d;
static const struct imrec_stream described[] = {
    {.name = "A", .alias = "a", .storage = IMREC_DENSE, .dim = 2, .storage_given = true},
    {.name = "b", .storage = IMREC_SPARSE, .dim = 10, .storage_given = true}};
static uint64_t told[64];
static uint32_t tellings;

static void tell(void *user, const struct imrec_finding *f)
{
    ck_assert_ptr_eq(user, told);
    ck_assert_msg(strstr(f->reason, "mem://t: line ") == f->reason, "%s", f->reason);
    ck_assert_str_eq(f->uri, "mem://t");
    ck_assert_int_eq(f->kind, IMREC_FOUND_DAMAGE);
    told[tellings++] = f->begin;
}

static void setup(void)
{
    imrec_deserializer_init(&d);
    d.file = "mem://t";
    d.stream = described;
    d.streams = 2;
    tellings = 0;
}

static void teardown(void)
{
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void put(const char *name, const char *text)
{
    ck_assert_int_eq(mem_put(name, text, strlen(text), &err), IMREC_OK);
}

static struct imrec_sequences *open_text(const char *text)
{
    struct imrec_sequences *s;
    put("t", text);
    ck_assert_msg(imrec_sequences_open(&d, IMREC_PRECISION_FLOAT, tell, told, &s, &err) == IMREC_OK,
                  "%s", err.message);
    return s;
}

static struct imrec_sequence next(struct imrec_sequences *s)
{
    struct imrec_sequence q;
    ck_assert_msg(imrec_sequences_next(s, &q, &err) == IMREC_OK, "%s", err.message);
    return q;
}

static void expect_end(struct imrec_sequences *s)
{
    struct imrec_sequence q;
    ck_assert_int_eq(imrec_sequences_next(s, &q, &err), IMREC_END);
    ck_assert_int_eq(imrec_sequences_next(s, &q, &err), IMREC_END);
    imrec_sequences_close(s);
}

CASE(.setup = setup, .teardown = teardown)

TEST(values_indices_and_counts_are_given_as_they_are)
{
    static const float values[] = {1, 2, 3, 4}, kept[] = {5, 6, 7};
    static const int32_t indices[] = {9, 0, 3}, counts[] = {2, 1};
    struct imrec_sequences *s = open_text("7 |a 1 2 |b 9:5 0:6\n|b 3:7 |a 3 4\n8 |b\n");
    const struct imrec_stream *stream;
    ck_assert_uint_eq(imrec_sequences_streams(s, &stream), 2);
    ck_assert_str_eq(stream[0].alias, "a");
    ck_assert_str_eq(stream[1].alias, "b");
    struct imrec_sequence q = next(s);
    ck_assert_uint_eq(q.id, 7);
    ck_assert_str_eq(q.uri, "mem://t");
    ck_assert(q.stream[0].samples == 2 && q.stream[0].value_count == 4);
    ck_assert(memcmp(q.stream[0].values, values, sizeof(values)) == 0);
    ck_assert(q.stream[0].indices == NULL && q.stream[0].counts == NULL);
    ck_assert(q.stream[1].samples == 2 && q.stream[1].value_count == 3);
    ck_assert(memcmp(q.stream[1].values, kept, sizeof(kept)) == 0);
    ck_assert(memcmp(q.stream[1].indices, indices, sizeof(indices)) == 0);
    ck_assert(memcmp(q.stream[1].counts, counts, sizeof(counts)) == 0);
    q = next(s);
    ck_assert(q.id == 8 && q.stream[0].samples == 0 && q.stream[1].samples == 1);
    ck_assert_uint_eq(q.stream[1].value_count, 0);
    const struct imrec_sequences_totals t = imrec_sequences_totals(s);
    ck_assert(t.sequences == 2 && t.samples == 3 && t.chunks == 1 && t.read == 2 && t.bytes == 39);
    expect_end(s);
}

TEST(doubles_are_doubles)
{
    struct imrec_sequences *s;
    double v;
    put("t", "|a 0.1 2\n");
    ck_assert_int_eq(imrec_sequences_open(&d, IMREC_PRECISION_DOUBLE, NULL, NULL, &s, &err),
                     IMREC_OK);
    memcpy(&v, next(s).stream[0].values, sizeof(v));
    ck_assert(v == 0.1);
    expect_end(s);
}

TEST(what_is_bad_is_told_once_and_left_out)
{
    d.max_errors = 2;
    struct imrec_sequences *s = open_text("1 |a 1 2\n2 |a 1\n3 |a 3 4 |b 11:1\n");
    ck_assert_uint_eq(next(s).id, 1);
    ck_assert_uint_eq(next(s).id, 3);
    const struct imrec_sequences_totals t = imrec_sequences_totals(s);
    ck_assert(t.problems == 2 && t.lost == 1 && t.read == 2);
    ck_assert(tellings == 2 && told[0] == 15 && told[1] == 28);
    expect_end(s);
}

TEST(more_that_is_bad_than_allowed_ends_the_reading)
{
    struct imrec_sequence q;
    d.max_errors = 1;
    struct imrec_sequences *s = open_text("1 |a 1 2\n2 |a 1\n3 |a 3 4 |b 11:1\n");
    ck_assert_int_eq(imrec_sequences_next(s, &q, &err), IMREC_ERR_CORRUPT);
    ck_assert_uint_eq(err.offset, 28);
    ck_assert_uint_eq(tellings, 1);
    expect_end(s);
}

TEST(several_files_are_read_one_after_the_other)
{
    d.file = "mem://t;mem://u";
    put("u", "5 |a 5 6\n");
    struct imrec_sequences *s = open_text("1 |a 1 2\n2 |a 1 2");
    ck_assert_uint_eq(next(s).id, 1);
    ck_assert_uint_eq(next(s).id, 2);
    const struct imrec_sequence q = next(s);
    ck_assert(q.id == 5 && strcmp(q.uri, "mem://u") == 0);
    expect_end(s);
}

TEST(a_line_with_inputs_that_are_ignored_alone_is_as_a_comment)
{
    d.ignore_unknown_inputs = true;
    struct imrec_sequences *s = open_text("|x 1\n1 |x 5\n1 |a 1 2 |x\n2 |x 1 |y\n3 |aa 1 |a 1 2\n");
    const struct imrec_sequences_totals t = imrec_sequences_totals(s);
    ck_assert(t.sequences == 2 && t.samples == 2);
    ck_assert_uint_eq(next(s).id, 1);
    ck_assert_uint_eq(next(s).id, 3);
    ck_assert_uint_eq(imrec_sequences_totals(s).lost, 0);
    expect_end(s);
}

TEST(no_memory_is_an_error)
{
    put("t", "1 |a 1 2\n2 |a 1\n3 |a 3 4 |b 1:1\n");
    d.max_errors = 5;
    bool whole = false;
    for (long n = 0; n < 200 && !whole; n++) {
        struct imrec_sequences *s;
        struct imrec_sequence q;
        tellings = 0;
        imrec_alloc_fail_after(n);
        enum imrec_status st =
            imrec_sequences_open(&d, IMREC_PRECISION_FLOAT, tell, told, &s, &err);
        while (st == IMREC_OK)
            st = imrec_sequences_next(s, &q, &err);
        imrec_alloc_fail_after(-1);
        imrec_sequences_close(s);
        ck_assert(st == IMREC_END || st == IMREC_ERR_NO_MEMORY);
        whole = st == IMREC_END;
    }
    ck_assert(whole);
}

TEST(a_card_tells_what_can_be_seen)
{
    struct imrec_ctf_card c;
    put("t", "\xEF\xBB\xBF"
             "3 |dense 1 2 3\t|s 7:1 12:2 |# |#not one |end\r\n\n3 |dense 1 2|empty\n"
             "|# only a comment\n4 |s 1:1 |dense -1 -2 -3\n");
    ck_assert_msg(imrec_ctf_card("mem://t", false, 0, &c, &err) == IMREC_OK, "%s", err.message);
    ck_assert(c.sequences == 2 && c.samples == 3 && c.longest == 2 && c.chunks == 1 && c.has_ids);
    ck_assert(c.looked == c.bytes && c.inputs == 4);
    static const struct imrec_ctf_input want[] = {
        {"dense", false, true, 3, 3, 0},
        {"s", true, false, 2, 2, 12},
        {"end", false, false, 1, 0, 0},
        {"empty", false, false, 1, 0, 0},
    };
    for (uint32_t i = 0; i < 4; i++) {
        const struct imrec_ctf_input *in = &c.input[i];
        ck_assert_str_eq(in->alias, want[i].alias);
        ck_assert(in->sparse == want[i].sparse && in->varies == want[i].varies);
        ck_assert(in->samples == want[i].samples && in->width == want[i].width);
        ck_assert_uint_eq(in->max_index, want[i].max_index);
    }
    imrec_ctf_card_free(&c);
    ck_assert_int_eq(imrec_ctf_card("mem://t", true, 10, &c, &err), IMREC_OK);
    ck_assert(c.sequences == 3 && c.chunks == 3 && !c.has_ids && c.longest == 1);
    imrec_ctf_card_free(&c);
    ck_assert_int_eq(imrec_ctf_card("mem://none", false, 0, &c, &err), IMREC_ERR_IO);
    put("t", "|# nothing\n");
    ck_assert_int_eq(imrec_ctf_card("mem://t", false, 0, &c, &err), IMREC_ERR_CORRUPT);
}

TEST(too_many_inputs_are_passed_over)
{
    char text[8192];
    size_t n = 0;
    struct ctf_look l = {0};
    for (int i = 0; i < CTF_LOOK_INPUTS + 10; i++)
        n += (size_t)sprintf(text + n, "|i%d 1 ", i);
    n += (size_t)sprintf(text + n, "|%0300d 1 |i0 1 2\n", 7);
    ck_assert(ctf_look_at(&l, (struct bytes){(const uint8_t *)text, n}));
    ck_assert_uint_eq(l.inputs, CTF_LOOK_INPUTS);
    ck_assert(l.input[0].samples == 2 && l.input[0].varies);
    ctf_look_free(&l);
}

TEST(a_file_is_known_by_its_bytes_then_by_its_name)
{
    static const struct {
        const char *name, *bytes;
        enum imrec_file_kind kind;
        const char *words;
    } files[] = {
        {"t", "|a 1", IMREC_FILE_CTF, "CNTK text"},
        {"t", "12 |a", IMREC_FILE_CTF, "CNTK text"},
        {"t", "\n \t\r\n7|x", IMREC_FILE_CTF, "CNTK text"},
        {"t", "\xEF\xBB\xBF|a", IMREC_FILE_CTF, "CNTK text"},
        {"t.cbf", "  |# c\n", IMREC_FILE_CTF, "CNTK text"},
        {"t", "", IMREC_FILE_UNKNOWN, NULL},
        {"t", "\n", IMREC_FILE_UNKNOWN, NULL},
        {"t", "reader = [", IMREC_FILE_UNKNOWN, NULL},
        {"t", "12", IMREC_FILE_UNKNOWN, NULL},
        {"t", "a|b", IMREC_FILE_UNKNOWN, NULL},
        {"t", "-1 |a", IMREC_FILE_UNKNOWN, NULL},
        {"t", "\xca\x23\xd7\xce", IMREC_FILE_UNKNOWN, NULL},
        {"t.cbf", "", IMREC_FILE_CBF, "a CBF file"},
        {"t.cbf", "12", IMREC_FILE_CBF, "a CBF file"},
        {"t", "\x0a\x23\xd7\xce\1234567", IMREC_FILE_RECORDIO, "a RecordIO shard"},
        {"t", "\xff\xd8\xff\xe0 and so on", IMREC_FILE_OTHER, "a JPEG image"},
        {"t", "0\t0\n1\t560\n", IMREC_FILE_OTHER, "the index of a shard"},
    };
    enum imrec_file_kind kind;
    const char *words;
    char uri[32];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        put(files[i].name, files[i].bytes);
        snprintf(uri, sizeof(uri), "mem://%s", files[i].name);
        ck_assert_int_eq(imrec_file_kind(uri, &kind, &words, &err), IMREC_OK);
        ck_assert_int_eq(kind, files[i].kind);
        ck_assert_pstr_eq(words, files[i].words);
        ck_assert_int_eq(imrec_file_kind(uri, &kind, NULL, NULL), IMREC_OK);
    }
    ck_assert_int_eq(imrec_file_kind("mem://none", &kind, &words, &err), IMREC_ERR_IO);
}

/* Sequence i of a file: i dense samples, two sparse ones of i and no values. */
static enum imrec_status append_made(struct imrec_cbf_writer *w, uint32_t i, int32_t index)
{
    const double dense[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float values[] = {0.5f, -1, 2, 8};
    const int32_t indices[] = {index, 2, 2, 0}, counts[] = {(int32_t)i, 0};
    const struct imrec_sequence_stream made[] = {
        {.samples = i, .value_count = 2 * (uint64_t)i, .values = dense},
        {.samples = 2, .value_count = i, .values = values, .indices = indices, .counts = counts}};
    return imrec_cbf_writer_append(w, made, i == 4 ? 9 : 0, &err);
}

static enum imrec_status write_made(const char *path, struct imrec_sequences_totals *totals)
{
    const struct imrec_cbf_stream streams[] = {
        {.name = "x", .precision = IMREC_PRECISION_DOUBLE, .dim = 2},
        {.name = "y", .sparse = true, .dim = 7}};
    struct imrec_cbf_writer *w;
    enum imrec_status st = imrec_cbf_writer_open(path, streams, 2, 100, &w, &err);
    for (uint32_t i = 0; i < 5 && st == IMREC_OK; i++) {
        st = append_made(w, i, 6);
        if (st != IMREC_OK)
            imrec_cbf_writer_abort(w);
    }
    return st == IMREC_OK ? imrec_cbf_writer_commit(w, totals, &err) : st;
}

TEST(a_written_binary_file_is_read)
{
    struct tmpdir dir = tmpdir_make();
    struct imrec_sequences_totals totals;
    struct imrec_sequences *s;
    const char *path = tmp_path(&dir, "a.cbf");
    ck_assert_msg(write_made(path, &totals) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(totals.sequences, 5);
    ck_assert_uint_eq(totals.samples, 2 + 2 + 2 + 3 + 9);
    ck_assert_int_eq(tmp_size(path), (long)totals.bytes);
    ck_assert_uint_gt(totals.chunks, 1);
    d.file = path;
    d.streams = 0;
    ck_assert_int_eq(imrec_sequences_open(&d, IMREC_PRECISION_DOUBLE, NULL, NULL, &s, &err),
                     IMREC_OK);
    for (uint32_t i = 0; i < 5; i++) {
        const struct imrec_sequence q = next(s);
        double x, y;
        int32_t index;
        ck_assert(q.stream[0].samples == i && q.stream[1].samples == 2);
        ck_assert_uint_eq(q.stream[1].value_count, i);
        if (i == 0)
            continue;
        memcpy(&x, (const uint8_t *)q.stream[0].values + 8 * (2 * (size_t)i - 1), 8);
        memcpy(&y, q.stream[1].values, 8);
        memcpy(&index, q.stream[1].indices, 4);
        ck_assert(x == 2 * i && y == 0.5 && index == 6);
    }
    expect_end(s);
    tmpdir_remove(&dir);
}

TEST(what_no_binary_file_can_hold_is_refused)
{
    struct tmpdir dir = tmpdir_make();
    const char *path = tmp_path(&dir, "a.cbf");
    struct imrec_cbf_stream streams[] = {
        {.name = "x", .precision = IMREC_PRECISION_DOUBLE, .dim = 2},
        {.name = "x", .sparse = true, .dim = 7}};
    struct imrec_cbf_writer *w;
    ck_assert_int_eq(imrec_cbf_writer_open(path, streams, 2, 0, &w, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "two streams are called 'x'"));
    ck_assert_int_eq(imrec_cbf_writer_open(path, streams, 0, 0, &w, &err), IMREC_ERR_ARGUMENT);
    streams[1].name = "y";
    ck_assert_int_eq(imrec_cbf_writer_open(path, streams, 2, 0, &w, &err), IMREC_OK);
    ck_assert_int_eq(append_made(w, 1, 7), IMREC_ERR_ARGUMENT);
    ck_assert_str_eq(err.message, "stream 'y', sequence 0: index 7, it must be in [0, 7)");
    ck_assert_int_eq(append_made(w, 1, -1), IMREC_ERR_ARGUMENT);
    const int32_t counts[] = {1, 1};
    const struct imrec_sequence_stream wrong[][2] = {
        {{.samples = 1, .value_count = 3}, {0}},
        {{0},
         {.samples = 2, .value_count = 1, .values = "abcd", .indices = "\0\0\0", .counts = counts}},
        {{0}, {.value_count = 1, .values = "abcd", .indices = "\0\0\0"}}};
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(imrec_cbf_writer_append(w, wrong[i], 0, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_cbf_writer_commit(w, NULL, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "no sequence"));
    ck_assert_int_eq(tmp_size(path), -1);
    tmpdir_remove(&dir);
}

TEST(an_allocation_that_fails_leaves_no_binary_file)
{
    struct tmpdir dir = tmpdir_make();
    const char *path = tmp_path(&dir, "a.cbf");
    STARVING(memory)
    {
        memory.st = write_made(path, NULL);
        ck_assert_int_eq(tmp_size(path) != -1, memory.st == IMREC_OK);
    }
    tmpdir_remove(&dir);
}
