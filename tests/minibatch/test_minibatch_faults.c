/* tests/minibatch/test_minibatch_faults.c - minibatch sources out of memory, on bad disks, over bad
 * data, at hostile positions: one clear error, nothing lost, and the same whoever is faster. */
#include "storage/fault.h"
#include "tests/support/heard.h"
#include "tests/support/minibatch_sets.h"
#include "tests/support/suite.h"

#include <unistd.h>

static struct imrec_error err;

static void teardown(void)
{
    imrec_alloc_fail_after(-1);
    fault_forget("test");
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
    sets_forget();
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Opens, reads, changes sizes, seeks; everything may fail for want of memory, and is tried again
 * then. Ends with notes of what came. */
static enum imrec_status live(const char *const *keys, const char *json, struct notes *to)
{
    static const struct imrec_stream_map map[] = {{"A", "x"}};
    struct imrec_minibatch_source *s;
    struct imrec_minibatch m;
    enum imrec_status st = mb_try_open(keys, &s, &err);
    for (uint64_t i = 0; i < 6 && st == IMREC_OK; i++) {
        st = imrec_minibatch_next(s, i < 3 ? 20 : 30 + i, i == 2 ? map : NULL, 1, &m, &err);
        if (st == IMREC_OK && i != 2)
            mb_note(to, &m, 4);
    }
    const char *here;
    if (st == IMREC_OK)
        st = imrec_minibatch_position(s, &here, &err);
    if (st == IMREC_OK)
        st = imrec_minibatch_seek(s, json, &err);
    if (st == IMREC_OK)
        st = imrec_minibatch_next(s, 0, NULL, 0, &m, &err);
    if (st == IMREC_OK)
        mb_note(to, &m, 4);
    imrec_minibatch_source_close(s);
    return st;
}

static char *position_behind(const char *const *keys, uint64_t minibatches)
{
    struct imrec_minibatch_source *s = mb_open(keys);
    struct notes n = {0};
    const char *json;
    mb_follow(s, 0, minibatches, 4, &n);
    EXPECT(imrec_minibatch_position(s, &json, NULL) == IMREC_OK);
    char *copy = strdup(json);
    imrec_minibatch_source_close(s);
    notes_free(&n);
    return copy;
}

START_TEST(no_memory_is_an_error_and_nothing_leaks) /* loop: kinds */
{
    const char *const *keys = mb_keys(set_way(_i * SET_ORDERS + 2), MB_KEYS("minibatchSize=12"));
    char *json = position_behind(keys, 3);
    const long before = imrec_alloc_live();
    struct notes want = {0};
    long n = 0;
    EXPECT(live(keys, json, &want) == IMREC_OK);
    for (int done = 0; done < 3; n += n < 60 ? 1 : 7) {
        struct notes got = {0};
        err.message[0] = '\0';
        imrec_alloc_fail_after(n);
        const enum imrec_status st = live(keys, json, &got);
        imrec_alloc_fail_after(-1);
        EXPECT_SAYING(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY, "request %ld: %s", n,
                      err.message);
        EXPECT(st == IMREC_OK || err.message[0] != '\0');
        if (st == IMREC_OK)
            expect_same(&want, &got, "with little memory");
        done += st == IMREC_OK;
        EXPECT_SAYING(imrec_alloc_live() == before, "request %ld", n);
        notes_free(&got);
    }
    EXPECT(n > 60);
    notes_free(&want);
    free(json);
}
END_TEST

START_TEST(a_call_that_lacked_memory_can_be_made_again) /* loop: kinds */
{
    const char *const *keys = set_way(_i * SET_ORDERS + 3);
    struct imrec_minibatch_source *s = mb_open(keys);
    struct notes want = {0}, got = {0};
    char *begin = position_behind(keys, 0);
    set_follow(s, 0, 20, &want, NULL);
    for (long n = 0; n < 40; n++) {
        struct imrec_minibatch m;
        uint64_t i = 0;
        notes_free(&got);
        EXPECT(imrec_minibatch_seek(s, begin, &err) == IMREC_OK);
        imrec_alloc_fail_after(n);
        while (i < 20) {
            const char *json;
            enum imrec_status st = imrec_minibatch_next(s, set_size(i), NULL, 0, &m, &err);
            if (st == IMREC_OK) {
                i++;
                mb_note(&got, &m, 4);
                continue;
            }
            EXPECT_SAYING(st == IMREC_ERR_NO_MEMORY, "%s", err.message);
            imrec_alloc_fail_after(-1);
            EXPECT(imrec_minibatch_position(s, &json, &err) == IMREC_OK);
            char *here = strdup(json);
            EXPECT(imrec_minibatch_seek(s, here, &err) == IMREC_OK);
            free(here);
        }
        imrec_alloc_fail_after(-1);
        expect_same(&want, &got, "after a failure");
    }
    imrec_minibatch_source_close(s);
    notes_free(&want);
    notes_free(&got);
    free(begin);
}
END_TEST

/* ---- storage ----------------------------------------------------------------------------- */

static char faulty[700];

/* mem://long.ctf's twin on disk, or the binary file, behind a script. */
static const char *const *faulty_keys(int binary, const struct fault_script *script)
{
    EXPECT(fault_set("test", script, NULL) == IMREC_OK);
    snprintf(faulty, sizeof(faulty), "file=fault://script=test:%s",
             binary ? set_cbf + 5 : tmp_path(&set_dir, "long.ctf"));
    static const char *const text[] = {faulty, SET_A_B, NULL}, *const bin[] = {faulty, NULL};
    return binary ? bin : text;
}

static enum imrec_status
read_all(const char *const *keys, uint64_t size, uint64_t most, struct notes *to)
{
    struct imrec_minibatch_source *s;
    struct imrec_minibatch m;
    enum imrec_status st = mb_try_open(keys, &s, &err);
    for (uint64_t i = 0; i < most && st == IMREC_OK; i++) {
        st = imrec_minibatch_next(s, size, NULL, 0, &m, &err);
        if (st == IMREC_OK)
            mb_note(to, &m, 4);
    }
    imrec_minibatch_source_close(s);
    return st;
}

START_TEST(short_and_interrupted_reads_change_nothing) /* loop: text, binary */
{
    const struct fault_script good = {0}, scripts[] = {{.short_bytes = 7}, {.interrupt = 3}};
    struct notes want = {0};
    EXPECT(read_all(mb_keys(faulty_keys(_i, &good), MB_KEYS("max_sweeps=2")), 9, UINT64_MAX,
                    &want) == IMREC_END);
    for (size_t i = 0; i < 2; i++) {
        struct notes got = {0};
        EXPECT(read_all(mb_keys(faulty_keys(_i, &scripts[i]), MB_KEYS("max_sweeps=2")), 9,
                        UINT64_MAX, &got) == IMREC_END);
        expect_same(&want, &got, "short reads");
        notes_free(&got);
    }
    notes_free(&want);
}
END_TEST

START_TEST(what_cannot_be_read_is_an_error_that_names_the_file) /* loop: text, binary */
{
    for (uint64_t n = 1; n < 60; n++) {
        struct notes got = {0};
        const struct fault_script script = {.read_eio = n};
        const enum imrec_status st = read_all(
            mb_keys(faulty_keys(_i, &script), MB_KEYS("max_sweeps=1")), 9, UINT64_MAX, &got);
        EXPECT_SAYING(st == IMREC_END || st == IMREC_ERR_IO, "%s", err.message);
        if (st == IMREC_ERR_IO)
            EXPECT_SAYING(strstr(err.message, _i ? "long.cbf" : "long.ctf") != NULL, "%s",
                          err.message);
        EXPECT(n > 5 || st == IMREC_ERR_IO);
        notes_free(&got);
    }
}
END_TEST

/* Minibatches before the error, and the error, are the same for any threads and any way ahead. */
static void check_the_same_end(const char *const *keys, uint64_t size)
{
    static const char *const with[][2] = {{"threads=1", "prefetch=1"},
                                          {"threads=8", "prefetch=1"},
                                          {"threads=8", "prefetch=7"},
                                          {"threads=2", "prefetch=3"}};
    struct notes want = {0};
    struct imrec_error first = {0};
    for (size_t i = 0; i < 12; i++) {
        struct notes got = {0};
        const enum imrec_status st =
            read_all(mb_keys(keys, MB_KEYS(with[i % 4][0], with[i % 4][1])), size, 60, &got);
        EXPECT(st != IMREC_OK && st != IMREC_END);
        if (i == 0) {
            want = got;
            first = err;
            continue;
        }
        expect_same(&want, &got, "before the error");
        EXPECT_SAYING(strcmp(first.message, err.message) == 0, "%s\n%s", first.message,
                      err.message);
        notes_free(&got);
    }
    notes_free(&want);
}

START_TEST(a_bad_page_gives_the_same_error_at_the_same_minibatch) /* loop: text, binary */
{
    /* the index of a text is made of all of it: that reading is good, what comes later is not */
    struct imrec_minibatch_source *s;
    struct imrec_minibatch m;
    const struct fault_script good = {0};
    const char *const *keys = faulty_keys(_i, &good);
    const char *const with[] = {"threads=1", "threads=8"};
    uint64_t at[2] = {0};
    char said[2][600];
    for (size_t i = 0; i < 2; i++) {
        EXPECT(fault_set("test", &good, NULL) == IMREC_OK);
        s = mb_open(mb_keys(keys, MB_KEYS(with[i], "randomizationWindow=2")));
        EXPECT(fault_set("test", &(struct fault_script){.bad_begin = 4096, .bad_end = 4097},
                         NULL) == IMREC_OK);
        enum imrec_status st = IMREC_OK;
        while ((st = imrec_minibatch_next(s, 8, NULL, 0, &m, &err)) == IMREC_OK)
            at[i]++;
        EXPECT(st == IMREC_ERR_IO);
        snprintf(said[i], sizeof(said[i]), "%s", err.message);
        EXPECT(imrec_minibatch_next(s, 8, NULL, 0, &m, &err) == IMREC_ERR_IO); /* stays so */
        EXPECT(strcmp(said[i], err.message) == 0);
        /* the disk is mended: the same place goes on */
        const char *json;
        EXPECT(imrec_minibatch_position(s, &json, NULL) == IMREC_OK);
        char *here = strdup(json);
        EXPECT(fault_set("test", &good, NULL) == IMREC_OK);
        EXPECT(imrec_minibatch_seek(s, here, &err) == IMREC_OK);
        EXPECT(imrec_minibatch_next(s, 8, NULL, 0, &m, &err) == IMREC_OK);
        free(here);
        imrec_minibatch_source_close(s);
    }
    EXPECT(at[0] == at[1]);
    EXPECT_SAYING(strcmp(said[0], said[1]) == 0, "%s\n%s", said[0], said[1]);
}
END_TEST

START_TEST(a_file_that_shrinks_while_it_is_open_is_an_error) /* loop: text, binary */
{
    const char *path = _i ? set_cbf + 5 : tmp_path(&set_dir, "long.ctf");
    snprintf(faulty, sizeof(faulty), "file=%s", path);
    const char *const text[] = {faulty, SET_A_B, NULL}, *const bin[] = {faulty, NULL};
    struct imrec_minibatch_source *s = mb_open(
        mb_keys(_i ? bin : text, MB_KEYS("randomizationWindow=2"))); /* not all is read ahead */
    struct imrec_minibatch m;
    enum imrec_status st = imrec_minibatch_next(s, 4, NULL, 0, &m, &err);
    EXPECT(st == IMREC_OK);
    EXPECT(truncate(path, 700) == 0);
    for (int i = 0; i < 1000 && st == IMREC_OK; i++)
        st = imrec_minibatch_next(s, 4, NULL, 0, &m, &err);
    EXPECT(st != IMREC_OK && st != IMREC_END);
    EXPECT_SAYING(strstr(err.message, _i ? "long.cbf" : "long.ctf") != NULL, "%s", err.message);
    imrec_minibatch_source_close(s);
}
END_TEST

/* ---- bad data ---------------------------------------------------------------------------- */

enum { BAD_LINES = 300, BAD_EVERY = 13 };

/* One-sample sequences; every thirteenth has a value too many in B, which is all it has besides
 * A; every 26th is bad in both, and has nothing left. */
static void make_bad(void)
{
    struct buf b = BUF_INIT(1 << 20);
    for (unsigned i = 0; i < BAD_LINES; i++) {
        const bool bad = i % BAD_EVERY == 5, worse = i % (2 * BAD_EVERY) == 5;
        set_print(&b, "|A %u 1%s |B %u%s\n", i, worse ? " 7" : "", i, bad ? " 8" : "");
    }
    set_put("bad.ctf", &b);
}

static const char *const bad_keys[] = {
    "file=mem://bad.ctf",
    "input.A.format=dense",
    "input.A.dim=2",
    "input.B.format=dense",
    "input.B.dim=1",
    "chunkSizeInBytes=120",
    "traceLevel=0",
    "max_sweeps=2",
    "randomizationWindow=4",
    "minibatchSize=10",
    NULL,
};

static uint64_t bad_samples(void)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < BAD_LINES; i++)
        n += (i % BAD_EVERY == 5) + (i % (2 * BAD_EVERY) == 5);
    return n;
}

