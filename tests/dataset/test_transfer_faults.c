/* tests/dataset/test_transfer_faults.c - archives, TFRecord files and records being written while
 * memory, calls and space run out, and while the process is killed: nothing has a final name that
 * is not whole, and nothing is left but what the next run removes. */
#include "imrec/convert.h"
#include "storage/fault.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS = 9 };

static struct tmpdir g_dir;
static struct imrec_records_result g_result;
static struct imrec_error g_err;

/* What is written, in one file and in three. */
static const struct {
    const char *input, *name;
    int64_t shards;
    int count;
} rows[] = {{"a.rec", "out.tar", 0, 1},      {"a.rec", "out.tar", 3, 3},
            {"a.rec", "out.tfrecord", 0, 1}, {"a.rec", "out.tfrecord", 3, 3},
            {"a.tar", "out.rec", 0, 1},      {"a.tar", "out.rec", 3, 3},
            {"a.tar", "out.tar", 3, 3},      {"a.rec", "out-{1..3}.tar", 0, 3}};

static int64_t g_shards; /* in place of the row's, unless 0 */

static enum imrec_status convert_to(int row, const char *output)
{
    struct imrec_records_options o;
    imrec_records_options_init(&o);
    o.input = tmp_path(&g_dir, rows[row].input);
    o.output = output;
    o.shards = g_shards != 0 ? g_shards : rows[row].shards;
    memset(&g_err, 0, sizeof(g_err));
    return imrec_convert_records(&o, &g_result, &g_err);
}

static void make_folder_of(const char *name)
{
    ck_assert_int_eq(mkdir(tmp_path(&g_dir, name), 0777), 0);
}

static void begin(void)
{
    struct imrec_records_options o;
    g_shards = 0;
    g_dir = tmpdir_make();
    small_shard(tmp_path(&g_dir, "a.rec"), 0, RECORDS);
    ck_assert_uint_eq(small_checksums(tmp_path(&g_dir, "a.rec")), RECORDS);
    imrec_records_options_init(&o);
    o.input = tmp_path(&g_dir, "a.rec");
    o.output = tmp_path(&g_dir, "a.tar");
    ck_assert_int_eq(imrec_convert_records(&o, &g_result, &g_err), IMREC_OK);
    make_folder_of("want");
    make_folder_of("out");
}

static void end(void)
{
    char command[512];
    fault_forget("transfer");
    (void)snprintf(command, sizeof(command), "rm -rf %.200s", g_dir.path);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void make_want(int row)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "want/%s", rows[row].name);
    ck_assert_msg(convert_to(row, tmp_path(&g_dir, name)) == IMREC_OK, "%s", g_err.message);
}

/* Into the folder out/, by this script. */
static enum imrec_status convert_by(int row, const struct fault_script *script)
{
    char uri[600];
    (void)snprintf(uri, sizeof(uri), "fault://script=transfer:%s/out/%s", g_dir.path,
                   rows[row].name);
    ck_assert_int_eq(fault_set("transfer", script, NULL), IMREC_OK);
    return convert_to(row, uri);
}

static bool are_same(const char *a, const char *b)
{
    uint8_t *p, *q;
    size_t n, m;
    ck_assert_int_eq(source_load(a, 1 << 26, &p, &n, &g_err), IMREC_OK);
    if (source_load(b, 1 << 26, &q, &m, NULL) != IMREC_OK)
        q = NULL;
    const bool same = q != NULL && n == m && memcmp(p, q, n) == 0;
    imrec_free(p);
    imrec_free(q);
    return same;
}

