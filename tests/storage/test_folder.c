/* What a folder holds, in each store: names as bytes, what each of them is, and what goes wrong. */
#include "base/alloc.h"
#include "base/error.h"
#include "storage/fault.h"
#include "storage/folder.h"
#include "storage/mem.h"
#include "tests/support/suite.h"
#include "tests/support/tmp_socket.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

static struct tmpdir dir;
static struct imrec_error err;

static void make_link(const char *to, const char *name)
{
    ck_assert_int_eq(symlink(to, tmp_path(&dir, name)), 0);
}

static void setup(void)
{
    static const char *const objects[] = {"d/b.rec", "d/a.rec", "d/s/x", "d/s/y", "d/\xff",
                                          "dd/z",    "d/.hid",  "d",     "//e",   "d//f",
                                          "d/s",     "d/t/u/v", "top"};
    dir = tmpdir_make();
    ck_assert_int_eq(mkdir(tmp_path(&dir, "Folder"), 0700), 0);
    ck_assert_int_eq(mkdir(tmp_path(&dir, "empty"), 0700), 0);
    tmp_write(&dir, "b", "x", 1);
    tmp_write(&dir, "Z", "x", 1);
    tmp_write(&dir, "a\xff\xc3", "x", 1); /* no UTF-8 */
    tmp_write(&dir, "a\n*", "x", 1);
    tmp_write(&dir, ".hidden", "x", 1);
    tmp_write(&dir, "...", "x", 1);
    ck_assert_int_eq(mkfifo(tmp_path(&dir, "pipe"), 0600), 0);
    tmp_socket(&dir, "socket");
    make_link("b", "to_b");
    make_link("Folder", "to_folder");
    make_link("/dev/null", "to_null");
    make_link("nowhere", "to_nothing");
    make_link("to_self", "to_self");
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
        ck_assert_int_eq(mem_put(objects[i], "x", 1, NULL), IMREC_OK);
}

