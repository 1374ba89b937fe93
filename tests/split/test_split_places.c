/* Order, passes and positions: what comes next is a function of the data, the options and the
 * place, never of threads. */
#include "storage/fault.h"
#include "tests/support/splitting.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <string.h>
#include <time.h>

enum { AHEAD = 1 << 20, LONG = 12 * AHEAD };

static struct imrec_error err;
static struct record_files files;

static void setup(void)
{
    static const char lines[] = "zero\none\r\ntwo\n\nthree\nfour\nfive\nsix\nseven\neight\nnine";
    files = record_files_make(3, 20);
    ck_assert_int_eq(mem_put("t0", lines, sizeof(lines) - 1, &err), IMREC_OK);
    ck_assert_int_eq(mem_put("t1", lines, 30, &err), IMREC_OK);
}

static void teardown(void)
{
    record_files_free(&files);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* Each kind of split, in order and shuffled. */
static struct imrec_input_split_options kind(int i, const char **uri)
{
    struct imrec_input_split_options o = splitting((enum imrec_split_type)(i / 2), 1, 2, 64);
    o.shuffle = i % 2 == 1;
    o.seed = 5;
    o.chunk_records = o.type == IMREC_SPLIT_INDEXED_RECORDIO ? 4 : 0;
    o.index_uri = o.type == IMREC_SPLIT_INDEXED_RECORDIO ? files.index : NULL;
    o.chunk_bytes = o.type == IMREC_SPLIT_TEXT ? 8 : 64;
    o.max_record_bytes = 4096;
    *uri = o.type == IMREC_SPLIT_TEXT ? "mem://t0;mem://t1" : files.uri;
    return o;
}
enum { KINDS = 6 };

/* The text of the position, in a static buffer. */
static const char *position(const struct imrec_input_split *s)
{
    static char kept[1024];
    char *text;
    ck_assert_msg(imrec_input_split_position(s, &text, &err) == IMREC_OK, "%s", err.message);
    snprintf(kept, sizeof(kept), "%s", text);
    imrec_input_split_position_free(text);
    return kept;
}

static void restore(struct imrec_input_split *s, const char *text)
{
    ck_assert_msg(imrec_input_split_restore(s, text, &err) == IMREC_OK, "%s", err.message);
}

static void free_all(struct takings *a, struct takings *b)
{
    takings_free(a);
    takings_free(b);
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(resuming_at_any_record_is_as_if_nothing_had_been, 0, 2 * KINDS)
{
    const bool chunks = _i >= KINDS;
    const char *uri;
    struct imrec_input_split_options o = kind(_i % KINDS, &uri);
    struct takings whole = split_read(uri, &o, chunks);
    ck_assert_uint_gt(whole.count, 3);
    for (size_t at = 0; at <= whole.count; at++) {
        struct takings got = {0};
        struct imrec_input_split *s = split_open(uri, &o);
        split_take(s, chunks, at, &got);
        const char *place = position(s);
        imrec_input_split_close(s);
        o.prefetch = 1 + (uint32_t)at % 5; /* may differ */
        o.threads = 1 + (uint32_t)at % 2;
        s = split_open(uri, &o);
        split_take(s, chunks, at % 3, &got); /* where it was does not matter */
        for (size_t k = 0; k < at % 3 && got.count > at; k++)
            free(got.t[--got.count].p);
        restore(s, place);
        ck_assert_str_eq(position(s), place);
        split_take(s, chunks, SIZE_MAX, &got);
        takings_equal(&got, &whole);
        imrec_input_split_close(s);
        takings_free(&got);
    }
    takings_free(&whole);
}

/* Records and chunks by turns: a position of one is good for the other. */
LOOP_TEST(records_and_chunks_can_take_turns, 0, KINDS)
{
    const char *uri;
    struct imrec_input_split_options o = kind(_i, &uri);
    struct takings a = {0}, b = {0};
    struct imrec_input_split *s = split_open(uri, &o), *again = split_open(uri, &o);
    for (size_t turn = 0; turn < 40; turn++) {
        split_take(s, turn % 3 == 1, 1, &a);
        split_take(again, turn % 3 == 1, 1, &b);
        restore(again, position(s));
    }
    takings_equal(&a, &b);
    imrec_input_split_close(s);
    imrec_input_split_close(again);
    free_all(&a, &b);
}

static int by_place(const void *a, const void *b)
{
    const struct taken *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

LOOP_TEST(a_pass_has_every_record_once_in_an_order_of_its_own, 0, KINDS)
{
    const char *uri;
    struct imrec_input_split_options o = kind(_i, &uri);
    struct imrec_input_split *s = split_open(uri, &o);
    struct takings first = split_all(s, false);
    imrec_input_split_rewind(s);
    struct takings second = split_all(s, false);
    bool same = true;
    for (size_t i = 0; i < first.count; i++)
        same = same && by_place(&first.t[i], &second.t[i]) == 0;
    ck_assert_int_eq(same, !o.shuffle);
    bool sorted = true; /* the second one too has an order of its own */
    for (size_t i = 1; i < second.count; i++)
        sorted = sorted && by_place(&second.t[i - 1], &second.t[i]) < 0;
    ck_assert_int_eq(sorted, !o.shuffle);
    qsort(first.t, first.count, sizeof(first.t[0]), by_place);
    qsort(second.t, second.count, sizeof(second.t[0]), by_place);
    takings_equal(&first, &second);
    o.shuffle = false;
    struct takings plain = split_read(uri, &o, false);
    takings_equal(&plain, &first);
    takings_free(&plain);
    imrec_input_split_close(s);
    free_all(&first, &second);
}

/* ... and a rewind before anything was delivered begins the same one. */
TEST(rewinding_goes_to_the_first_pass_of_which_nothing_was_delivered)
{
    const char *uri;
    struct imrec_input_split_options o = kind(3, &uri);
    struct imrec_input_split *s = split_open(uri, &o);
    imrec_input_split_rewind(s);
    imrec_input_split_rewind(s);
    ck_assert_ptr_nonnull(strstr(position(s), "\"pass\": \"0\""));
    struct takings a = {0}, b = {0};
    split_take(s, false, 1, &a);
    imrec_input_split_rewind(s);
    ck_assert_ptr_nonnull(strstr(position(s), "\"pass\": \"1\""));
    imrec_input_split_rewind(s);
    split_take(s, false, 5, &a);
    ck_assert_ptr_nonnull(strstr(position(s), "\"pass\": \"1\""));
    imrec_input_split_close(s);
    free_all(&a, &b);
}

TEST(seeds_give_orders_and_threads_do_not)
{
    const char *uri;
    struct imrec_input_split_options o = kind(5, &uri);
    struct takings one = split_read(uri, &o, false);
    o.threads = 7;
    o.prefetch = 9;
    struct takings seven = split_read(uri, &o, false);
    takings_equal(&one, &seven);
    o.seed++;
    struct takings other = split_read(uri, &o, false);
    size_t same = 0;
    for (size_t i = 0; i < one.count; i++)
        same += by_place(&one.t[i], &other.t[i]) == 0;
    ck_assert_uint_lt(same, one.count / 2);
    takings_free(&other);
    free_all(&one, &seven);
}

/* Takes a record, and waits until `chunks` more were read ahead: the bytes that were read then. */
static uint64_t read_ahead(const char *file, uint32_t chunks)
{
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 1, AHEAD);
    struct takings first = {0};
    char uri[700];
    (void)snprintf(uri, sizeof(uri), "fault://script=ahead:%s", file);
    o.prefetch = chunks;
    ck_assert_int_eq(fault_set("ahead", &(struct fault_script){0}, &err), IMREC_OK);
    struct imrec_input_split *s = split_open(uri, &o);
    split_take(s, false, 1, &first);
    for (int i = 0; i < 3000; i++) {
        const bool there = fault_counts("ahead").bytes_read >= (chunks + 1) * (uint64_t)AHEAD;
        nanosleep(&(struct timespec){0, 10000000}, NULL); /* and somewhat longer */
        if (there)
            break;
    }
    const uint64_t n = fault_counts("ahead").bytes_read;
    imrec_input_split_close(s);
    takings_free(&first);
    return n;
}

TEST(as_many_chunks_are_read_ahead_as_are_wanted)
{
    struct tmpdir dir = tmpdir_make();
    char *text = malloc(LONG);
    memset(text, 'x', LONG);
    for (size_t i = 99; i < LONG; i += 100)
        text[i] = '\n';
    const char *file = tmp_write(&dir, "long", text, LONG);
    free(text);
    for (uint32_t chunks = 1; chunks < 8; chunks += 3)
        ck_assert_uint_eq(read_ahead(file, chunks) / AHEAD, chunks + 1);
    fault_forget("ahead");
    tmpdir_remove(&dir);
}

LOOP_TEST(another_partition_is_as_if_it_had_been_opened, 0, KINDS)
{
    const char *uri;
    struct imrec_input_split_options o = kind(_i, &uri);
    struct imrec_input_split *s = split_open(uri, &o);
    struct takings few = {0};
    split_take(s, false, 3, &few);
    ck_assert_int_eq(imrec_input_split_reset_partition(s, 4, 4, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "part_index is 4; it is 0 to 3"));
    split_take(s, false, 1, &few); /* it is as before */
    o.num_parts = 5;
    for (o.part_index = 0; o.part_index < 5; o.part_index++) {
        ck_assert_int_eq(imrec_input_split_reset_partition(s, o.part_index, 5, &err), IMREC_OK);
        struct takings got = split_all(s, false), want = split_read(uri, &o, false);
        takings_equal(&got, &want);
        free_all(&got, &want);
    }
    imrec_input_split_close(s);
    o.part_index = 1;
    o.num_parts = 2;
    struct takings whole = split_read(uri, &o, false);
    ck_assert_uint_eq(few.count, 4);
    ck_assert_uint_eq(few.t[3].offset, whole.t[3].offset);
    free_all(&few, &whole);
}

static const struct {
    const char *from, *to, *words;
} wrong[] = {
    {"\"input_split\": 1", "\"input_split\": 2", "\"input_split\" must be 1"},
    {"\"data\": \"", "\"data\": \"0", "it is of other files (fingerprint 0"},
    {"\"type\": \"0\"", "\"type\": \"1\"", "it was taken with type=1, this split has type=0"},
    {"\"num_parts\": \"2\"", "\"num_parts\": \"3\"", "num_parts=3, this split has num_parts=2"},
    {"\"part_index\": \"1\"", "\"part_index\": \"0\"", "part_index=0"},
    {"\"chunk_bytes\": \"8\"", "\"chunk_bytes\": \"16\"", "chunk_bytes=16"},
    {"\"chunk\": \"0\"", "\"chunk\": \"900\"", "\"chunk\" is 900, a pass has"},
    {"\"chunk\": \"0\"", "\"chunk\": 0", "\"chunk\" must be a whole number from 0 in quotes"},
    {"\"pass\": \"0\"", "\"past\": \"0\"", "\"pass\" must be a whole number"},
    {"{", "[", "position"},
};

LOOP_TEST(a_position_of_something_else_says_what_differs, 0, COUNT(wrong))
{
    const char *uri;
    struct imrec_input_split_options o = kind(0, &uri);
    struct imrec_input_split *s = split_open(uri, &o);
    const char *text = position(s);
    const char *at = strstr(text, wrong[_i].from);
    ck_assert_ptr_nonnull(at);
    char bad[1200];
    snprintf(bad, sizeof(bad), "%.*s%s%s", (int)(at - text), text, wrong[_i].to,
             at + strlen(wrong[_i].from));
    ck_assert_int_eq(imrec_input_split_restore(s, bad, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, wrong[_i].words) != NULL, "%s", err.message);
    struct takings got = split_all(s, false), want = split_read(uri, &o, false);
    takings_equal(&got, &want);
    free_all(&got, &want);
    imrec_input_split_close(s);
}

/* A place in the middle of a line, or after the last record, is refused when its chunk is read. */
LOOP_TEST(a_place_where_no_record_begins_is_refused, 0, KINDS)
{
    const char *uri;
    struct imrec_input_split_options o = kind(_i, &uri);
    struct imrec_input_split *s = split_open(uri, &o);
    struct imrec_split_bytes b;
    const char *text = position(s);
    const char *at = strstr(text, "\"place\": \"0\"");
    char bad[1200];
    snprintf(bad, sizeof(bad), "%.*s\"place\": \"%d\"}", (int)(at - text), text,
             o.type == IMREC_SPLIT_TEXT ? 1000003 : 77);
    restore(s, bad);
    ck_assert_int_eq(imrec_input_split_next(s, &b, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "no record begins at place") != NULL, "%s", err.message);
    imrec_input_split_close(s);
}

TEST(a_place_within_a_line_is_refused)
{
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 1, 64);
    struct imrec_input_split *s = split_open("mem://t0", &o);
    struct takings some = {0};
    struct imrec_split_bytes b;
    split_take(s, false, 1, &some);
    char text[1024];
    snprintf(text, sizeof(text), "%s", position(s));
    char *at = strstr(text, "\"place\": \"5\"");
    ck_assert_ptr_nonnull(at);
    for (char digit = '6'; digit <= '9'; digit++) { /* "one" and its two ends; then the end of it */
        at[10] = digit;
        restore(s, text);
        ck_assert_int_eq(imrec_input_split_next(s, &b, &err), IMREC_ERR_ARGUMENT);
    }
    takings_free(&some);
    imrec_input_split_close(s);
}

/* What is taken is the same when memory runs out anywhere: then an error, and nothing stays. */
LOOP_TEST(no_memory_is_an_error_wherever_it_runs_out, 0, KINDS)
{
    const char *uri;
    struct imrec_input_split_options o = kind(_i, &uri);
    struct takings whole = split_read(uri, &o, false);
    o.threads = 1;
    for (long n = 0;; n++) {
        struct imrec_input_split *s = NULL;
        struct imrec_split_bytes b;
        size_t got = 0;
        imrec_alloc_fail_after(n);
        enum imrec_status st = imrec_input_split_open(uri, &o, &s, &err);
        while (st == IMREC_OK && (st = imrec_input_split_next(s, &b, &err)) == IMREC_OK)
            got++;
        imrec_input_split_close(s);
        const bool failed = imrec_alloc_has_failed();
        imrec_alloc_fail_after(-1);
        if (!failed) {
            ck_assert_uint_eq(got, whole.count);
            break;
        }
        ck_assert_msg(st == IMREC_ERR_NO_MEMORY || st == IMREC_END, "%d: %s", (int)st, err.message);
        if (st == IMREC_END) /* some memory can be done without: no record is missing */
            ck_assert_uint_eq(got, whole.count);
    }
    takings_free(&whole);
}
