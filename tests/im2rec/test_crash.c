/* Machines that stop while a set is written: every call that packing makes is recorded, and
 * replayed cut at every point, with what no sync had made durable lost, torn or reordered. After
 * each: no file under its final name that is not whole, no set that is whole but wrong, and the
 * run, resumed or begun again, ends as an undisturbed one does. */
#include "base/alloc.h"
#include "imrec/reshape.h"
#include "tests/support/disk_states.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

#define CHANCES 2 /* states by chance at every cut; IMREC_CRASH_CHANCES: another number */

static struct packing p;
static struct disk_image *before, *after; /* of the folder, when nothing stops */
static struct disk_log *log_of;
static struct disk_image *published[64]; /* the folder after each rename to a final name */
static int published_count;
static size_t states, ended, refused; /* different ones, runs that followed */
static uint64_t *seen;

typedef enum imrec_status run_fn(const char *out);

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

static enum imrec_status run_tile(const char *out)
{
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    const char *uris[] = {in("a", "a.rec")};
    imrec_reshape_options_init(&o);
    o.tile = true;
    o.threads = 1;
    o.force = true;
    return imrec_reshape(uris, 1, out, "tile", &o, &r, &p.err);
}

static void resume_from_now_on(void)
{
    p.o.resume = true;
    p.o.force = false;
}

/* ---- what is asked of each state ---------------------------------------------------------------
 */

static void stop_here(const struct disk_choice *c, const char *what, const char *why)
{
    ck_abort_msg("%s: %s: %s", disk_choice_text(log_of, *c), what, why);
}

static bool is_part(const char *name)
{
    const size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".part") == 0;
}

static void note_published(void)
{
    published_count = 0;
    for (size_t i = 0; i < log_of->count; i++)
        if (log_of->ops[i].kind == DISK_RENAME && !is_part(log_of->ops[i].to)) {
            ck_assert_int_lt(published_count, 64);
            published[published_count++] = disk_state(log_of, (struct disk_choice){.cut = i + 1});
        }
}

static bool is_whole(const struct disk_image *now, const char *name)
{
    for (int i = 0; i < published_count; i++)
        if (disk_image_same(now, published[i], name))
            return true;
    return disk_image_same(now, before, name);
}

/* What has its final name is whole, of the old set or of the new one. */
static void check_names(const struct disk_choice *c, const struct disk_image *now)
{
    for (int i = 0; i < now->count; i++)
        if (!is_part(now->files[i].name) && !is_whole(now, now->files[i].name))
            stop_here(c, now->files[i].name, "has its final name and is not whole");
}

static bool is_set(const struct disk_image *now, const struct disk_image *whole)
{
    for (int i = 0; i < whole->count; i++)
        if (!is_part(whole->files[i].name) && !disk_image_same(now, whole, whole->files[i].name))
            return false;
    return true;
}

/* A set that verify() calls whole is the old one or the new one. */
static void check_set(const struct disk_choice *c, const struct disk_image *now)
{
    static const char manifest[] = "b.manifest.json";
    if (disk_image_same(now, after, manifest) && !disk_image_same(before, after, manifest) &&
        !is_set(now, after))
        stop_here(c, manifest, "is there, the last of all files, and another one is not");
    if (disk_image_find(now, manifest) == NULL || !packing_verifies(&p, in("s", manifest)))
        return;
    if (!is_set(now, disk_image_same(now, after, manifest) ? after : before))
        stop_here(c, manifest, "is verified, and the set is not what it was or is to be");
}

/* With may_leave files of an older set may stay, of which the manifest was gone before. */
static const char *first_wrong(const struct disk_image *end, bool may_leave)
{
    for (int i = 0; i < end->count; i++) {
        const char *name = end->files[i].name;
        const bool is_left =
            may_leave && disk_image_find(after, name) == NULL && disk_image_same(end, before, name);
        if (!is_left && !disk_image_same(end, after, name))
            return name;
    }
    for (int i = 0; i < after->count; i++)
        if (disk_image_find(end, after->files[i].name) == NULL)
            return after->files[i].name;
    return NULL;
}

static void check_end(const struct disk_choice *c, enum imrec_status st, bool may_leave)
{
    struct disk_image *end = disk_image_read(in("s", ""));
    const char *name = first_wrong(end, may_leave);
    if (st != IMREC_OK)
        stop_here(c, "the run that follows", p.err.message);
    if (name != NULL)
        stop_here(c, name, "is not as after an undisturbed run");
    disk_image_free(end);
    ended++;
}

/* What an older set or run has left, where this one had only begun to remove it: --resume may
 * refuse that, --force does not. */
static bool may_refuse(void)
{
    return before->count != 0 && !p.o.force &&
           (p.err.status == IMREC_ERR_ARGUMENT || p.err.status == IMREC_ERR_IO);
}

/* Bytes that nobody wrote are not taken for a lock: it is refused, named, and to be removed. */
static bool remove_lock(void)
{
    static const char *const names[] = {"b.lock.part", "b.appended.lock.part"};
    for (size_t i = 0; i < 2; i++)
        if (strstr(p.err.message, names[i]) != NULL)
            return remove(in("s", names[i])) == 0;
    return false;
}

