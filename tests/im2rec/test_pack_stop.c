/* Who asks a run to end is heard soon, whatever it does at the moment; the run can be resumed, and
 * ends as one that was never disturbed. */
#include "augment/resize/resize.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "imrec/plan.h"
#include "imrec/reshape.h"
#include "storage/fault.h"
#include "tests/support/built.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

#include <time.h>

#define DEADLINE_NS ((uint64_t)5000000000) /* of the 2 s that are promised, on a busy machine */

static struct packing p;
static const char *out;

static void setup(void)
{
    packing_make(&p, true);
    p.o.threads = 2;
}

static void teardown(void)
{
    packing_end(&p);
}

static void set_script(const struct fault_script *script)
{
    out = packing_scripted(&p, "a.rec", script);
}

/* ---- who asks ----------------------------------------------------------------------------- */

struct asker {
    bool (*now)(const struct imrec_progress *progress);
    uint64_t since_ns; /* 0: has not asked yet */
    double since_cpu;
};

static double cpu_seconds(void)
{
    struct timespec t;
    ck_assert_int_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool ask(void *user, const struct imrec_progress *progress)
{
    struct asker *a = user;
    if (a->since_ns == 0 && a->now(progress)) {
        a->since_ns = clock_ns();
        a->since_cpu = cpu_seconds();
    }
    return a->since_ns == 0;
}

static enum imrec_status pack(struct asker *a)
{
    const struct imrec_pack_task task = {
        .root = p.source, .out = out, .progress = a != NULL ? ask : NULL, .user = a};
    return imrec_pack(&task, &p.o, &p.result, &p.err);
}

static void expect_heard(bool (*now)(const struct imrec_progress *progress))
{
    struct asker a = {.now = now};
    ck_assert_msg(pack(&a) == IMREC_ERR_CANCELLED, "%s", p.err.message);
    ck_assert_str_eq(p.err.message, "interrupted; resume continues");
    ck_assert_uint_lt(clock_ns() - a.since_ns, DEADLINE_NS);
    ck_assert(!is_there(&p, "a.manifest.json") && !is_there(&p, "a.lock.part"));
}

static void expect_resumed(void)
{
    const struct fault_script healthy = {0};
    set_script(&healthy);
    p.o.resume = true;
    ck_assert_msg(pack(NULL) == IMREC_OK, "%s", p.err.message);
    p.o.resume = false;
    ck_assert(!is_there(&p, "a.journal.part"));
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "b")), IMREC_OK);
    expect_same_manifest(&p, "a", "b"); /* checksums of all files */
}

/* ---- at what it asks --------------------------------------------------------------------------
 */

static bool some_names_are_there(const struct imrec_progress *progress)
{
    (void)progress;
    return fault_counts("packing").renames >= 3;
}

CASE(.timeout = 250, .setup = setup, .teardown = teardown)

/* 60 shards of three files, each of which takes a tenth of a second to rename; or 9 of one, a whole
 * second. */
LOOP_TEST(while_files_get_their_names, 0, 2)
{
    const struct fault_script slow = {.rename_ms = _i == 0 ? 100 : 1000};
    set_script(&slow);
    p.o.format = _i == 0 ? IMREC_PACK_REC : IMREC_PACK_CBF;
    p.o.shards = _i == 0 ? 60 : 9;
    expect_heard(some_names_are_there);
    ck_assert(is_there(&p, _i == 0 ? "a-00000-of-00060.rec" : "a-00000-of-00009.cbf"));
    expect_resumed();
}

static bool some_shards_are_done(const struct imrec_progress *progress)
{
    return progress->done == progress->total && progress->total != 0 &&
           fault_counts("packing").syncs > 150;
}

/* More shards than images: the others are made at the end. */
TEST(while_empty_shards_are_made)
{
    const struct fault_script slow = {.latency_us = 1};
    set_script(&slow);
    p.o.shards = 400;
    expect_heard(some_shards_are_done);
    expect_resumed();
}

