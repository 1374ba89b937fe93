/* tests/fault/test_ctf_index_file.c - the index with and without its cache, whatever goes wrong. */
#include "minibatch/corpus/ctf_index_file.h"
#include "storage/fault.h"
#include "storage/mem.h"
#include "storage/sink.h"
#include "tests/support/ctf_text.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { LINES = 3000, CHUNK_BYTES = 1000 };

static struct tmpdir dir;
static struct imrec_error err;
static char text[LINES * 24];
static size_t text_bytes;
static struct ctf_text right; /* what the index must be */
static struct source *opened;
static struct ctf_index_options options;

static void make_text(void)
{
    text_bytes = 0;
    for (unsigned i = 0; i < LINES; i++)
        text_bytes += (size_t)snprintf(text + text_bytes, sizeof(text) - text_bytes,
                                       i % 5 == 4 ? "|a %u\n" : "%u |a 1\n", i / 3);
}

static void index_text(void)
{
    const struct stream_info stream = {"a", "a", STREAM_DENSE, STREAM_FLOAT, 1, false};
    const struct ctf_parse_options po = {.name = "t.ctf",
                                         .stream = &stream,
                                         .streams = 1,
                                         .skip_sequence_ids = options.skip_sequence_ids};
    ctf_text_close(&right);
    ck_assert_int_eq(
        ctf_text_open(&right, text, text_bytes, &po, options.chunk_bytes, 100000, &err), IMREC_OK);
}

static void setup(void)
{
    dir = tmpdir_make();
    options = (struct ctf_index_options){.name = "t.ctf",
                                         .size = 0,
                                         .main_alias = NULL,
                                         .skip_sequence_ids = false,
                                         .chunk_bytes = CHUNK_BYTES};
    make_text();
    memset(&right, 0, sizeof(right));
    index_text();
    tmp_write(&dir, "t.ctf", text, text_bytes);
}

static void teardown(void)
{
    source_close(opened);
    opened = NULL;
    ctf_text_close(&right);
    mem_clear();
    fault_forget("test");
    (void)chmod(dir.path, 0700);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const char *cache_path(void)
{
    return tmp_path(&dir, "t.ctf.imrec-index");
}

static enum imrec_status open_uri(const char *uri, bool use_cache, struct ctf_index_file **out)
{
    *out = NULL;
    source_close(opened);
    opened = NULL;
    const enum imrec_status st = source_open(uri, &opened, &err);
    return st != IMREC_OK ? st
                          : ctf_index_file_open(uri, opened, &options, use_cache, false, out, &err);
}

static struct ctf_index_file *open_good(const char *uri)
{
    struct ctf_index_file *f;
    ck_assert_msg(open_uri(uri, true, &f) == IMREC_OK, "%s", err.message);
    return f;
}

static void expect_sequences(const struct ctf_index *x, uint64_t chunk)
{
    const struct ctf_chunk *c = &right.index.chunk[chunk];
    ck_assert(memcmp(&x->chunk[chunk], c, sizeof(c->first) + sizeof(c->sequences)) == 0);
    ck_assert(memcmp(x->sequence + c->first, right.index.sequence + c->first,
                     c->sequences * sizeof(*x->sequence)) == 0);
}

/* The index has all of the text, whichever way, and is closed. */
static void expect_right(struct ctf_index_file *f)
{
    const struct ctf_index *x = ctf_index_file_index(f);
    ck_assert_uint_eq(x->chunks, right.index.chunks);
    ck_assert_uint_eq(x->sequences, right.index.sequences);
    ck_assert_uint_eq(x->samples, right.index.samples);
    for (uint64_t i = x->chunks; i-- > 0;) {
        ck_assert_msg(ctf_index_file_need(f, i, &err) == IMREC_OK, "%s", err.message);
        expect_sequences(x, i);
    }
    ck_assert_uint_ge(ctf_index_file_memory(f), x->sequences * 24);
    ctf_index_file_close(f);
}

/* Opens, and says whether from a cache. */
static bool comes_from_cache(const char *uri)
{
    struct ctf_index_file *f = open_good(uri);
    const bool cached = ctf_index_file_cached(f);
    expect_right(f);
    return cached;
}

static const char *text_path(void)
{
    return tmp_path(&dir, "t.ctf");
}

START_TEST(the_second_opening_finds_the_cache_of_the_first)
{
    ck_assert(!comes_from_cache(text_path()));
    ck_assert_int_gt(tmp_size(cache_path()), 24 * 100);
    ck_assert(comes_from_cache(text_path()));
    ck_assert(comes_from_cache(text_path()));
}
END_TEST

START_TEST(without_the_option_nothing_is_written_or_read)
{
    struct ctf_index_file *f;
    ck_assert_int_eq(open_uri(text_path(), false, &f), IMREC_OK);
    expect_right(f);
    ck_assert_int_eq(tmp_size(cache_path()), -1);
    ck_assert(!comes_from_cache(text_path()));
    ck_assert_int_eq(open_uri(text_path(), false, &f), IMREC_OK);
    ck_assert(!ctf_index_file_cached(f));
    expect_right(f);
}
END_TEST

START_TEST(a_text_in_memory_has_its_cache_there)
{
    ck_assert_int_eq(mem_put("t.ctf", text, text_bytes, &err), IMREC_OK);
    ck_assert(!comes_from_cache("mem://t.ctf"));
    ck_assert(comes_from_cache("mem://t.ctf"));
    ck_assert_int_eq(mem_put("t.ctf.imrec-index", "abc", 3, &err), IMREC_OK);
    ck_assert(!comes_from_cache("mem://t.ctf"));
}
END_TEST

static void set_time(const char *path, long nanoseconds)
{
    const struct timespec at[2] = {{1000000000, 0}, {1000000000, nanoseconds}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, at, 0), 0);
}

