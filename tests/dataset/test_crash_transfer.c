/* Machines that stop while records are converted, repaired or indexed, and CNTK's files converted:
 * no file that is half-written has its final name, no set is made of old and new shards, the input
 * stays as it is, and the same command, given again, ends as an undisturbed one does. */
#include "base/alloc.h"
#include "imrec/convert.h"
#include "imrec/dataset.h"
#include "tests/support/crash.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <sys/stat.h>

enum { RECORDS = 9, OLD_RECORDS = 7 };

static struct tmpdir dir;
static char folder[300];
static struct crash of;
static struct imrec_error err;
static bool is_old; /* what is there before comes from other records */

/* ---- what is run ----------------------------------------------------------------------------- */

static const char *in(const char *name)
{
    static char paths[8][400];
    static int turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

struct conversion {
    const char *input, *older, *output;
    int64_t shards, shard_size;
};

static const struct conversion conversions[] = {
    {"in/a.rec", "in/b.rec", "out.tar", 0, 0}, {"in/a.rec", "in/b.rec", "out.tfrecord", 0, 0},
    {"in/a.tar", "in/b.tar", "out.rec", 0, 0}, {"in/a.rec", "in/b.rec", "out.tar", 3, 0},
    {"in/a.tar", "in/b.tar", "out.rec", 3, 0}, {"in/a.rec", "in/b.rec", "out-{1..3}.tar", 0, 0},
    {"in/a.tar", NULL, "out.rec", 0, 4000},
};
static const struct conversion *row;

static bool convert(void)
{
    struct imrec_records_options o;
    struct imrec_records_result result;
    imrec_records_options_init(&o);
    o.input = in(is_old ? row->older : row->input);
    o.output = in(row->output);
    o.shards = row->shards;
    o.shard_size = row->shard_size;
    return imrec_convert_records(&o, &result, &err) == IMREC_OK;
}

static bool repair(void)
{
    struct imrec_repair_options o;
    struct imrec_repair_result result;
    imrec_repair_options_init(&o);
    o.force = true;
    return imrec_dataset_repair(in(is_old ? "in/b.rec" : "in/damaged.rec"), in("out.rec"), &o,
                                &result, &err) == IMREC_OK;
}

static bool is_binary; /* the index */

static bool make_index(void)
{
    struct imrec_index_result result;
    return (is_binary ? imrec_dataset_index_binary(in("s.rec"), NULL, IMREC_KEYS_ID, true, NULL,
                                                   &result, &err)
                      : imrec_dataset_index(in("s.rec"), NULL, IMREC_KEYS_ID, true, &result,
                                            &err)) == IMREC_OK;
}

static bool make_cbf(void)
{
    struct imrec_convert_options o;
    struct imrec_convert_result result;
    imrec_convert_options_init(&o);
    o.input = in(is_old ? "in/b.ctf" : "in/a.ctf");
    o.header = in("in/header");
    o.output = in("out.cbf");
    o.chunk_size = 2000;
    o.threads = 1;
    return imrec_ctf_to_cbf(&o, NULL, NULL, &result, &err) == IMREC_OK;
}

static bool make_ctf(void)
{
    struct imrec_convert_result result;
    return imrec_cbf_to_ctf(in(is_old ? "in/b.cbf" : "in/a.cbf"), in("out.ctf"), in("out.header"),
                            NULL, NULL, &result, &err) == IMREC_OK;
}

/* ---- what is asked of each state ------------------------------------------------------------- */

static bool is_output(const struct disk_image *image, int i)
{
    const struct disk_file *f = &image->files[i];
    return !f->folder && strchr(f->name, '/') == NULL && !crash_is_part(f->name);
}

/* A file that the one image has, and not the other. */
static const char *
only_of(const struct disk_image *now, const struct disk_image *one, const struct disk_image *other)
{
    for (int i = 0; i < one->count; i++) {
        const char *name = one->files[i].name;
        if (is_output(one, i) && disk_image_same(now, one, name) &&
            !disk_image_same(now, other, name))
            return name;
    }
    return NULL;
}

/* Which have their names before it. */
static void check_side_files(const struct crash *c, const struct disk_image *now, const char *rec)
{
    static const char *const suffixes[] = {"idx", "crc"};
    char name[DISK_NAME];
    const size_t n = strlen(rec), suffix = strlen("rec");
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%.*s%s", (int)(n - suffix), rec, suffixes[i]);
        if (!disk_image_same(now, c->after, name))
            crash_stop(c, name, "is not next to its shard");
    }
}

static void check_new_shards(const struct crash *c, const struct disk_image *now)
{
    for (int i = 0; i < c->after->count; i++) {
        const char *name = c->after->files[i].name;
        if (is_output(c->after, i) && strncmp(name, "out", 3) == 0 &&
            strcmp(strrchr(name, '.'), ".rec") == 0 && disk_image_same(now, c->after, name) &&
            !disk_image_same(c->before, c->after, name))
            check_side_files(c, now, name);
    }
}

/* What is missing is noticed; old ones among new ones are not. */
static void look_at_shards(struct crash *c, const struct disk_image *now)
{
    check_new_shards(c, now);
    const char *old = only_of(now, c->before, c->after);
    if (old != NULL && only_of(now, c->after, c->before) != NULL)
        crash_stop(c, old, "is an old one among new ones");
}

static bool verifies(const char *path)
{
    struct imrec_verify_options v;
    struct imrec_verify_result result;
    struct imrec_error why;
    imrec_verify_options_init(&v);
    v.threads = 1;
    return imrec_dataset_verify(path, &v, &result, &why) == IMREC_OK && result.findings == 0;
}

