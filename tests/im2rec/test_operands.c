/* tests/im2rec/test_operands.c - Operands that are looked at in the file system: PREFIX of lists,
 * and a folder of pairs. */
#include "base/alloc.h"
#include "im2rec/command/pairs.h"
#include "im2rec/command/prefix.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct tmpdir dir;
static struct imrec_error err;

static void setup(void)
{
    dir = tmpdir_make();
}

static void teardown(void)
{
    imrec_alloc_fail_after(-1);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void make(const char *const *names) /* NULL at the end; a folder ends in '/' */
{
    char path[256];
    for (; *names != NULL; names++) {
        const size_t n = strlen(*names);
        snprintf(path, sizeof(path), "%.*s", (int)n - ((*names)[n - 1] == '/'), *names);
        if (path[n - 1] == '\0')
            ck_assert_int_eq(mkdir(tmp_path(&dir, path), 0700), 0);
        else
            tmp_write(&dir, path, "x", 1);
    }
}

/* ---- lists ----------------------------------------------------------------------------------- */

static const char *const lists[] = {"set.lst",
                                    "set_2.lst",
                                    "set_10.lst",
                                    "set_train.lst",
                                    "set_2_train.lst",
                                    "set_2_val.lst",
                                    "set_test.lst",
                                    "set2.lst",
                                    "set_.lst",
                                    "set_x.lst",
                                    "set_2_x.lst",
                                    "set_2.lst.bak",
                                    "set_train.rec",
                                    "a\xff.lst",
                                    "one.lst",
                                    "one.classes.txt",
                                    ".lst",
                                    "_7.lst",
                                    NULL};

static const struct {
    const char *prefix; /* behind the folder */
    const char *found;  /* names without ".lst", each with a blank behind it; NULL: none */
    bool classes;
} prefixes[] = {
    {"set", "set set_10 set_2 set_2_train set_2_val set_test set_train ", false},
    {"set_2", "set_2 set_2_train set_2_val ", false},
    {"set2", "set2 ", false},
    {"one", "one ", true},
    {"a\xff", "a\xff ", false},
    {"", " _7 ", false},
    {"se", NULL, false},
    {"nothing", NULL, false},
    {"none/set", NULL, false},
};

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(a_prefix_names_the_lists_that_the_packer_can_have_written, 0, COUNT(prefixes))
{
    char prefix[600], found[1024] = "";
    struct prefix_lists p;
    make(lists);
    snprintf(prefix, sizeof(prefix), "%s/%s", dir.path, prefixes[_i].prefix);
    const enum imrec_status st = prefix_find(prefix, &p, &err);
    if (prefixes[_i].found == NULL) {
        char says[1300];
        snprintf(says, sizeof(says), "%s is not a folder, and there is no list %s.lst", prefix,
                 prefix);
        ck_assert_int_eq(st, IMREC_ERR_ARGUMENT);
        ck_assert_str_eq(err.message, says);
        prefix_free(&p);
        return;
    }
    ck_assert_int_eq(st, IMREC_OK);
    for (size_t i = 0; i < p.count; i++) {
        const size_t n = strlen(p.out[i]);
        ck_assert(strncmp(p.list[i], p.out[i], n) == 0 && strcmp(p.list[i] + n, ".lst") == 0);
        strcat(found, p.out[i] + strlen(dir.path) + 1);
        strcat(found, " ");
    }
    ck_assert_str_eq(found, prefixes[_i].found);
    ck_assert_int_eq(p.classes != NULL, prefixes[_i].classes);
    prefix_free(&p);
}

TEST(a_prefix_without_a_folder_is_in_this_one)
{
    struct prefix_lists p;
    make(lists);
    ck_assert_int_eq(chdir(dir.path), 0);
    ck_assert_int_eq(prefix_find("one", &p, &err), IMREC_OK);
    ck_assert_uint_eq(p.count, 1);
    ck_assert_str_eq(p.list[0], "one.lst");
    ck_assert_str_eq(p.classes, "one.classes.txt");
    prefix_free(&p);
    ck_assert_int_eq(chdir("/"), 0);
}

TEST(lists_without_memory_are_an_error)
{
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    struct prefix_lists p;
    make(lists);
    const char *prefix = tmp_path(&dir, "set");
    for (long n = 0; st == IMREC_ERR_NO_MEMORY; n++) {
        imrec_alloc_fail_after(n);
        st = prefix_find(prefix, &p, &err);
        imrec_alloc_fail_after(-1);
        if (st == IMREC_OK)
            ck_assert_uint_eq(p.count, 7);
        prefix_free(&p);
        ck_assert_int_eq(imrec_alloc_live(), 0);
    }
    ck_assert_int_eq(st, IMREC_OK);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static const struct {
    const char *names[5];
    const char *link; /* this name leads to a folder */
    bool pairs;
} folders[] = {
    {{"images/", "masks/"}, NULL, true},
    {{"images/", "masks/", ".cache", ".git/"}, NULL, true},
    {{"images/"}, "masks", true},
    {{"images/", "masks/", "more/"}, NULL, false},
    {{"images/", "masks/", "readme.txt"}, NULL, false},
    {{"images/", "masks"}, NULL, false},
    {{"images/", "Masks/"}, NULL, false},
    {{"images/"}, NULL, false},
    {{"masks/"}, NULL, false},
    {{NULL}, NULL, false},
};

LOOP_TEST(a_folder_of_images_and_masks_alone_is_one_of_pairs, 0, COUNT(folders))
{
    struct pairs p;
    char want[600];
    make(folders[_i].names);
    if (folders[_i].link != NULL)
        ck_assert_int_eq(symlink("/", tmp_path(&dir, folders[_i].link)), 0);
    ck_assert_int_eq(pairs_find(dir.path, &p, &err), IMREC_OK);
    ck_assert_int_eq(p.images != NULL, folders[_i].pairs);
    ck_assert_int_eq(p.masks != NULL, folders[_i].pairs);
    if (folders[_i].pairs) {
        snprintf(want, sizeof(want), "%s/images", dir.path);
        ck_assert_str_eq(p.images, want);
        snprintf(want, sizeof(want), "%s/masks", dir.path);
        ck_assert_str_eq(p.masks, want);
    }
    pairs_free(&p);
}

TEST(what_is_not_there_is_no_folder_of_pairs)
{
    struct pairs p;
    ck_assert_int_eq(pairs_find(tmp_path(&dir, "none"), &p, &err), IMREC_OK);
    ck_assert_ptr_null(p.images);
}

TEST(no_memory_to_look_for_pairs_is_an_error)
{
    static const char *const names[] = {"images/", "masks/", NULL};
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    struct pairs p;
    make(names);
    for (long n = 0; st == IMREC_ERR_NO_MEMORY; n++) {
        imrec_alloc_fail_after(n);
        st = pairs_find(dir.path, &p, &err);
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(p.images != NULL, st == IMREC_OK);
        ck_assert_int_ge(n, st == IMREC_OK); /* the first request opens the folder */
        pairs_free(&p);
    }
    ck_assert_int_eq(st, IMREC_OK);
}
