#include "base/alloc.h"
#include "storage/mem.h"
#include "storage/uri_list.h"
#include "storage/uri_range.h"
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
                                  ".h.rec", "m[1].rec", "one;two.rec", "sub/c.rec", "\xc3\xa9.rec",
                                  "r/08.r", "r/09.r",   "r/10.r",      "r/{1..2}",  "r/9.r"};
    dir = tmpdir_make();
    mkdir(tmp_path(&dir, "sub"), 0700);
    mkdir(tmp_path(&dir, "empty"), 0700);
    mkdir(tmp_path(&dir, "r"), 0700);
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
    {"@/r/{08..10}.r;@/a.rec", "@/r/08.r @/r/09.r @/r/10.r @/a.rec"},
    {"@/r/{10..08}.r", "@/r/10.r @/r/09.r @/r/08.r"},
    {"@/r/{9..10}.r", "@/r/9.r @/r/10.r"},
    {"@/r/{1..2}", "@/r/{1..2}"}, /* a file of this name */
    {"@/r/{0..0}{8..9}.r", "@/r/08.r @/r/09.r"},
    {"@/r/{0..1}*.r", "@/r/08.r @/r/09.r @/r/10.r"},
    {"mem://n/{08..09}.r;mem://n{2..1}/a.r;mem://n{1..2}/*;mem://{1..2}",
     "mem://n/08.r mem://n/09.r mem://n2/a.r mem://n1/a.r mem://n1/a.r mem://n2/a.r mem://{1..2}"},
    {"fault://seek_ms=8:@/r/{08..09}.r", "fault://seek_ms=8:@/r/08.r fault://seek_ms=8:@/r/09.r"},
    {"fault://seek_ms=8,mb_per_s=150:@/[ab].rec",
     "fault://seek_ms=8,mb_per_s=150:@/a.rec fault://seek_ms=8,mb_per_s=150:@/b.rec"},
};

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(a_list_a_folder_and_a_glob_give_their_files_in_a_fixed_order, 0, COUNT(good))
{
    char spec[2048], want[4096], got[4096] = "";
    struct uri_list l;
    static const char *const objects[] = {
        "x",        "d/b.rec", "d/a.rec", "d/.h.rec", "d/a.idx", "d/e/z.rec", "d/f.rec/x",
        "dd/c.rec", "n/08.r",  "n/09.r",  "n1/a.r",   "n2/a.r",  "{1..2}"};
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
    {"@/r/{08..11}.r", IMREC_ERR_ARGUMENT, "@/r/11.r: there is no such file"},
    {"@/{a,b}.rec", IMREC_ERR_ARGUMENT, "@/{a,b}.rec: there is no such file"},
    {"mem://n/{8..9}.r", IMREC_ERR_ARGUMENT, "mem://n/8.r: there is no such object"},
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
    {"@/{0..1048576}", IMREC_ERR_LIMIT, "@/{0..1048576} is more than 1048576 names"},
    {"@/{1..1025}{1..1024}", IMREC_ERR_LIMIT, "is more than 1048576 names"},
    {"@/{1..1}{1..1}{1..1}{1..1}{1..1}{1..1}{1..1}{1..1}{1..1}", IMREC_ERR_LIMIT, "more than 8"},
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

static enum imrec_status join(void *user, const char *name, struct imrec_error *e)
{
    char *text = user;
    (void)e;
    strcat(text, name);
    strcat(text, " ");
    return strlen(text) < 60 ? IMREC_OK : IMREC_END;
}

static const struct {
    const char *text, *names;
} ranges[] = {
    {"a{1..3}b", "a1b a2b a3b "},
    {"{9..11}", "9 10 11 "},
    {"{09..11}{0..1}", "090 091 100 101 110 111 "},
    {"{2..000}", "002 001 000 "},
    {"{1..1}{{0..1}}", "1{0} 1{1} "},
    {"x{}{1.2}{..3}{1..}{1...3}{a..b}{-1..2}{1..2", "x{}{1.2}{..3}{1..}{1...3}{a..b}{-1..2}{1..2 "},
    {"{000000000000000000..1}{0..0}", "0000000000000000000 0000000000000000010 "},
    {"{1..1000000000000000000}",
     "{1..1000000000000000000} "}, /* 19 digits are no number of a range */
    {"{0..1048575}",
     "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 "}, /* and then its end */
};

LOOP_TEST(a_range_gives_the_names_that_a_shell_would, 0, COUNT(ranges))
{
    char got[256] = "";
    const enum imrec_status st = uri_range_names(ranges[_i].text, join, got, &err);
    ck_assert_str_eq(got, ranges[_i].names);
    ck_assert_int_eq(st, strlen(got) < 60 ? IMREC_OK : IMREC_END);
    const char *in = uri_range_in(ranges[_i].text);
    ck_assert_int_eq(in == NULL, strncmp(got, ranges[_i].text, strlen(ranges[_i].text)) == 0);
    ck_assert(in == NULL || (*in == '{' && in[1] >= '0' && in[1] <= '9'));
}

static enum imrec_status count_names(void *user, const char *name, struct imrec_error *e)
{
    (void)e;
    ck_assert_uint_le(strlen(name), 4095);
    ++*(int *)user;
    return IMREC_OK;
}

TEST(a_name_of_a_range_is_shorter_than_4096_bytes)
{
    char text[4200];
    int names = 0;
    memset(text, 'x', 4094);
    strcpy(text + 4094, "{8..10}");
    ck_assert_int_eq(uri_range_names(text, count_names, &names, &err), IMREC_ERR_LIMIT);
    ck_assert_int_eq(names, 2);
    ck_assert_ptr_nonnull(strstr(err.message, "a name is longer than 4095 bytes"));
    strcpy(text + 4094, "{1..1}y");
    ck_assert_int_eq(uri_range_names(text, count_names, &names, &err), IMREC_ERR_LIMIT);
    memmove(text, text + 1, strlen(text));
    ck_assert_int_eq(uri_range_names(text, count_names, &names, &err), IMREC_OK);
    ck_assert_int_eq(names, 3);
}

LOOP_TEST(what_matches_nothing_is_named, 0, COUNT(bad))
{
    char spec[2048], says[2048];
    struct uri_list l;
    fill(spec, sizeof(spec), bad[_i].spec);
    fill(says, sizeof(says), bad[_i].says);
    ck_assert_int_eq(uri_list_expand(spec, ".rec", &l, &err), bad[_i].status);
    ck_assert_int_eq(err.sys_errno, _i < 9 ? ENOENT : bad[_i].status == IMREC_ERR_IO ? EIO : 0);
    ck_assert_msg(strstr(err.message, says) != NULL, "%s", err.message);
    ck_assert_uint_eq(l.count, 0);
}

TEST(no_allocation_that_fails_leaks)
{
    char spec[1024];
    struct uri_list l;
    ck_assert_int_eq(mem_put("n/08.r", "", 0, &err), IMREC_OK);
    fill(spec, sizeof(spec), "@;@/r/{08..10}.r;mem://n/{08..08}.r");
    STARVING(memory)
    {
        memory.st = uri_list_expand(spec, ".rec", &l, &err);
        ck_assert(memory.st == IMREC_OK || (l.count == 0 && err.status == memory.st));
        uri_list_free(&l);
    }
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