/* Its side files come before it, over those of an older one: then the checksums are of others. */
static void look_at_shard(struct crash *c, const struct disk_image *now)
{
    check_new_shards(c, now);
    if (disk_image_find(now, "out.rec") != NULL && verifies(in("out.rec")))
        look_at_shards(c, now);
}

static void run_again(struct crash *c, const struct disk_image *now)
{
    static const char *const locks[] = {"out.lock.part", NULL};
    bool good = c->run();
    while (!good && crash_remove_lock(c, err.message, locks))
        good = c->run();
    struct disk_image *end = disk_image_read(folder);
    if (!good && row != NULL && row->shard_size != 0 && crash_is_set(now, c->after, "") &&
        disk_image_find(now, "out.unfinished") == NULL) {
        c->refused++; /* a complete set, as far as anybody can tell: the number may be another's */
        good = true;
    }
    if (!good)
        crash_stop(c, "the run that follows", err.message);
    if (disk_image_differs(end, c->after) != NULL)
        crash_stop(c, disk_image_differs(end, c->after), "is not as after an undisturbed run");
    disk_image_free(end);
    c->ended++;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* With what other records have left under the same names, or with nothing. */
static void crash(const char *title, bool (*run)(void), crash_look_fn *look, bool over)
{
    is_old = true;
    ck_assert_msg(!over || run(), "%s", err.message);
    is_old = false;
    of = (struct crash){.title = title,
                        .folder = folder,
                        .where = folder,
                        .inputs = "in",
                        .run = run,
                        .look = look,
                        .again = run_again,
                        .why = err.message,
                        .strict = true};
    crash_try(&of);
}

static void make_shard(const char *name, uint32_t first, uint32_t records)
{
    small_shard(in(name), first, first + records);
    ck_assert_uint_eq(small_checksums(in(name)), records);
}

/* in/a.tar of in/a.rec. */
static void make_other(const char *from, const char *to)
{
    const struct conversion one = {from, NULL, to, 0, 0};
    row = &one;
    ck_assert_msg(convert(), "%s", err.message);
    row = NULL;
}

static void make_text(const char *name, int sequences)
{
    static char text[1 << 16];
    int n = 0;
    for (int i = 0; i < sequences; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%d |x %d %d %d\n", i, i, i * 7, i * 31);
    tmp_write(&dir, name, text, (size_t)n);
}

static void damage(const char *name)
{
    FILE *f = fopen(in(name), "r+b");
    ck_assert(f != NULL && fseek(f, 3000, SEEK_SET) == 0 && fputs("damage", f) >= 0);
    ck_assert_int_eq(fclose(f), 0);
}

static void setup(void)
{
    tmp_in_memory();
    dir = tmpdir_make();
    disk_log_no_sync = true;
    snprintf(folder, sizeof(folder), "%s/d", dir.path);
    ck_assert(mkdir(folder, 0777) == 0 && mkdir(in("in"), 0777) == 0);
    make_shard("in/a.rec", 0, RECORDS);
    make_shard("in/b.rec", 100, OLD_RECORDS);
}

static void teardown(void)
{
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(records_that_are_converted, 0, 2 * COUNT(conversions)) /* over others; a row */
{
    make_other("in/a.rec", "in/a.tar");
    make_other("in/b.rec", "in/b.tar");
    row = &conversions[_i / 2];
    if (row->older != NULL || _i % 2 == 0)
        crash(row->output, convert,
              strcmp(row->output, "out.rec") == 0 && row->shards == 0 ? look_at_shard
                                                                      : look_at_shards,
              _i % 2 != 0);
}

LOOP_TEST(a_shard_that_is_repaired, 0, 2)
{
    make_shard("in/damaged.rec", 0, RECORDS);
    damage("in/damaged.rec");
    crash("repaired", repair, look_at_shard, _i != 0);
}

/* Over the other kind of index, which is of other records, and over one of its own. */
LOOP_TEST(a_shard_that_is_indexed, 0, 4)
{
    make_shard("s.rec", 100, OLD_RECORDS);
    is_binary = _i % 2 == 0;
    ck_assert_msg(make_index(), "%s", err.message);
    if (_i / 2 != 0) /* else the writer removes it */
        ck_assert_int_eq(rename(in(is_binary ? "s.idxb" : "s.idx"), in("kept")), 0);
    make_shard("s.rec", 0, RECORDS);
    if (_i / 2 != 0)
        ck_assert_int_eq(rename(in("kept"), in(is_binary ? "s.idxb" : "s.idx")), 0);
    is_binary = !is_binary;
    crash("indexed", make_index, NULL, false);
}

LOOP_TEST(text_that_is_converted, 0, 4) /* _i: over others; back */
{
    make_text("d/in/a.ctf", 600);
    make_text("d/in/b.ctf", 400);
    tmp_write(&dir, "d/in/header", "x x dense 3\n", 12);
    if (_i / 2 == 0) {
        crash("to binary", make_cbf, NULL, _i % 2 != 0);
        return;
    }
    for (int old = 0; old < 2; old++) {
        is_old = old != 0;
        ck_assert_msg(make_cbf(), "%s", err.message);
        ck_assert_int_eq(rename(in("out.cbf"), in(old != 0 ? "in/b.cbf" : "in/a.cbf")), 0);
    }
    crash("to text", make_ctf, NULL, _i % 2 != 0);
}
