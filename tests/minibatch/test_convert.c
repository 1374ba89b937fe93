/* tests/minibatch/test_convert.c - random corpora from binary to text and back: the same bytes; and
 * what the converter makes of damage, budgets and empty sequences. */
#include "imrec/convert.h"
#include "tests/support/cbf_random.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

static struct tmpdir dir;
static char files[5][512]; /* a.cbf, a.ctf, a.txt (the header), b.cbf, c.cbf */

static void setup(void)
{
    static const char *const names[5] = {"a.cbf", "a.ctf", "a.txt", "b.cbf", "c.cbf"};
    dir = tmpdir_make();
    for (int i = 0; i < 5; i++)
        snprintf(files[i], sizeof(files[i]), "%s", tmp_path(&dir, names[i]));
}

static void teardown(void)
{
    tmpdir_remove(&dir);
}

/* Text has one precision, no blank in a name and no sequence without a sample: a corpus so. */
static void make_corpus(struct random_corpus *r, uint64_t seed, enum stream_element element)
{
    random_corpus_make(r, seed);
    r->chunk.streams = 0; /* again, with one type */
    for (uint32_t i = 0; i < RANDOM_STREAMS; i++)
        buf_free(&r->body[i]);
    r->chunk.streams = RANDOM_STREAMS - 1;
    for (uint32_t i = 0; i < r->chunk.streams; i++) {
        static const char *const names[] = {"x", "y", "z"};
        r->info[i] = (struct stream_info){names[i],
                                          names[i],
                                          i == 1 ? STREAM_SPARSE : STREAM_DENSE,
                                          element,
                                          1 + random_below(r, 9),
                                          false};
        r->body[i] = BUF_INIT(SIZE_MAX);
        for (uint32_t k = 0; k < r->chunk.sequences; k++) {
            r->offset[i][k] = r->body[i].n;
            r->length[k] = i == 0 ? 0 : r->length[k];
            uint32_t n = random_sequence(r, i);
            if (i + 1 == r->chunk.streams) /* the last one never has none */
                while (n == 0) {
                    r->body[i].n = r->offset[i][k];
                    n = random_sequence(r, i);
                }
            r->length[k] = n > r->length[k] ? n : r->length[k];
        }
        r->offset[i][r->chunk.sequences] = r->body[i].n;
        r->stream[i] = (struct chunk_stream){r->body[i].p, r->offset[i]};
    }
}

static struct imrec_convert_options options(const char *output)
{
    struct imrec_convert_options o;
    imrec_convert_options_init(&o);
    o.input = files[1];
    o.header = files[2];
    o.output = output;
    return o;
}

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(binary_to_text_and_back_gives_the_same_bytes, 0, 40) /* _i: corpora */
{
    const enum stream_element element = _i % 2 == 0 ? STREAM_FLOAT : STREAM_DOUBLE;
    struct random_corpus r;
    struct imrec_convert_result result;
    struct imrec_error err = {0};
    make_corpus(&r, (uint64_t)_i, element);
    struct buf file = random_file(&r, 900, RANDOM_SEQUENCES);
    tmp_write(&dir, "a.cbf", file.p, file.n);
    ck_assert_msg(imrec_cbf_to_ctf(files[0], files[1], files[2], NULL, NULL, &result, &err) ==
                      IMREC_OK,
                  "%s", err.message);
    ck_assert_uint_eq(result.sequences, r.chunk.sequences);
    struct imrec_convert_options o = options(files[3]);
    o.chunk_size = 900;
    o.precision = element == STREAM_DOUBLE ? IMREC_PRECISION_DOUBLE : IMREC_PRECISION_FLOAT;
    ck_assert_msg(imrec_ctf_to_cbf(&o, NULL, NULL, &result, &err) == IMREC_OK, "%s", err.message);
    const struct bytes again = read_whole(files[3]);
    ck_assert_uint_eq(again.n, file.n);
    ck_assert_mem_eq(again.p, file.p, file.n);
    free((void *)(uintptr_t)again.p);
    buf_free(&file);
    random_corpus_free(&r);
}

static void write_text(const char *text, const char *header)
{
    tmp_write(&dir, "a.ctf", text, strlen(text));
    tmp_write(&dir, "a.txt", header, strlen(header));
}

