#include "base/alloc.h"
#include "im2rec/set/checked_lines.h"
#include "im2rec/set/journal.h"
#include "im2rec/shard/shard_kinds.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

enum { IMAGES = 12, EVERY = 4 };

static struct tmpdir dir;
static struct imrec_error err;
static char uri[512];

static void setup(void)
{
    dir = tmpdir_make();
    snprintf(uri, sizeof(uri), "%s", tmp_path(&dir, "set.journal"));
}

static void teardown(void)
{
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static struct outcome image(uint64_t i)
{
    struct outcome o = {.index = i, .class_index = (int64_t)(i % 3) - 1};
    if (i % 5 == 2) {
        o.reason = REASON_DAMAGED;
        return o;
    }
    o.width = (uint32_t)(100 + i);
    o.height = 70;
    o.warnings = i % 2;
    o.file_bytes = i * 1000000007;
    snprintf(o.kind, sizeof(o.kind), "jpeg progressive");
    return o;
}

static struct journal_mark mark_after(uint64_t i)
{
    return (struct journal_mark){i, i, 1, {i / 8, i, 10 * i, 7, i, 8, 9, 10}, 77 * i, 11, 0};
}

/* A journal of IMAGES with a mark behind each EVERY; left behind as an interrupted run does. */
static void write_journal(void)
{
    struct journal j;
    static const char line[] = "{\"path\":\"a b\"}";
    const struct bytes report = {(const uint8_t *)line, sizeof(line) - 1};
    ck_assert_int_eq(journal_begin(uri, 0xabcdef, IMAGES, shard_kinds[IMREC_PACK_REC], &j, &err),
                     IMREC_OK);
    for (uint64_t i = 0; i < IMAGES; i++) {
        const struct outcome o = image(i);
        const bool told = o.reason != REASON_NONE;
        ck_assert_int_eq(journal_image(&j, &o, told ? report : (struct bytes){NULL, 0}, &err),
                         IMREC_OK);
        if (i == 7) {
            const struct written_shard s = {0, 8, 80, 7, 8, 8, 9, 10};
            ck_assert_int_eq(journal_end_shard(&j, &s, &err), IMREC_OK);
        }
        const struct journal_mark m = mark_after(i + 1);
        if ((i + 1) % EVERY == 0)
            ck_assert_int_eq(journal_mark(&j, &m, &err), IMREC_OK);
    }
    journal_leave(&j);
}

struct seen {
    uint64_t images, shards, reports;
};

static enum imrec_status
see_image(void *user, const struct outcome *o, struct bytes report, struct imrec_error *e)
{
    struct seen *s = user;
    const struct outcome want = image(s->images++);
    (void)e;
    ck_assert_uint_eq(o->index, want.index);
    ck_assert_int_eq(o->reason, want.reason);
    if (o->reason == REASON_NONE) {
        ck_assert_uint_eq(o->width, want.width);
        ck_assert_uint_eq(o->height, want.height);
        ck_assert_uint_eq(o->warnings, want.warnings);
        ck_assert_int_eq(o->class_index, want.class_index);
        ck_assert_uint_eq(o->file_bytes, want.file_bytes);
        ck_assert_str_eq(o->kind, want.kind);
    }
    s->reports += report.n != 0;
    return IMREC_OK;
}

static enum imrec_status see_shard(void *user, const struct written_shard *s, struct imrec_error *e)
{
    (void)e;
    ((struct seen *)user)->shards++;
    ck_assert_uint_eq(s->number, 0);
    ck_assert_uint_eq(s->records, 8);
    ck_assert_uint_eq(s->crc_crc, 10);
    return IMREC_OK;
}

static uint64_t most_skips = UINT64_MAX;

static enum imrec_status
resume(uint64_t print, uint64_t total, struct seen *seen, struct journal_mark *m)
{
    struct journal j;
    const struct journal_visitor v = {.user = seen, .image = see_image, .shard = see_shard};
    *seen = (struct seen){0};
    const enum imrec_status st = journal_resume(uri, print, total, most_skips, &v, &j, m, &err);
    journal_leave(&j);
    return st;
}

CASE(.setup = setup, .teardown = teardown)

TEST(what_was_written_is_read_back)
{
    struct seen seen;
    struct journal_mark m;
    write_journal();
    ck_assert_msg(resume(0xabcdef, IMAGES, &seen, &m) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(seen.images, IMAGES);
    ck_assert_uint_eq(seen.shards, 1);
    ck_assert_uint_eq(seen.reports, 2);
    const struct journal_mark want = mark_after(IMAGES);
    ck_assert(memcmp(&m, &want, sizeof(m)) == 0);
}

TEST(a_journal_cut_anywhere_says_what_its_last_whole_mark_says)
{
    struct seen seen;
    struct journal_mark m;
    write_journal();
    const char *part = tmp_path(&dir, "set.journal.part");
    const long size = tmp_size(part);
    uint64_t before = IMAGES;
    for (long n = size - 1; n >= 0; n--) {
        ck_assert_int_eq(truncate(part, n), 0);
        const enum imrec_status st = resume(0xabcdef, IMAGES, &seen, &m);
        if (st == IMREC_END) { /* not even the first line is whole */
            ck_assert_uint_eq(before, 0);
            continue;
        }
        ck_assert_msg(st == IMREC_OK, "%s", err.message);
        ck_assert_uint_eq(seen.images, m.next);
        ck_assert_uint_eq(m.next % EVERY, 0);
        ck_assert_uint_le(m.next, before);
        before = m.next;
        n = tmp_size(part) < n ? tmp_size(part) : n; /* what follows the mark is cut off */
    }
    ck_assert_uint_eq(before, 0);
}

TEST(a_flipped_byte_ends_what_counts_as_done)
{
    struct seen seen;
    struct journal_mark m;
    write_journal();
    const char *part = tmp_path(&dir, "set.journal.part");
    const long size = tmp_size(part);
    FILE *f = fopen(part, "r+b");
    fseek(f, size / 2, SEEK_SET);
    const int c = fgetc(f);
    fseek(f, size / 2, SEEK_SET);
    fputc(c ^ 1, f);
    fclose(f);
    ck_assert_int_eq(resume(0xabcdef, IMAGES, &seen, &m), IMREC_OK);
    ck_assert_uint_lt(m.next, IMAGES);
    ck_assert_uint_eq(seen.images, m.next);
}

LOOP_TEST(marks_behind_too_many_skips_do_not_count, 0, 4)
{
    static const uint64_t done[] = {0, EVERY, IMAGES, IMAGES}; /* 2 and 7 were skipped */
    struct seen seen;
    struct journal_mark m;
    write_journal();
    most_skips = (uint64_t)_i;
    ck_assert_msg(resume(0xabcdef, IMAGES, &seen, &m) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(m.next, done[_i]);
    ck_assert_uint_eq(seen.images, m.next);
}

TEST(a_line_that_ends_before_the_kind_of_an_image_is_none)
{
    static const char whole[] = "p 12 640 480 1 -1 30000 jpeg";
    char head[CHECKED_HEAD_BYTES];
    struct outcome o;
    for (int n = 0; n < (int)strlen("p 12 640 480 1 -1 30000 "); n++) {
        memset(head, ' ', sizeof(head));
        snprintf(head, sizeof(head), "%.*s", n, whole);
        ck_assert_msg(!checked_outcome_read(head, &o), "'%s'", head);
    }
    ck_assert(checked_outcome_read(whole, &o) && strcmp(o.kind, "jpeg") == 0);
    ck_assert(o.index == 12 && o.file_bytes == 30000 && o.class_index == -1);
}

TEST(a_journal_of_another_run_is_refused)
{
    struct seen seen;
    struct journal_mark m;
    write_journal();
    ck_assert_int_eq(resume(0xabcdee, IMAGES, &seen, &m), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "other options"));
    ck_assert_int_eq(resume(0xabcdef, IMAGES + 1, &seen, &m), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "over 12 images, now there are 13"));
    ck_assert_uint_eq(seen.images, 0);
}