START_TEST(the_budget_ends_at_the_same_minibatch_for_any_threads) /* loop: errors allowed */
{
    char budget[40];
    make_bad();
    snprintf(budget, sizeof(budget), "maxErrors=%d", _i);
    check_the_same_end(mb_keys(bad_keys, MB_KEYS(budget)), 10);
    snprintf(budget, sizeof(budget), "maxErrors=%d", (int)bad_samples() - (_i % 2));
    struct notes n = {0}; /* the last one is one too many, or just allowed */
    EXPECT(read_all(mb_keys(bad_keys, MB_KEYS(budget)), 10, UINT64_MAX, &n) ==
           (_i % 2 ? IMREC_ERR_CORRUPT : IMREC_END));
    notes_free(&n);
}
END_TEST

struct counted {
    uint64_t minibatches, errors, dropped, messages;
    char *message[200];
};

static struct counted count_bad(const char *threads, bool varied)
{
    struct imrec_minibatch_source *s = mb_open(mb_keys(bad_keys, MB_KEYS(threads, "maxErrors=99")));
    struct counted c = {0};
    struct notes n = {0};
    struct imrec_minibatch_stats stats;
    uint64_t before = 0;
    while (mb_follow(s, varied ? set_size(c.minibatches) : 0, 1, 4, &n) == IMREC_OK) {
        c.minibatches++;
        imrec_minibatch_get_stats(s, &stats);
        EXPECT(stats.errors >= before); /* each is known when its minibatch is there */
        for (uint64_t i = before; i < stats.errors; i++)
            EXPECT(imrec_minibatch_dropped(s, i) != NULL);
        EXPECT(imrec_minibatch_dropped(s, stats.errors) == NULL);
        before = stats.errors;
    }
    imrec_minibatch_get_stats(s, &stats);
    c.errors = stats.errors;
    c.dropped = stats.dropped_sequences;
    for (const char *m; (m = imrec_minibatch_dropped(s, c.messages)) != NULL; c.messages++)
        c.message[c.messages] = strdup(m);
    imrec_minibatch_source_close(s);
    notes_free(&n);
    return c;
}

