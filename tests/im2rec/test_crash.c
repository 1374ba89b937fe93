/* Machines that stop while a set is packed, resumed, replaced, appended to or made of another: no
 * set is whole but wrong, and the run, resumed or begun again, ends as an undisturbed one does. */
#include "base/alloc.h"
#include "imrec/reshape.h"
#include "tests/support/crash.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

static struct packing p;

typedef enum imrec_status run_fn(const char *out);

static struct crash of;     /* the run in hand, its states */
static run_fn *run, *again; /* what is stopped, and what goes on */

static char *in(const char *folder, const char *name)
{
    static char paths[4][600];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof(paths[0]), "%.256s/%s%s%s", p.dir.path, folder,
             name[0] != '\0' ? "/" : "", name);
    return path;
}

/* ---- what is run -------------------------------------------------------------------------------
 */

static enum imrec_status run_pack(const char *out)
{
    return packing_run(&p, out);
}

static enum imrec_status run_append(const char *out)
{
    const struct imrec_pack_task task = {.root = p.source, .out = out};
    return imrec_append(&task, &p.o, &p.result, &p.err);
}

static const char *word; /* of the toolbox's commands that make sets of sets */

static enum imrec_status run_reshape(const char *out)
{
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    const char *uris[] = {in("a", "a.rec"), in("a", "a.rec")};
    const bool is_merge = strcmp(word, "merge") == 0;
    imrec_reshape_options_init(&o);
    o.tile = strcmp(word, "tile") == 0;
    o.renumber = is_merge;
    o.shards = strcmp(word, "split") == 0 ? 3 : 0;
    o.sample = strcmp(word, "sample") == 0 ? 5 : 0;
    o.labels = strcmp(word, "relabel") == 0 ? in("a", "a.lst") : NULL;
    o.threads = 1;
    o.force = true;
    return imrec_reshape(uris, is_merge ? 2 : 1, out, word, &o, &r, &p.err);
}

static void resume_from_now_on(void)
{
    p.o.resume = true;
    p.o.force = false;
}

/* ---- what is asked of each state ---------------------------------------------------------------
 */

static bool verifies(const char *path)
{
    return packing_verifies(&p, path);
}

static void check_set(struct crash *c, const struct disk_image *now)
{
    crash_check_set(c, now, "b.manifest.json", verifies);
}

/* With may_leave files of an older set may stay, of which the manifest was gone before. */
static const char *first_wrong(const struct disk_image *end, bool may_leave)
{
    for (int i = 0; i < end->count; i++) {
        const char *name = end->files[i].name;
        const bool is_left = may_leave && disk_image_find(of.after, name) == NULL &&
                             disk_image_same(end, of.before, name);
        if (!is_left && !disk_image_same(end, of.after, name))
            return name;
    }
    for (int i = 0; i < of.after->count; i++)
        if (disk_image_find(end, of.after->files[i].name) == NULL)
            return of.after->files[i].name;
    return NULL;
}

static void check_end(enum imrec_status st, bool may_leave)
{
    struct disk_image *end = disk_image_read(of.where);
    const char *name = first_wrong(end, may_leave);
    if (st != IMREC_OK)
        crash_stop(&of, "the run that follows", p.err.message);
    if (name != NULL)
        crash_stop(&of, name, "is not as after an undisturbed run");
    disk_image_free(end);
    of.ended++;
}

/* What an older set or run has left, where this one had only begun to remove it: --resume may
 * refuse that, --force does not. */
static bool may_refuse(void)
{
    return of.before->count != 0 && !p.o.force &&
           (p.err.status == IMREC_ERR_ARGUMENT || p.err.status == IMREC_ERR_IO);
}

static void run_again(void)
{
    static const char *const locks[] = {"b.lock.part", "b.appended.lock.part", NULL};
    enum imrec_status st = again(in("s", "b.rec"));
    while (st != IMREC_OK && crash_remove_lock(&of, p.err.message, locks))
        st = again(in("s", "b.rec"));
    if (st != IMREC_OK && again == run_append && strstr(p.err.message, "is finished now") != NULL) {
        check_end(IMREC_OK, true);
        return;
    }
    if (st != IMREC_OK && may_refuse() && again != run_append) {
        of.refused++;
        p.o.resume = false;
        p.o.force = true;
        st = again(in("s", "b.rec"));
        resume_from_now_on();
    }
    check_end(st, of.choice.luck != DISK_ALL);
}

/* Whether a state is one to run again from. */
static bool (*goes_on)(const struct disk_image *now);

static void go_on(struct crash *c, const struct disk_image *now)
{
    (void)c;
    if (goes_on == NULL || goes_on(now))
        run_again();
}

static bool run_in_d(void)
{
    return run(in("d", "b.rec")) == IMREC_OK;
}

static void describe(const char *title, run_fn *what)
{
    static char d[600], s[600];
    snprintf(d, sizeof(d), "%s", in("d", ""));
    snprintf(s, sizeof(s), "%s", in("s", ""));
    run = what;
    of = (struct crash){.title = title,
                        .folder = d,
                        .where = s,
                        .run = run_in_d,
                        .look = check_set,
                        .again = go_on,
                        .why = p.err.message};
}

/* Runs it in the folder d; then `then` on whatever a disk may hold after it was stopped. */
static void crash(const char *title, run_fn *what, run_fn *then, void (*change)(void))
{
    describe(title, what);
    again = then;
    of.change = change;
    crash_try(&of);
}