START_TEST(a_stale_cache_is_made_anew)
{
    ck_assert(!comes_from_cache(text_path()));
    set_time(text_path(), 0); /* older, even */
    ck_assert(!comes_from_cache(text_path()));
    ck_assert(comes_from_cache(text_path()));
    set_time(text_path(), 1);
    ck_assert(!comes_from_cache(text_path()));
    text[2] = '#'; /* no longer a sample: the same size and time, other content */
    text[1] = '|';
    index_text();
    tmp_write(&dir, "t.ctf", text, text_bytes);
    set_time(text_path(), 1);
    ck_assert(!comes_from_cache(text_path()));
    ck_assert(comes_from_cache(text_path()));
    text_bytes -= 7; /* another size */
    index_text();
    tmp_write(&dir, "t.ctf", text, text_bytes);
    set_time(text_path(), 1);
    ck_assert(!comes_from_cache(text_path()));
}
END_TEST

START_TEST(other_options_do_not_use_it)
{
    ck_assert(!comes_from_cache(text_path()));
    options.skip_sequence_ids = true;
    index_text();
    ck_assert(!comes_from_cache(text_path()));
    ck_assert(comes_from_cache(text_path()));
    options.chunk_bytes = 5000;
    index_text();
    ck_assert(!comes_from_cache(text_path()));
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_no_error)
{
    ck_assert_int_eq(chmod(dir.path, 0500), 0);
    const bool root = access(dir.path, W_OK) == 0;
    ck_assert(!comes_from_cache(text_path()));
    ck_assert(root || tmp_size(cache_path()) == -1);
    ck_assert_int_eq(chmod(dir.path, 0700), 0);
    (void)remove(cache_path());
    ck_assert_int_eq(mkdir(cache_path(), 0700), 0); /* nothing can be renamed to it */
    ck_assert(!comes_from_cache(text_path()));
    ck_assert(!comes_from_cache(text_path()));
}
END_TEST

static void flip(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    ck_assert(f != NULL && fseek(f, at, at < 0 ? SEEK_END : SEEK_SET) == 0);
    const int c = fgetc(f);
    ck_assert_int_eq(fseek(f, -1, SEEK_CUR), 0);
    ck_assert_int_eq(fputc(c ^ 0x55, f), c ^ 0x55);
    fclose(f);
}

START_TEST(a_damaged_chunk_is_read_from_the_text_and_the_cache_mended)
{
    ck_assert(!comes_from_cache(text_path()));
    flip(cache_path(), -30);
    ck_assert(comes_from_cache(text_path())); /* seen when the chunk is used */
    flip(cache_path(), 60);
    ck_assert(!comes_from_cache(text_path())); /* in the head: seen at once */
    ck_assert(comes_from_cache(text_path()));
    flip(cache_path(), 100);
    ck_assert(!comes_from_cache(text_path())); /* in the table */
}
END_TEST

START_TEST(a_damaged_chunk_of_a_text_that_went_on_changing_is_an_error)
{
    ck_assert(!comes_from_cache(text_path()));
    flip(cache_path(), -30);
    struct ctf_index_file *f = open_good(text_path());
    ck_assert(ctf_index_file_cached(f));
    const uint64_t from = right.index.sequence[10].offset, to = right.index.sequence[90].offset;
    memset(text + from, '\n', to - from);
    ck_assert_int_eq(truncate(text_path(), 0), 0);
    tmp_write(&dir, "t.ctf", text, text_bytes); /* under the same name and number */
    ck_assert_int_eq(ctf_index_file_need(f, right.index.chunks - 1, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "t.ctf.imrec-index") != NULL, "%s", err.message);
    ck_assert_int_eq(ctf_index_file_need(f, 0, &err), IMREC_OK);
    ctf_index_file_close(f);
}
END_TEST

START_TEST(a_cache_that_shrinks_while_it_is_used_is_left)
{
    ck_assert(!comes_from_cache(text_path()));
    struct ctf_index_file *f = open_good(text_path());
    ck_assert(ctf_index_file_cached(f));
    ck_assert_int_eq(ctf_index_file_need(f, 1, &err), IMREC_OK);
    ck_assert_int_eq(truncate(cache_path(), 200), 0);
    expect_right(f);
}
END_TEST