START_TEST(what_is_dropped_is_counted_once_and_told_in_one_order) /* loop: the same, varied sizes */
{
    static const char *const with[] = {"threads=1", "threads=8", "threads=3"};
    make_bad();
    struct counted want = count_bad(with[0], _i);
    EXPECT(want.errors == bad_samples());
    EXPECT(want.messages == want.errors);
    EXPECT(want.dropped == 2 * (bad_samples() - BAD_LINES / BAD_EVERY)); /* in two sweeps */
    for (int round = 0; round < 6; round++) {
        struct counted got = count_bad(with[round % 3], _i);
        EXPECT(got.minibatches == want.minibatches && got.errors == want.errors);
        EXPECT(got.dropped == want.dropped && got.messages == want.messages);
        for (uint64_t i = 0; i < got.messages; i++) {
            EXPECT_SAYING(strcmp(got.message[i], want.message[i]) == 0, "%s", got.message[i]);
            free(got.message[i]);
        }
    }
    for (uint64_t i = 0; i < want.messages; i++)
        free(want.message[i]);
}
END_TEST

START_TEST(trace_level_says_what_is_logged) /* loop: level */
{
    enum { LISTED = 10 };
    char level[40], right[100];
    make_bad();
    snprintf(level, sizeof(level), "traceLevel=%d", _i);
    snprintf(right, sizeof(right), ": samples dropped: %d; not listed above: %d",
             (int)bad_samples(), (int)bad_samples() - LISTED);
    heard_begin();
    struct notes n = mb_all(mb_keys(bad_keys, MB_KEYS("maxErrors=99", level)), 0, UINT64_MAX);
    EXPECT(bad_samples() > LISTED);
    EXPECT(heard.n == (_i == 0 ? 0 : LISTED + 1)); /* ten, and their number */
    EXPECT(_i == 0 || strstr(heard.line[LISTED], right) != NULL);
    heard_end();
    notes_free(&n);
}
END_TEST

