/* Machines that stop while a command writes a folder. Of an export: as long as FOLDER/export.part
 * is there, files may be torn; when it is not, the folder is that of a whole export. Of batches:
 * with position.json there are all files, and of one call. The same command, given again, ends as
 * an undisturbed one does. */
#include "base/alloc.h"
#include "tests/support/crash.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"
#include "tools/commands/command.h"

#include <fcntl.h>

static struct packing p;
static struct crash of;
static char set[512], folder[512], said[2000];
static bool is_old; /* what is there before is of another call */

/* ---- what is run ----------------------------------------------------------------------------- */

/* What it says goes into a file. */
static bool run_command(const struct command *c, int n, char **words)
{
    const int to = open(tmp_path(&p.dir, "said"), O_RDWR | O_CREAT | O_TRUNC, 0666);
    const int kept[] = {dup(1), dup(2)};
    fflush(stdout);
    ck_assert(to >= 0 && dup2(to, 1) == 1 && dup2(to, 2) == 2);
    const int status = command_run(c, n, words);
    fflush(stdout);
    ck_assert(dup2(kept[0], 1) == 1 && dup2(kept[1], 2) == 2);
    const ssize_t got = pread(to, said, sizeof(said) - 1, 0);
    said[got > 0 ? got : 0] = '\0';
    ck_assert(close(kept[0]) == 0 && close(kept[1]) == 0 && close(to) == 0);
    return status == EXIT_OK;
}

static bool export_all(void)
{
    static char quiet[] = "--quiet", out[600];
    char *words[] = {out, quiet, set, out, NULL};
    snprintf(out, sizeof(out), "%s/out", folder);
    return run_command(&command_export, 4, words);
}

static bool write_batches(void)
{
    static char name[] = "batches", count[] = "--count=2", size[40], shape[40], to[600];
    char *words[] = {name, count, to, set, size, shape, NULL};
    snprintf(shape, sizeof(shape), "data_shape=3,%s", is_old ? "16,16" : "24,24");
    snprintf(size, sizeof(size), "batch_size=%d", is_old ? 3 : 2);
    snprintf(to, sizeof(to), "--out=%s/out/", folder); /* the slash is of the name of a folder */
    return run_command(&command_batches, 6, words);
}

/* ---- what is asked of each state ------------------------------------------------------------- */

static void look_at_export(struct crash *c, const struct disk_image *now)
{
    if (disk_image_find(now, "out/export.part") != NULL)
        return;
    for (int i = 0; i < now->count; i++)
        if (!now->files[i].folder && !crash_is_set(now, c->after, NULL))
            crash_stop(c, now->files[i].name, "is there, without the mark of an unfinished export");
}

static void look_at_batches(struct crash *c, const struct disk_image *now)
{
    if (disk_image_find(now, "out/position.json") != NULL && !crash_is_set(now, c->after, NULL) &&
        (c->before->count == 0 || !crash_is_set(now, c->before, NULL)))
        crash_stop(c, "out/position.json", "is there, and not all files of one call are");
}

static void check_end(struct crash *c, bool good)
{
    struct disk_image *end = disk_image_read(folder);
    if (!good)
        crash_stop(c, "the run that follows", said);
    if (disk_image_differs(end, c->after) != NULL)
        crash_stop(c, disk_image_differs(end, c->after), "is not as after an undisturbed run");
    disk_image_free(end);
    c->ended++;
}

static void run_again(struct crash *c, const struct disk_image *now)
{
    (void)now;
    check_end(c, c->run());
}

/* A file has no checksum: where a disk shows what was on it before, nobody can know it. */
static void export_again(struct crash *c, const struct disk_image *now)
{
    const bool is_done =
        crash_is_set(now, c->after, NULL) && disk_image_find(now, "out/export.part") == NULL;
    if (!disk_choice_has_old_bytes(&c->choice))
        check_end(c, is_done || c->run());
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void make_set(void)
{
    static const char *const names[] = {"source/ant", "source/ant/small", "source/bee"};
    struct imrec_pack_task task = {.root = p.source, .out = set};
    for (uint32_t i = 0; i < 3; i++) {
        char name[64];
        make_folder(&p.dir, names[i]);
        snprintf(name, sizeof(name), "%s/0.jpg", names[i]);
        make_image(&p.dir, name, 60 + 30 * i, 90, i);
    }
    ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
}

static void setup(void)
{
    tmp_in_memory();
    p = (struct packing){.dir = tmpdir_make()};
    make_folder(&p.dir, "source");
    make_folder(&p.dir, "d");
    snprintf(p.source, sizeof(p.source), "%s/source", p.dir.path);
    snprintf(set, sizeof(set), "%s/set.rec", p.dir.path);
    snprintf(folder, sizeof(folder), "%s/d", p.dir.path);
    imrec_pack_options_init(&p.o);
    p.o.pass_through = true;
    p.o.threads = 1;
    disk_log_no_sync = true;
    make_set();
}

static void teardown(void)
{
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

static void crash(const char *title, bool (*run)(void), crash_look_fn *look, crash_look_fn *again)
{
    is_old = false;
    of = (struct crash){.title = title,
                        .folder = folder,
                        .where = folder,
                        .run = run,
                        .look = look,
                        .again = again,
                        .why = said,
                        .strict = true,
                        .may_tear = run == export_all};
    crash_try(&of);
}

LOOP_TEST(images_that_are_exported, 0, 2) /* _i: into a folder that is there */
{
    if (_i != 0)
        make_folder(&p.dir, "d/out");
    crash("exported", export_all, look_at_export, export_again);
}

LOOP_TEST(batches_that_are_written, 0, 2) /* _i: over others */
{
    is_old = true;
    ck_assert_msg(_i == 0 || write_batches(), "%s", said);
    crash("batches", write_batches, look_at_batches, run_again);
}