/* The folder d holds what a run left whose machine stopped after this share of its calls. */
static void stop_after(double share)
{
    describe("stopped", run_pack);
    crash_record(&of);
    struct disk_image *left =
        disk_state(of.log, (struct disk_choice){.cut = (size_t)(share * (double)of.log->count),
                                                .luck = DISK_NONE});
    disk_image_write(left, in("d", ""));
    disk_image_free(left);
    crash_forget(&of);
}

/* A MiB each, most of it comments that are passed through: marks are made every 8 MiB. */
static void make_large_files(void)
{
    enum { COMMENT = 65500, COMMENTS = 16 };
    static uint8_t file[COMMENTS * (COMMENT + 4) + 65536];
    for (int i = 0; i < 10; i++) {
        const struct bytes jpeg =
            read_whole(in("source", i % 2 != 0 ? "ant/00.jpg" : "ant/01.jpg"));
        uint8_t *to = file;
        char name[64];
        memcpy(to, jpeg.p, 2);
        to += 2;
        for (int k = 0; k < COMMENTS; k++, to += COMMENT + 4) {
            const uint8_t head[] = {0xff, 0xfe, (COMMENT + 2) >> 8, (COMMENT + 2) & 0xff};
            memcpy(to, head, 4);
            memset(to + 4, 'a' + i + k, COMMENT);
        }
        memcpy(to, jpeg.p + 2, jpeg.n - 2);
        snprintf(name, sizeof(name), "source/cow/1%d.jpg", i);
        tmp_write(&p.dir, name, file, (size_t)(to - file) + jpeg.n - 2);
        free((void *)(uintptr_t)jpeg.p);
    }
}

static void setup(void)
{
    tmp_in_memory();
    packing_make(&p, true);
    make_folder(&p.dir, "d");
    disk_log_no_sync = true;
    p.o.threads = 1;
}

static void teardown(void)
{
    packing_end(&p);
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(a_set_that_is_packed, 0, 4) /* _i: format, shards */
{
    p.o.format = _i / 2 != 0 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    p.o.cbf_chunk = 5000;
    p.o.shards = _i % 2 * 3;
    p.o.binary_index = _i == 1 ? IMREC_BINARY_INDEX_YES : IMREC_BINARY_INDEX_AUTO;
    crash("packed", run_pack, run_pack, resume_from_now_on);
}

TEST(a_file_that_is_longer_than_its_last_mark)
{
    make_large_files();
    p.o.pass_through = true;
    p.o.resize = 0;
    crash("large", run_pack, run_pack, resume_from_now_on);
}

LOOP_TEST(a_run_that_is_resumed, 0, 4) /* _i: format; how far the first one came */
{
    p.o.format = _i / 2 != 0 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    p.o.cbf_chunk = 5000;
    p.o.shards = 3;
    stop_after(_i % 2 != 0 ? 0.4 : 0.75);
    p.o.resume = true;
    crash("resumed", run_pack, run_pack, NULL);
}

LOOP_TEST(a_set_that_replaces_another, 0, 4) /* _i: shards before and after */
{
    p.o.shards = _i / 2 * 3;
    p.o.resize = 24;
    ck_assert_int_eq(run_pack(in("d", "b.rec")), IMREC_OK);
    p.o.shards = _i % 2 * 3;
    p.o.resize = 32;
    p.o.force = true;
    crash("replaced", run_pack, run_pack, resume_from_now_on);
}

/* As long as the old journal is there, nothing of the new run is: --resume continues the old one,
 * which cannot know that images have changed since. */
static bool has_new_journal(const struct disk_image *now)
{
    static const char journal[] = "b.journal.part", lock[] = "b.lock.part";
    if (disk_image_find(now, journal) == NULL || !disk_image_same(now, of.before, journal))
        return true;
    for (int i = 0; i < now->count; i++)
        if (strcmp(now->files[i].name, lock) != 0 &&
            !disk_image_same(now, of.before, now->files[i].name))
            crash_stop(&of, now->files[i].name, "is new next to the old journal");
    return false;
}

/* Of the same options and names, but other images. */
LOOP_TEST(a_run_that_replaces_one_that_was_interrupted, 0, 4)
{
    p.o.format = _i / 2 != 0 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    p.o.cbf_chunk = 5000;
    p.o.shards = _i % 2 * 3;
    stop_after(0.75);
    for (int i = 0; i < MADE_EACH; i++) {
        char name[64];
        snprintf(name, sizeof(name), "source/ant/0%d.jpg", i);
        make_image(&p.dir, name, 40, 40, 500 + (uint32_t)i);
    }
    p.o.force = true;
    goes_on = has_new_journal;
    crash("begun again", run_pack, run_pack, resume_from_now_on);
}

/* Else it would be appended once more. */
static bool is_not_appended(const struct disk_image *now)
{
    return !crash_is_set(now, of.after, NULL);
}

LOOP_TEST(a_set_that_is_appended_to, 0, 2) /* _i: in numbered shards */
{
    p.o.shards = _i * 3;
    ck_assert_int_eq(run_pack(in("d", "b.rec")), IMREC_OK);
    p.o.shards = 0;
    goes_on = is_not_appended;
    crash("appended", run_append, run_append, resume_from_now_on);
}

LOOP_TEST(a_set_that_is_made_of_another, 0, 10) /* _i: over one that is there; a command */
{
    static const char *const words[] = {"tile", "merge", "split", "sample", "relabel"};
    word = words[_i / 2];
    make_folder(&p.dir, "a");
    p.o.resize = 0;
    ck_assert_int_eq(run_pack(in("a", "a.rec")), IMREC_OK);
    p.o.shards = 2;
    if (_i % 2 != 0)
        ck_assert_int_eq(run_pack(in("d", "b.rec")), IMREC_OK);
    crash(word, run_reshape, run_reshape, NULL);
}