START_TEST(an_error_stays_and_a_position_before_it_meets_it_again)
{
    struct imrec_minibatch m;
    char first[600];
    make_bad();
    struct imrec_minibatch_source *s = mb_open(mb_keys(bad_keys, MB_KEYS("maxErrors=3")));
    enum imrec_status st;
    uint64_t before = 0, again = 0;
    const char *json;
    EXPECT(imrec_minibatch_position(s, &json, NULL) == IMREC_OK);
    char *begin = strdup(json);
    while ((st = imrec_minibatch_next(s, 0, NULL, 0, &m, &err)) == IMREC_OK)
        before++;
    EXPECT(st == IMREC_ERR_CORRUPT);
    snprintf(first, sizeof(first), "%s", err.message);
    EXPECT(imrec_minibatch_seek(s, begin, &err) == IMREC_OK);
    while ((st = imrec_minibatch_next(s, 0, NULL, 0, &m, &err)) == IMREC_OK)
        again++;
    EXPECT(st == IMREC_ERR_CORRUPT && before == again);
    EXPECT_SAYING(strcmp(first, err.message) == 0, "%s\n%s", first, err.message);
    imrec_minibatch_source_close(s);
    free(begin);
}
END_TEST

/* ---- positions --------------------------------------------------------------------------- */