TEST(any_number_of_threads_writes_the_same_bytes)
{
    FILE *f = fopen(files[1], "w");
    for (uint32_t i = 0; i < 150000; i++) /* several pieces of 2 MiB */
        fprintf(f, "%u |a %u.5 -%ue-3 7 |b %u:1 %u:0.25\n", i / 3, i, i % 977, i % 100, i % 37);
    fclose(f);
    tmp_write(&dir, "a.txt", "alpha a dense 3\nbeta b sparse 100\n", 34);
    struct imrec_convert_options o = options(files[3]);
    struct imrec_convert_result result;
    o.threads = 1;
    o.chunk_size = 1 << 20;
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, &result, NULL), IMREC_OK);
    ck_assert_uint_eq(result.sequences, 50000);
    ck_assert_uint_gt(result.chunks, 3);
    o.threads = 7;
    o.output = files[4];
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, &result, NULL), IMREC_OK);
    const struct bytes x = read_whole(files[3]), y = read_whole(files[4]);
    ck_assert(x.n == y.n && memcmp(x.p, y.p, x.n) == 0);
    free((void *)(uintptr_t)x.p);
    free((void *)(uintptr_t)y.p);
}

LOOP_TEST(the_error_is_the_first_of_the_text, 1, 7) /* _i: threads */
{
    struct imrec_error err = {0};
    FILE *f = fopen(files[1], "w");
    for (uint32_t i = 0; i < 400000; i++) /* several pieces of 2 MiB, the first is good */
        fprintf(f, "%u |a %u.5 %s 7 8 9\n", i, i, i > 150000 && i % 10000 == 0 ? "x" : "6");
    fclose(f);
    tmp_write(&dir, "a.txt", "alpha a dense 5\n", 16);
    struct imrec_convert_options o = options(files[3]);
    o.threads = _i;
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, NULL, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "line 160001") != NULL, "%s", err.message);
    ck_assert(access(files[3], F_OK) != 0);
}

TEST(bad_samples_cost_the_budget_and_lost_sequences_are_left_out)
{
    struct imrec_convert_result result;
    struct imrec_error err = {0};
    write_text("1 |a 1 2\n2 |a x 2\n3 |a 5 6\n4 |a 7\n", "a a dense 2\n");
    struct imrec_convert_options o = options(files[3]);
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, &result, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "line 2"));
    o.max_errors = 1;
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, &result, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "line 4"));
    ck_assert(access(files[3], F_OK) != 0);
    o.max_errors = 2;
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, &result, &err), IMREC_OK);
    ck_assert_uint_eq(result.errors, 2);
    ck_assert_uint_eq(result.sequences, 2);
}

TEST(the_stream_that_is_named_defines_the_length)
{
    struct imrec_convert_result result;
    write_text("1 |a 1 |b 1\n1 |a 2\n1 |a 3\n2 |a 4 |b 5\n", "x a dense 1\ny b dense 1\n");
    struct imrec_convert_options o = options(files[3]);
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, &result, NULL), IMREC_OK);
    ck_assert_uint_eq(result.samples, 4);
    o.defines_mb_size = "y";
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, &result, NULL), IMREC_OK);
    ck_assert_uint_eq(result.samples, 2);
    o.defines_mb_size = "b"; /* the alias */
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, &result, NULL), IMREC_ERR_ARGUMENT);
}

static const char *const bad_headers[] = {
    "",
    "a a dense\n",
    "a a dense 0\n",
    "a a thick 3\n",
    "a a dense 3 4\n",
    "a a dense 2147483648\n",
    "a a dense 1\na b dense 1\n",
    "a a dense 1\nb a dense 1\n",
};

LOOP_TEST(header_files_are_refused_by_line, 0, COUNT(bad_headers))
{
    struct imrec_error err = {0};
    write_text("1 |a 1\n", bad_headers[_i]);
    struct imrec_convert_options o = options(files[3]);
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, NULL, NULL, NULL, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "a.txt"));
}

static bool stop(void *user, const struct imrec_progress *p)
{
    (void)user;
    return p->bytes > p->total_bytes; /* at once */
}

TEST(a_run_that_is_stopped_leaves_nothing)
{
    write_text("1 |a 1\n", "a a dense 1\n");
    struct imrec_convert_options o = options(files[3]);
    ck_assert_int_eq(imrec_ctf_to_cbf(&o, stop, NULL, NULL, NULL), IMREC_ERR_CANCELLED);
    ck_assert(access(files[3], F_OK) != 0);
    ck_assert(access(tmp_path(&dir, "b.cbf.part"), F_OK) != 0);
}
