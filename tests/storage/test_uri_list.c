#include "base/alloc.h"
#include "storage/mem.h"
#include "storage/uri_list.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct tmpdir dir;
static struct imrec_error err;

static void setup(void)
{
    static const char *names[] = {"b.rec",  "a.rec",    "Z.rec",       "a.idx",     "x.rec.part",
                                  ".h.rec", "m[1].rec", "one;two.rec", "sub/c.rec", "\xc3\xa9.rec"};
    dir = tmpdir_make();
    mkdir(tmp_path(&dir, "sub"), 0700);
    mkdir(tmp_path(&dir, "empty"), 0700);
    mkdir(tmp_path(&dir, "folder.rec"), 0700);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        tmp_write(&dir, names[i], "x", 1);
}

static void teardown(void)
{
    mem_clear();
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* '@' stands for the folder. */
static void fill(char *out, size_t n, const char *text)
{
    size_t used = 0;
    for (out[0] = '\0'; *text != '\0'; text++)
        used += (size_t)snprintf(out + used, n - used, *text == '@' ? "%s" : "%.1s",
                                 *text == '@' ? dir.path : text);
}

static const struct {
    const char *spec, *gives; /* elements divided by spaces */
} good[] = {
    {"@/b.rec", "@/b.rec"},
    {"file://@/b.rec", "@/b.rec"},
    {"@/b.rec;@/a.rec;@/b.rec", "@/b.rec @/a.rec @/b.rec"},
    {"@", "@/Z.rec @/a.rec @/b.rec @/m[1].rec @/one;two.rec @/\xc3\xa9.rec"},
    {"@/", "@/Z.rec @/a.rec @/b.rec @/m[1].rec @/one;two.rec @/\xc3\xa9.rec"},
    {"@/[ab].*", "@/a.idx @/a.rec @/b.rec"},
    {"@/*b*", "@/b.rec"}, /* and not the folder sub */
    {"@/m[1].rec", "@/m[1].rec"},
    {"@/one;two.rec", "@/one;two.rec"},
    {"@/sub;mem://x;@/?.idx", "@/sub/c.rec mem://x @/a.idx"},
    {"fault://seek_ms=8:@/sub", "fault://seek_ms=8:@/sub/c.rec"},
    {"mem://*/*.rec;mem://d/[ab].rec;mem://?/e/z.rec",
     "mem://d/a.rec mem://d/b.rec mem://dd/c.rec mem://d/a.rec mem://d/b.rec mem://d/e/z.rec"},
    {"mem://d;mem://x;mem://d/e/", "mem://d/a.rec mem://d/b.rec mem://x mem://d/e/z.rec"},
    {"fault://seek_ms=8,mb_per_s=150:@/[ab].rec",
     "fault://seek_ms=8,mb_per_s=150:@/a.rec fault://seek_ms=8,mb_per_s=150:@/b.rec"},
};

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(a_list_a_folder_and_a_glob_give_their_files_in_a_fixed_order, 0, COUNT(good))
{
    char spec[2048], want[4096], got[4096] = "";
    struct uri_list l;
    static const char *const objects[] = {"x",       "d/b.rec",   "d/a.rec",   "d/.h.rec",
                                          "d/a.idx", "d/e/z.rec", "d/f.rec/x", "dd/c.rec"};
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
        ck_assert_int_eq(mem_put(objects[i], "", 0, &err), IMREC_OK);
    fill(spec, sizeof(spec), good[_i].spec);
    fill(want, sizeof(want), good[_i].gives);
    ck_assert_msg(uri_list_expand(spec, ".rec", &l, &err) == IMREC_OK, "%s", err.message);
    for (size_t i = 0; i < l.count; i++) {
        strcat(got, i != 0 ? " " : "");
        strcat(got, l.uri[i]);
    }
    ck_assert_str_eq(got, want);
    uri_list_free(&l);
}

static const struct {
    const char *spec;
    enum imrec_status status;
    const char *says;
} bad[] = {
    {"@/nope.rec", IMREC_ERR_ARGUMENT, "@/nope.rec: there is no such file"},
    {"@/a.rec;@/nope.rec", IMREC_ERR_ARGUMENT, "@/nope.rec: there is no such file"},
    {"@/no*.rec", IMREC_ERR_ARGUMENT, "@/no*.rec: nothing matches this pattern"},
    {"@/e*y", IMREC_ERR_ARGUMENT, "@/e*y: nothing matches this pattern"},
    {"mem://x/*.rec", IMREC_ERR_ARGUMENT, "mem://x/*.rec: nothing matches this pattern"},
    {"mem://nope", IMREC_ERR_ARGUMENT, "mem://nope: there is no such object"},
    {"@/empty", IMREC_ERR_ARGUMENT, "@/empty: the folder holds no *.rec"},
    {"@/a.rec;;@/b.rec", IMREC_ERR_ARGUMENT, "empty element"},
    {"", IMREC_ERR_ARGUMENT, "empty element"},
    {"fault://nope", IMREC_ERR_ARGUMENT, "fault://nope: must be fault://options:path"},
    {"fault://folder_eio=1:@", IMREC_ERR_IO, "@: cannot list it: Input/output error"},
    {"fault://folder_eio=3:@", IMREC_ERR_IO, "@: cannot list it: Input/output error"},
    {"@/a.rec;ftp://x/y", IMREC_ERR_UNSUPPORTED, "ftp://x/y: no store knows the scheme 'ftp://'"},
};

TEST(a_list_knows_what_was_given_for_each_of_its_names)
{
    char spec[2048];
    struct uri_list l;
    fill(spec, sizeof(spec), "@/b.rec;@/sub;@/[ab].rec;@/b.rec");
    static const enum uri_origin want[] = {URI_NAMED, URI_IN_FOLDER, URI_MATCHED, URI_MATCHED,
                                           URI_NAMED};
    ck_assert_msg(uri_list_expand(spec, ".rec", &l, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(l.count, 5);
    for (size_t i = 0; i < l.count; i++)
        ck_assert_int_eq(l.origin[i], want[i]);
    for (size_t i = 0; i < 100; i++) /* over several steps of its growth */
        ck_assert_int_eq(uri_list_add(&l, "folder/x", 7, "y.rec", URI_LISTED, &err), IMREC_OK);
    ck_assert_str_eq(l.uri[104], "folder/y.rec");
    ck_assert(l.origin[104] == URI_LISTED && l.origin[1] == URI_IN_FOLDER && l.count == 105);
    uri_list_free(&l);
}

LOOP_TEST(what_matches_nothing_is_named, 0, COUNT(bad))
{
    char spec[2048], says[2048];
    struct uri_list l;
    fill(spec, sizeof(spec), bad[_i].spec);
    fill(says, sizeof(says), bad[_i].says);
    ck_assert_int_eq(uri_list_expand(spec, ".rec", &l, &err), bad[_i].status);
    ck_assert_int_eq(err.sys_errno, _i < 6 ? ENOENT : bad[_i].status == IMREC_ERR_IO ? EIO : 0);
    ck_assert_msg(strstr(err.message, says) != NULL, "%s", err.message);
    ck_assert_uint_eq(l.count, 0);
}

TEST(no_allocation_that_fails_leaks)
{
    struct uri_list l;
    STARVING(memory)
    {
        memory.st = uri_list_expand(dir.path, ".rec", &l, &err);
        ck_assert(memory.st == IMREC_OK || (l.count == 0 && err.status == memory.st));
        uri_list_free(&l);
    }
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