START_TEST(hostile_positions_are_refused_and_change_nothing) /* loop: whole, truncated */
{
    static const char *const edits[][2] = {
        {"\"version\": 1", "\"version\": 2"},
        {"\"data\": \"", "\"data\": \"0"},
        {"\"sequence\": ", "\"sequence\": 9999"},
        {"\"sequence\": ", "\"sequence\": -"},
        {"\"position\": ", "\"position\": 1"},
        {"\"sweep\": ", "\"sweep\": 8"},
        {"\"slots\": [", "\"slots\": [[0, 0, 9223372036854775807, 1], "},
        {"\"slots\": [", "\"slots\": [[1048576, 0, 0, 0], "},
        {"\"slots\": [", "\"slots\": [[0, 0, 0, 99999], "},
        {"\"slots\": [", "\"slots\": [[0, 0, 0], "},
        {"\"slots\": [", "\"slots\": [\"a\", "},
        {"\"epoch_labels\": ", "\"epoch_labels\": 99999"},
        {"\"randomization_seed\": ", "\"randomization_seed\": 1"},
        {"\"truncation_length\": ", "\"truncation_length\": 1"},
        {"\"position\": ", "\"position\": null, \"x\": "},
        {"{", ""},
        {"{", "[{"},
        {"\"labels\": ", "\"labels\": 1.5, \"x\": "},
    };
    const char *const *keys = set_way((_i ? 7 : 1) * SET_ORDERS + 2);
    struct imrec_minibatch_source *s = mb_open(keys);
    struct notes want = {0}, got = {0}, fresh = mb_all(keys, 12, 20);
    char *json = position_behind(keys, 2);
    mb_follow(s, 12, 5, 4, &want);
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        char bad[4096];
        const char *at = strstr(json, edits[i][0]);
        EXPECT(at != NULL);
        snprintf(bad, sizeof(bad), "%.*s%s%s", (int)(at - json), json, edits[i][1],
                 at + strlen(edits[i][0]));
        err.message[0] = '\0';
        const enum imrec_status st = imrec_minibatch_seek(s, bad, &err);
        if (_i == 0 && strstr(edits[i][0], "slots") != NULL && st == IMREC_OK)
            continue; /* nobody asks for slots without truncation */
        EXPECT_SAYING(st != IMREC_OK && err.message[0] != '\0', "edit %zu: %s", i, bad);
    }
    EXPECT(imrec_minibatch_seek(s, "", &err) != IMREC_OK);
    if (_i == 1) { /* goes on where it stood */
        mb_follow(s, 12, 15, 4, &got);
        expect_same_from(&fresh, 5, &got, "behind what was refused");
    }
    imrec_minibatch_source_close(s);
    notes_free(&want);
    notes_free(&got);
    notes_free(&fresh);
    free(json);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("minibatch_faults");
    TCase *tc = tcase_create("faults");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, sets_make, teardown);
    tcase_add_loop_test(tc, no_memory_is_an_error_and_nothing_leaks, 0, SET_KINDS);
    tcase_add_loop_test(tc, a_call_that_lacked_memory_can_be_made_again, 0, SET_KINDS);
    tcase_add_loop_test(tc, short_and_interrupted_reads_change_nothing, 0, 2);
    tcase_add_loop_test(tc, what_cannot_be_read_is_an_error_that_names_the_file, 0, 2);
    tcase_add_loop_test(tc, a_bad_page_gives_the_same_error_at_the_same_minibatch, 0, 2);
    tcase_add_loop_test(tc, a_file_that_shrinks_while_it_is_open_is_an_error, 0, 2);
    tcase_add_loop_test(tc, the_budget_ends_at_the_same_minibatch_for_any_threads, 0, 12);
    tcase_add_loop_test(tc, what_is_dropped_is_counted_once_and_told_in_one_order, 0, 2);
    tcase_add_loop_test(tc, trace_level_says_what_is_logged, 0, 3);
    tcase_add_test(tc, an_error_stays_and_a_position_before_it_meets_it_again);
    tcase_add_loop_test(tc, hostile_positions_are_refused_and_change_nothing, 0, 2);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