static void run_again(const struct disk_choice *c, run_fn *again)
{
    enum imrec_status st = again(in("s", "b.rec"));
    while (st != IMREC_OK && disk_choice_has_old_bytes(c) && remove_lock())
        st = again(in("s", "b.rec"));
    if (st != IMREC_OK && again == run_append && strstr(p.err.message, "is finished now") != NULL) {
        check_end(c, IMREC_OK, true);
        return;
    }
    if (st != IMREC_OK && may_refuse() && again != run_append) {
        refused++;
        p.o.resume = false;
        p.o.force = true;
        st = again(in("s", "b.rec"));
        resume_from_now_on();
    }
    check_end(c, st, c->luck != DISK_ALL);
}

static bool is_new(const struct disk_image *now)
{
    const uint64_t h = disk_image_hash(now);
    for (size_t i = h % (1u << 16);; i = (i + 1) % (1u << 16)) {
        if (seen[i] == h)
            return false;
        if (seen[i] == 0) {
            seen[i] = h;
            states++;
            return true;
        }
    }
}

/* Whether a state is one to run again from. */
static bool (*goes_on)(const struct disk_choice *c, const struct disk_image *now);

static void check_state(const struct disk_choice *c, run_fn *again)
{
    struct disk_image *now = disk_state(log_of, *c);
    if (is_new(now)) {
        disk_image_write(now, in("s", ""));
        check_names(c, now);
        check_set(c, now);
        if (goes_on == NULL || goes_on(c, now))
            run_again(c, again);
    }
    disk_image_free(now);
}

static int chances(void)
{
    const char *text = getenv("IMREC_CRASH_CHANCES");
    return text != NULL ? atoi(text) : CHANCES;
}

static void record(run_fn *run)
{
    before = disk_image_read(in("d", ""));
    disk_log_begin(in("d", ""));
    const enum imrec_status st = run(in("d", "b.rec"));
    log_of = disk_log_end();
    ck_assert_msg(st == IMREC_OK, "%s", p.err.message);
    after = disk_image_read(in("d", ""));
    struct disk_image *replayed = disk_state(log_of, (struct disk_choice){.cut = log_of->count});
    ck_assert_msg(disk_image_differs(replayed, after) == NULL,
                  "a call was not recorded: %s is another", disk_image_differs(replayed, after));
    disk_image_free(replayed);
}

/* Runs it in the folder d, recorded; then `again` on whatever a disk may hold after it was stopped.
 */
static void crash(const char *title, run_fn *run, run_fn *again, void (*change)(void))
{
    struct disk_choice c = {0};
    record(run);
    note_published();
    if (change != NULL)
        change();
    states = ended = refused = 0;
    seen = calloc(1u << 16, sizeof(*seen));
    do
        check_state(&c, again);
    while (disk_next_choice(log_of, chances(), &c));
    printf("%s: %zu calls, %zu different states; after %zu the next run ended right, %zu times "
           "with force\n",
           title, log_of->count, states, ended, refused);
    ck_assert_uint_gt(ended, log_of->count / 2);
    free(seen);
    while (published_count > 0)
        disk_image_free(published[--published_count]);
    disk_image_free(before);
    disk_image_free(after);
    disk_log_free(log_of);
}

/* The folder d holds what a run left whose machine stopped after this share of its calls. */
static void stop_after(double share)
{
    record(run_pack);
    struct disk_image *left =
        disk_state(log_of, (struct disk_choice){.cut = (size_t)(share * (double)log_of->count),
                                                .luck = DISK_NONE});
    disk_image_write(left, in("d", ""));
    disk_image_free(left);
    disk_image_free(before);
    disk_image_free(after);
    disk_log_free(log_of);
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
static bool has_new_journal(const struct disk_choice *c, const struct disk_image *now)
{
    static const char journal[] = "b.journal.part", lock[] = "b.lock.part";
    if (disk_image_find(now, journal) == NULL || !disk_image_same(now, before, journal))
        return true;
    for (int i = 0; i < now->count; i++)
        if (strcmp(now->files[i].name, lock) != 0 &&
            !disk_image_same(now, before, now->files[i].name))
            stop_here(c, now->files[i].name, "is new next to the old journal");
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
static bool is_not_appended(const struct disk_choice *c, const struct disk_image *now)
{
    (void)c;
    return !is_set(now, after);
}

LOOP_TEST(a_set_that_is_appended_to, 0, 2) /* _i: in numbered shards */
{
    p.o.shards = _i * 3;
    ck_assert_int_eq(run_pack(in("d", "b.rec")), IMREC_OK);
    p.o.shards = 0;
    goes_on = is_not_appended;
    crash("appended", run_append, run_append, resume_from_now_on);
}

LOOP_TEST(a_set_that_is_made_of_another, 0, 2) /* _i: over one that is there */
{
    make_folder(&p.dir, "a");
    p.o.resize = 0;
    ck_assert_int_eq(run_pack(in("a", "a.rec")), IMREC_OK);
    if (_i != 0)
        ck_assert_int_eq(run_pack(in("d", "b.rec")), IMREC_OK);
    crash("tiled", run_tile, run_tile, NULL);
}