START_TEST(a_cache_that_cannot_be_written_costs_nothing_else) /* loop: what goes wrong */
{
    const struct fault_script scripts[] = {
        {.space = 1000}, {.space = 1},     {.sync_eio = 1},      {.rename_eio = 1}, {.sync_eio = 2},
        {.sync_eio = 3}, {.write_eio = 1}, {.short_bytes = 700}, {.interrupt = 3},
    };
    char uri[1024];
    snprintf(uri, sizeof(uri), "fault://script=test:%s", text_path());
    ck_assert_int_eq(fault_set("test", &scripts[_i], &err), IMREC_OK);
    ck_assert(!comes_from_cache(uri));
    const bool good = comes_from_cache(text_path());
    ck_assert(good == (scripts[_i].short_bytes != 0 || scripts[_i].interrupt != 0) || _i == 5);
    ck_assert(comes_from_cache(text_path()));
}
END_TEST

START_TEST(a_cache_that_cannot_be_read_is_left)
{
    char uri[1024];
    snprintf(uri, sizeof(uri), "fault://script=test:%s", text_path());
    ck_assert(!comes_from_cache(text_path()));
    for (uint64_t n = 1; n < 16; n++) { /* the n-th read */
        const struct fault_script s = {.read_eio = n, .rename_eio = 1};
        struct ctf_index_file *f;
        ck_assert_int_eq(fault_set("test", &s, &err), IMREC_OK);
        if (open_uri(uri, true, &f) == IMREC_OK)
            expect_right(f);
        else
            ck_assert_int_eq(err.status, IMREC_ERR_IO); /* the text itself */
        ck_assert(n > 1 || f == NULL);
    }
}
END_TEST

START_TEST(no_memory_is_an_error_or_costs_the_cache) /* loop: without and with a cache */
{
    struct ctf_index_file *f = NULL;
    if (_i == 1)
        ck_assert(!comes_from_cache(text_path()));
    source_close(opened);
    ck_assert_int_eq(source_open(text_path(), &opened, &err), IMREC_OK);
    bool done = false;
    for (long n = 0; n < 60 && !done; n++) {
        imrec_alloc_fail_after(n);
        enum imrec_status st =
            ctf_index_file_open(text_path(), opened, &options, true, true, &f, &err);
        for (uint64_t i = 0; st == IMREC_OK && i < ctf_index_file_index(f)->chunks; i++)
            st = ctf_index_file_need(f, i, &err);
        if (f != NULL)
            ctf_index_file_wait(f);
        imrec_alloc_fail_after(-1);
        ck_assert(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY);
        if (st == IMREC_OK)
            expect_right(f);
        else
            ctf_index_file_close(f);
        if (_i == 0)
            (void)remove(cache_path());
        f = NULL;
        done = n > 50;
    }
}
END_TEST

START_TEST(long_lines_and_texts_without_an_end_are_whole) /* loop: bytes of a line */
{
    static const size_t lengths[] = {(1 << 20) - 2, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20};
    const size_t n = lengths[_i] + 8;
    char *long_text = malloc(n);
    memcpy(long_text, "|a 1\n|a ", 8);
    memset(long_text + 8, '2', n - 8);
    memcpy(long_text + n - 8, "\n|a 3333", 8);
    const char *path = tmp_write(&dir, "long.ctf", long_text, n);
    struct ctf_index_file *f = open_good(path);
    const struct ctf_index *x = ctf_index_file_index(f);
    ck_assert_uint_eq(x->sequences, 3);
    ck_assert_uint_eq(x->sequence[1].offset, 5);
    ck_assert_uint_eq(x->sequence[2].bytes, 7);
    ck_assert_uint_eq(x->sequence[2].offset + 7, n);
    ctf_index_file_close(f);
    free(long_text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ctf_index_file");
    TCase *t = tcase_create("index");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_second_opening_finds_the_cache_of_the_first);
    tcase_add_test(t, without_the_option_nothing_is_written_or_read);
    tcase_add_test(t, a_text_in_memory_has_its_cache_there);
    tcase_add_test(t, a_stale_cache_is_made_anew);
    tcase_add_test(t, other_options_do_not_use_it);
    tcase_add_test(t, a_folder_that_cannot_be_written_is_no_error);
    tcase_add_test(t, a_damaged_chunk_is_read_from_the_text_and_the_cache_mended);
    tcase_add_test(t, a_damaged_chunk_of_a_text_that_went_on_changing_is_an_error);
    tcase_add_test(t, a_cache_that_shrinks_while_it_is_used_is_left);
    tcase_add_loop_test(t, a_cache_that_cannot_be_written_costs_nothing_else, 0, 9);
    tcase_add_test(t, a_cache_that_cannot_be_read_is_left);
    tcase_add_loop_test(t, no_memory_is_an_error_or_costs_the_cache, 0, 2);
    tcase_add_loop_test(t, long_lines_and_texts_without_an_end_are_whole, 0, 5);
    suite_add_tcase(s, t);
    return suite_run(s);
}