enum { LARGE = 8 << 20, LARGE_FILES = 10 };

static bool all_is_written(const struct imrec_progress *progress)
{
    (void)progress;
    return fault_counts("packing").bytes_written > (uint64_t)LARGE * (LARGE_FILES - 1);
}

/* 80 MB for a disk that takes 8 MB a second: a sync of all would take ten. */
TEST(while_a_slow_disk_is_waited_for)
{
    const struct fault_script slow = {.push_kb_per_s = 8000};
    char name[64];
    uint8_t *noise = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        noise[i] = (uint8_t)(i * 2654435761u >> 13);
    for (int i = 0; i < LARGE_FILES; i++) {
        snprintf(name, sizeof(name), "source/cow/large%d.jpg", i);
        tmp_write(&p.dir, name, noise, LARGE);
    }
    free(noise);
    p.o.resize = 0;
    p.o.pass_through = true;
    p.o.check = IMREC_CHECK_NONE;
    p.o.shuffle = false;
    p.o.threads = 1;
    p.o.memory = (int64_t)4 << 30;
    set_script(&slow);
    expect_heard(all_is_written);
    expect_resumed();
}

static uint64_t begun_ns;

static bool it_is_under_way(const struct imrec_progress *progress)
{
    return progress->total != 0 && clock_ns() - begun_ns > 700000000;
}

/* One image whose encoding takes a minute of the processor's. */
LOOP_TEST(while_one_image_is_encoded, built_with("png") ? 0 : 1, 2)
{
    struct asker a = {.now = it_is_under_way};
    const struct fault_script healthy = {0};
    make_image(&p.dir, "source/ant/0.jpg", 6000, 6000, 1);
    set_script(&healthy);
    p.o.resize = 0;
    p.o.shuffle = false;
    p.o.threads = 1;
    if (_i == 0) {
        p.o.encoding = IMREC_ENCODE_PNG;
        p.o.quality = 9;
    } else {
        p.o.resize = 12000; /* 144 million pixels */
        p.o.inter_method = RESIZE_LANCZOS;
        p.o.max_pixels = (int64_t)1 << 30;
        p.o.memory = (int64_t)8 << 30;
    }
    begun_ns = clock_ns();
    ck_assert_msg(pack(&a) == IMREC_ERR_CANCELLED, "%s", p.err.message);
    ck_assert(cpu_seconds() - a.since_cpu < 2);
    ck_assert_uint_eq(p.result.skipped, 0); /* and it is not taken for a bad one */
    ck_assert(is_there(&p, "a.journal.part"));
    ck_assert_int_eq(unlink(tmp_path(&p.dir, "source/ant/0.jpg")), 0);
}

static bool at_once(const struct imrec_progress *progress)
{
    (void)progress;
    return true;
}

TEST(before_anything_is_found)
{
    struct asker a = {.now = at_once};
    const struct fault_script healthy = {0};
    char *text = malloc(64 << 20), *at = text;
    while (at < text + (63 << 20)) /* a list that takes a while to be counted */
        at += sprintf(at, "%d\t0\tant/00.jpg\n", (int)(at - text));
    tmp_write(&p.dir, "l.lst", text, (size_t)(at - text));
    free(text);
    set_script(&healthy);
    const struct imrec_pack_task list = {
        .list = kept_path(&p, "l.lst"), .root = p.source, .out = out, .progress = ask, .user = &a};
    ck_assert_int_eq(imrec_pack(&list, &p.o, &p.result, &p.err), IMREC_ERR_CANCELLED);
    ck_assert(a.since_ns != 0);
    ck_assert(!is_there(&p, "a.lock.part"));
}

/* ---- planning ----------------------------------------------------------------------------- */

enum { NAME = 4000, NAMES = 9200 };

static bool the_list_is_written(const struct imrec_progress *progress)
{
    (void)progress;
    return fault_counts("packing").bytes_written > (uint64_t)NAME * NAMES;
}