static bool is_left(const char *name)
{
    static const char *const ends[] = {".part", ".unfinished"};
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* How many files out/ has, all of which are those of want/, besides what a killed run has left. */
static int count_whole(bool killed)
{
    char name[230];
    struct dirent *e;
    int n = 0;
    DIR *d = opendir(tmp_path(&g_dir, "out"));
    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.' || (killed && is_left(e->d_name)))
            continue;
        (void)snprintf(name, sizeof(name), "want/%.200s", e->d_name);
        const char *want = tmp_path(&g_dir, name);
        (void)snprintf(name, sizeof(name), "out/%.200s", e->d_name);
        ck_assert_msg(are_same(tmp_path(&g_dir, name), want), "%s is not whole", e->d_name);
        n++;
    }
    closedir(d);
    return n;
}

static int files_of(int row)
{
    const int each = strcmp(rows[row].name, "out.rec") == 0 ? 3 : 1;
    return each * rows[row].count;
}

static void remove_out(void)
{
    char command[512];
    (void)snprintf(command, sizeof(command), "rm -f %.200s/out/*", g_dir.path);
    ck_assert_int_eq(system(command), 0);
}

CASE(.setup = begin, .teardown = end, .timeout = 240)

LOOP_TEST(every_failing_allocation_is_an_error_and_leaves_nothing, 0, COUNT(rows))
{
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    char output[300];
    long n = 0;
    make_want(_i);
    (void)snprintf(output, sizeof(output), "%.200s/out/%s", g_dir.path, rows[_i].name);
    for (; st != IMREC_OK && n < 5000; n++) {
        const long live = imrec_alloc_live();
        imrec_alloc_fail_after(n);
        st = convert_to(_i, output);
        imrec_alloc_fail_after(-1);
        ck_assert_msg(st == IMREC_OK || (g_err.status == st && g_err.message[0] != '\0'),
                      "allocation %ld: %d %s", n, (int)st, g_err.message);
        ck_assert_msg(imrec_alloc_live() <= live + 8, "allocation %ld leaks", n);
        ck_assert_msg(count_whole(false) == (st == IMREC_OK ? files_of(_i) : 0),
                      "allocation %ld: %s leaves files", n, g_err.message);
    }
    ck_assert_msg(n > 20 && st == IMREC_OK, "%ld", n);
}

LOOP_TEST(every_failing_call_is_an_error_and_leaves_nothing, 0, COUNT(rows))
{
    enum imrec_status st = IMREC_ERR_IO;
    uint64_t n = 1;
    make_want(_i);
    for (; n < 2000; n++) {
        const struct fault_script script = {.call_eio = n};
        st = convert_by(_i, &script);
        const struct fault_counts c = fault_counts("transfer");
        if (c.reads + c.writes + c.syncs + c.renames + c.folders < n)
            break;
        if (st == IMREC_OK) { /* a folder that cannot be listed has nothing old in it */
            ck_assert_int_eq(count_whole(false), files_of(_i));
            remove_out();
            continue;
        }
        ck_assert_msg(st == IMREC_ERR_IO && g_err.sys_errno == EIO, "call %d: %d %s", (int)n,
                      (int)st, g_err.message);
        ck_assert_msg(count_whole(false) == 0, "call %d: %s leaves files", (int)n, g_err.message);
    }
    ck_assert_msg(st == IMREC_OK && n > 3, "%s", g_err.message);
    ck_assert_int_eq(count_whole(false), files_of(_i));
}

LOOP_TEST(a_full_disk_is_an_error_and_leaves_nothing, 0, COUNT(rows))
{
    make_want(_i);
    struct fault_script script = {.space = 1};
    uint64_t runs = 0;
    for (;; script.space += 1777, runs++) {
        const enum imrec_status st = convert_by(_i, &script);
        if (st == IMREC_OK)
            break;
        ck_assert_msg(st == IMREC_ERR_IO && g_err.sys_errno == ENOSPC, "%d: %s", (int)st,
                      g_err.message);
        ck_assert_int_eq(count_whole(false), 0);
    }
    ck_assert_uint_gt(runs, 2);
    ck_assert_int_eq(count_whole(false), files_of(_i));
}