static void teardown(void)
{
    imrec_alloc_fail_after(-1);
    fault_forget("test");
    mem_clear();
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

struct want {
    const char *name;
    enum folder_kind kind;
    int code; /* of FOLDER_LOST */
};
static const struct want tree[] = {
    {"...", FOLDER_FILE, 0},
    {".hidden", FOLDER_FILE, 0},
    {"Folder", FOLDER_FOLDER, 0},
    {"Z", FOLDER_FILE, 0},
    {"a\n*", FOLDER_FILE, 0},
    {"a\xff\xc3", FOLDER_FILE, 0},
    {"b", FOLDER_FILE, 0},
    {"empty", FOLDER_FOLDER, 0},
    {"pipe", FOLDER_FIFO, 0},
    {"socket", FOLDER_SOCKET, 0},
    {"to_b", FOLDER_FILE, 0},
    {"to_folder", FOLDER_FOLDER, 0},
    {"to_nothing", FOLDER_LOST, ENOENT},
    {"to_null", FOLDER_DEVICE, 0},
    {"to_self", FOLDER_LOST, ELOOP},
    {NULL, FOLDER_UNKNOWN, 0},
};
static const struct want nothing[] = {{NULL, FOLDER_UNKNOWN, 0}};
static const struct want objects_of_d[] = {
    {".hid", FOLDER_FILE, 0}, {"a.rec", FOLDER_FILE, 0}, {"b.rec", FOLDER_FILE, 0},
    {"s", FOLDER_FOLDER, 0},  {"s", FOLDER_FILE, 0},     {"t", FOLDER_FOLDER, 0},
    {"\xff", FOLDER_FILE, 0}, {NULL, FOLDER_UNKNOWN, 0},
};
static const struct want objects_of_t[] = {{"u", FOLDER_FOLDER, 0}, {NULL, FOLDER_UNKNOWN, 0}};
static const struct want all_objects[] = {
    {"d", FOLDER_FILE, 0},   {"d", FOLDER_FOLDER, 0},   {"dd", FOLDER_FOLDER, 0},
    {"top", FOLDER_FILE, 0}, {NULL, FOLDER_UNKNOWN, 0},
};

/* '@' stands for the test's folder. */
static const char *filled(const char *text)
{
    static char out[1024];
    const char *at = strchr(text, '@');
    if (at == NULL)
        snprintf(out, sizeof(out), "%s", text);
    else
        snprintf(out, sizeof(out), "%.*s%s%s", (int)(at - text), text, dir.path, at + 1);
    return out;
}

static const struct {
    const char *uri;
    const struct want *want;
} good[] = {
    {"@", tree},
    {"@/", tree},
    {"file://@", tree},
    {"fault://latency_us=1:@", tree},
    {"@/empty", nothing},
    {"@/to_folder", nothing},
    {"mem://d", objects_of_d},
    {"mem://d/", objects_of_d},
    {"mem://d/t", objects_of_t},
    {"mem://", all_objects},
};

/* Two of one name, which a folder of files cannot have, come in any order. */
static bool has(const struct want *want, const char *name, enum folder_kind kind, int code)
{
    while (want->name != NULL && (strcmp(want->name, name) != 0 || want->kind != kind))
        want++;
    return want->name != NULL && want->code == code;
}

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(entries_are_bytes_in_order_and_each_is_of_its_kind, 0, COUNT(good))
{
    const struct want *want = good[_i].want;
    struct folder *f;
    struct folder_entries all;
    ck_assert_msg(folder_open(filled(good[_i].uri), &f, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(folder_all(f, &all, &err), IMREC_OK);
    for (size_t i = 0; i < all.count; i++) {
        int code = 0;
        const enum folder_kind kind = folder_look(f, &all.entry[i], &code);
        ck_assert_ptr_nonnull(want[i].name);
        ck_assert_str_eq(all.entry[i].name, want[i].name);
        ck_assert_msg(has(want, want[i].name, kind, code), "%s: %d, errno %d", want[i].name,
                      (int)kind, code);
        ck_assert_int_eq(folder_look(f, &all.entry[i], NULL), kind);
    }
    ck_assert_ptr_null(want[all.count].name);
    folder_entries_free(&all);
    ck_assert_int_eq(folder_all(f, &all, &err), IMREC_OK); /* there are no more */
    ck_assert_uint_eq(all.count, 0);
    folder_close(f);
}

TEST(one_by_one_they_are_the_same_and_may_be_left_at_any)
{
    struct folder *f;
    struct folder_entry e;
    for (size_t leave = 0; leave < 20; leave++) {
        enum imrec_status st = IMREC_OK;
        size_t n = 0;
        ck_assert_int_eq(folder_open_path(dir.path, &f, &err), IMREC_OK);
        while (n < leave && (st = folder_next(f, &e, &err)) == IMREC_OK) {
            ck_assert(e.kind == FOLDER_FILE || e.kind == FOLDER_FOLDER || e.kind == FOLDER_UNKNOWN);
            ck_assert(has(tree, e.name, folder_look(f, &e, NULL), 0) ||
                      folder_look(f, &e, NULL) == FOLDER_LOST);
            n++;
        }
        ck_assert_int_eq(st, leave > 15 ? IMREC_END : IMREC_OK);
        ck_assert_uint_eq(n, leave > 15 ? 15 : leave);
        folder_close(f);
    }
    folder_close(NULL);
}

TEST(a_folder_is_itself_under_any_name)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"@/Folder", "@/to_folder", true}, {"@/Folder/..", "@", true},
        {"@/Folder", "@/empty", false},    {"mem://d", "mem://d/", true},
        {"mem://d", "mem://d/s", false},   {"mem://d", "mem://dd", false},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct folder *a, *b;
        ck_assert_int_eq(folder_open(filled(pairs[i].a), &a, &err), IMREC_OK);
        ck_assert_int_eq(folder_open(filled(pairs[i].b), &b, &err), IMREC_OK);
        ck_assert_int_eq(a->device == b->device && a->number == b->number, pairs[i].same);
        folder_close(a);
        folder_close(b);
    }
}

static const struct {
    const char *uri;
    enum imrec_status status;
    int code;
    const char *says;
} bad[] = {
    {"@/none", IMREC_ERR_IO, ENOENT, "@/none: cannot list it: No such file or directory"},
    {"file://@/b", IMREC_ERR_IO, ENOTDIR, "@/b: cannot list it: Not a directory"},
    {"@/to_self", IMREC_ERR_IO, ELOOP,
     "@/to_self: cannot list it: Too many levels of symbolic links"},
    {"", IMREC_ERR_IO, ENOENT, ": cannot list it: No such file or directory"},
    {"fault://latency_us=1:@/none", IMREC_ERR_IO, ENOENT,
     "@/none: cannot list it: No such file or directory"},
    {"fault://script=nobody:@", IMREC_ERR_ARGUMENT, 0,
     "fault://script=nobody: this script is not set"},
    {"mem://top", IMREC_ERR_IO, ENOENT, "mem://top: no such folder"},
    {"mem://d/b", IMREC_ERR_IO, ENOENT, "mem://d/b: no such folder"},
    {"ftp://bucket", IMREC_ERR_UNSUPPORTED, 0,
     "ftp://bucket: no store knows the scheme 'ftp://'; use a path or file://"},
};