/* Annotations of images with long names: they need not be there. */
static void write_long_names(void)
{
    char name[NAME + 1];
    FILE *f = fopen(tmp_path(&p.dir, "a.json"), "wb");
    memset(name, 'n', NAME);
    name[NAME] = '\0';
    ck_assert_ptr_nonnull(f);
    fputs("{\"images\": [", f);
    for (int i = 0; i < NAMES; i++)
        fprintf(f, "%s{\"id\": %d, \"file_name\": \"%s\", \"width\": 9, \"height\": 9}",
                i != 0 ? "," : "", i, name);
    fputs("], \"annotations\": [], \"categories\": [{\"id\": 1, \"name\": \"bug\"}]}", f);
    ck_assert_int_eq(fclose(f), 0);
}

/* A list of 37 MB for a disk that takes 4 MB a second. */
TEST(while_the_list_of_a_plan_is_written)
{
    const struct fault_script slow = {.push_kb_per_s = 4000}, healthy = {0};
    struct asker a = {.now = the_list_is_written};
    char plan[512];
    make_folder(&p.dir, "plan"); /* a store makes none */
    write_long_names();
    p.o.annotations = kept_path(&p, "a.json");
    p.o.shuffle = false;
    set_script(&slow);
    snprintf(plan, sizeof(plan), "fault://script=packing:%s", tmp_path(&p.dir, "plan"));
    const struct imrec_pack_task task = {.root = p.source, .out = out, .progress = ask, .user = &a};
    ck_assert_msg(imrec_plan_make(plan, &task, &p.o, 3, NULL, &p.err) == IMREC_ERR_CANCELLED, "%s",
                  p.err.message);
    ck_assert(a.since_ns != 0);
    ck_assert_uint_lt(clock_ns() - a.since_ns, DEADLINE_NS);
    ck_assert(!is_there(&p, "plan/list.lst"));
    set_script(&healthy);
    const struct imrec_pack_task again = {.root = p.source, .out = out};
    ck_assert_msg(imrec_plan_make(plan, &again, &p.o, 3, NULL, &p.err) == IMREC_OK, "%s",
                  p.err.message);
    ck_assert(tmp_size(tmp_path(&p.dir, "plan/list.lst")) > (long)NAME * NAMES);
}

/* ---- appending ---------------------------------------------------------------------------- */

static bool the_new_ones_are_packed(const struct imrec_progress *progress)
{
    (void)progress;
    return is_there(&p, "a.appended.manifest.json");
}

TEST(while_new_images_are_joined_to_a_set)
{
    struct asker a = {.now = the_new_ones_are_packed};
    char rec[512];
    snprintf(rec, sizeof(rec), "%s", tmp_path(&p.dir, "a.rec"));
    const struct imrec_pack_task task = {.root = p.source, .out = rec, .progress = ask, .user = &a};
    struct imrec_dataset_card card;
    p.o.augment = "rand_mirror=1";
    p.o.copies = 100; /* the caller's wish is looked at every thousand records */
    ck_assert_int_eq(packing_run(&p, rec), IMREC_OK);
    ck_assert_int_eq(imrec_append(&task, &p.o, &p.result, &p.err), IMREC_ERR_CANCELLED);
    ck_assert_ptr_nonnull(strstr(p.err.message, "which is as it was"));
    ck_assert_int_eq(imrec_dataset_card(rec, NULL, NULL, &card, &p.err), IMREC_OK);
    ck_assert_uint_eq(card.records, 100 * MADE_GOOD);
    imrec_dataset_card_free(&card);
    const struct imrec_pack_task again = {.root = p.source, .out = rec};
    ck_assert_msg(imrec_append(&again, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_int_eq(imrec_dataset_card(rec, NULL, NULL, &card, &p.err), IMREC_OK);
    ck_assert_uint_eq(card.records, 200 * MADE_GOOD);
    imrec_dataset_card_free(&card);
}