LOOP_TEST(calls_that_write_little_or_are_interrupted_write_the_same, 0, COUNT(rows))
{
    const struct fault_script script = {.short_bytes = 997, .interrupt = 3};
    make_want(_i);
    ck_assert_msg(convert_by(_i, &script) == IMREC_OK, "%s", g_err.message);
    ck_assert_int_eq(count_whole(false), files_of(_i));
}

/* Shards of before are there as a whole, or not at all; one file is the old one until the new one
 * has its name. */
LOOP_TEST(what_was_there_is_replaced_as_a_whole, 0, COUNT(rows))
{
    static const struct fault_script none;
    uint64_t renames;
    make_want(_i);
    ck_assert_int_eq(convert_by(_i, &none), IMREC_OK);
    renames = fault_counts("transfer").renames;
    ck_assert_uint_gt(renames, 0);
    for (uint64_t n = 1; n <= renames; n++) {
        const struct fault_script script = {.rename_eio = n};
        ck_assert_int_eq(convert_by(_i, &script), IMREC_ERR_IO);
        const bool untouched = n == 1 && rows[_i].shards != 0; /* the mark got no name */
        ck_assert_int_eq(count_whole(false), untouched ? files_of(_i) : rows[_i].count == 1);
    }
    const struct fault_script full = {.space = 100};
    remove_out();
    ck_assert_int_eq(convert_by(_i, &none), IMREC_OK);
    ck_assert_int_eq(convert_by(_i, &full), IMREC_ERR_IO);
    ck_assert_int_eq(count_whole(false), files_of(_i));
}

/* ---- kill -9 ------------------------------------------------------------------------------ */

/* A process that is killed after `ms` milliseconds of slow calls. True: it was still at work. */
static bool killed_after(int row, const struct fault_script *script, unsigned ms)
{
    int status;
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(convert_by(row, script) == IMREC_OK ? 0 : 1);
    (void)usleep(1000 * ms);
    (void)kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status);
}

LOOP_TEST(a_killed_run_leaves_whole_files_and_parts_that_the_next_one_removes, 0, COUNT(rows))
{
    static const struct fault_script none, slow = {.push_kb_per_s = 400, .rename_ms = 15};
    unsigned killed = 0;
    make_want(_i);
    for (unsigned ms = 20;; ms += 40) {
        if (!killed_after(_i, &slow, ms))
            break;
        killed++;
        ck_assert_int_le(count_whole(true), files_of(_i));
        ck_assert_msg(convert_by(_i, &none) == IMREC_OK, "%s", g_err.message);
        ck_assert_int_eq(count_whole(false), files_of(_i));
        remove_out();
    }
    ck_assert_uint_gt(killed, 0);
}

static bool is_marked(void)
{
    return access(tmp_path(&g_dir, "out/out.unfinished"), F_OK) == 0;
}

/* Some of the names are never given without a word, and the next run, of another number of shards,
 * removes what is of no whole set. */
LOOP_TEST(shards_of_a_killed_run_are_known_by_a_mark, 0, COUNT(rows))
{
    static const struct fault_script none, slow = {.rename_ms = 15};
    unsigned some = 0;
    bool at_work = true;
    if (rows[_i].shards == 0)
        return;
    make_want(_i);
    for (unsigned ms = 5; at_work; ms += 10) {
        at_work = killed_after(_i, &slow, ms);
        const int left = count_whole(true);
        const bool whole = left == files_of(_i), marked = is_marked();
        ck_assert_msg(left == 0 || whole || marked, "%d files, and no mark", left);
        some += left != 0 && !whole;
        g_shards = 2;
        const enum imrec_status st = convert_by(_i, &none);
        g_shards = 0;
        ck_assert_msg(st == (whole ? IMREC_ERR_ARGUMENT : IMREC_OK), "%d of %d files: %d %s", left,
                      files_of(_i), (int)st, g_err.message);
        ck_assert(!is_marked());
        if (whole)
            ck_assert_int_eq(count_whole(false), files_of(_i));
        remove_out();
    }
    ck_assert_uint_gt(some, 0);
}