LOOP_TEST(what_is_no_folder_is_said_with_the_systems_reason, 0, COUNT(bad))
{
    char says[1024];
    struct folder *f = (struct folder *)&err;
    snprintf(says, sizeof(says), "%s", filled(bad[_i].says));
    ck_assert_int_eq(folder_open(filled(bad[_i].uri), &f, &err), bad[_i].status);
    ck_assert_ptr_null(f);
    ck_assert_str_eq(err.message, says);
    ck_assert_int_eq(err.sys_errno, bad[_i].code);
    ck_assert_int_eq(folder_open(filled(bad[_i].uri), &f, NULL), bad[_i].status);
}

TEST(of_a_path_no_scheme_is_looked_for)
{
    char cwd[512];
    struct folder *f;
    struct folder_entry e;
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
    ck_assert_int_eq(mkdir(tmp_path(&dir, "mem:"), 0700), 0);
    ck_assert_int_eq(mkdir(tmp_path(&dir, "mem:/d"), 0700), 0);
    tmp_write(&dir, "mem:/d/file", "x", 1);
    ck_assert_int_eq(chdir(dir.path), 0);
    ck_assert_int_eq(folder_open_path("mem://d", &f, &err), IMREC_OK);
    ck_assert_int_eq(folder_next(f, &e, &err), IMREC_OK);
    ck_assert_str_eq(e.name, "file");
    folder_close(f);
    ck_assert_int_eq(chdir(cwd), 0);
}

/* ---- failures -------------------------------------------------------------------------------- */

static enum imrec_status list_all(const char *uri, struct folder_entries *all)
{
    struct folder *f;
    IMREC_TRY(folder_open(uri, &f, &err));
    const enum imrec_status st = folder_all(f, all, &err);
    folder_close(f);
    return st;
}

LOOP_TEST(any_call_that_fails_fails_the_list, 0, 2) /* _i: by which counter */
{
    char uri[600], says[600];
    snprintf(uri, sizeof(uri), "fault://script=test:%s", dir.path);
    snprintf(says, sizeof(says), "%s: cannot list it: Input/output error", dir.path);
    for (uint64_t n = 1;; n++) {
        const struct fault_script script = {.folder_eio = _i == 0 ? n : 0,
                                            .call_eio = _i == 0 ? 0 : n};
        struct folder_entries all = {0};
        ck_assert_int_eq(fault_set("test", &script, NULL), IMREC_OK);
        const enum imrec_status st = list_all(uri, &all);
        ck_assert_uint_eq(all.count, st == IMREC_OK ? 15 : 0);
        folder_entries_free(&all);
        if (st == IMREC_OK) {
            ck_assert_uint_gt(n, 16); /* it, its entries, and their end */
            ck_assert_uint_eq(fault_counts("test").folders, n - 1);
            return;
        }
        ck_assert_int_eq(st, IMREC_ERR_IO);
        ck_assert_int_eq(err.sys_errno, EIO);
        ck_assert_str_eq(err.message, says);
        ck_assert_uint_eq(fault_counts("test").folders, n);
    }
}

LOOP_TEST(survives_failure_of_the_nth_allocation, 0, 3) /* _i: in which store */
{
    static const char *const uris[] = {"@", "mem://d", "fault://latency_us=1:@"};
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    long n = 0;
    for (; st == IMREC_ERR_NO_MEMORY; n++) {
        struct folder_entries all = {0};
        const long before = imrec_alloc_live();
        err.message[0] = '\0';
        imrec_alloc_fail_after(n);
        st = list_all(filled(uris[_i]), &all);
        imrec_alloc_fail_after(-1);
        ck_assert(st == IMREC_OK || err.message[0] != '\0');
        folder_entries_free(&all);
        ck_assert_int_eq(imrec_alloc_live(), before);
    }
    ck_assert_int_eq(st, IMREC_OK);
    ck_assert_int_gt(n, 3);
}
