/* tests/im2rec/test_archive_folder.c - a folder that holds archives: which they are, and when it is
 * something else. */
#include "im2rec/list/archive_folder.h"
#include "tests/support/archives.h"
#include "tests/support/starving.h"

#include <unistd.h>

CASE(.timeout = 300, .setup = archives_make, .teardown = archives_remove)

static char *spec;

static enum imrec_status find(const char *folder)
{
    const struct imrec_pack_task task = {.root = folder, .out = "out"};
    return archives_in_folder(&task, &p.o, &spec, &p.err);
}

static void make(const char *folder, const char *const *names)
{
    char name[256];
    ck_assert_int_eq(mkdir(tmp_path(&p.dir, folder), 0777), 0);
    for (; *names != NULL; names++) {
        snprintf(name, sizeof(name), "%s/%s", folder, *names);
        tmp_write(&p.dir, name, "x", 1);
    }
}

static const struct {
    const char *names[8];
    const char *found; /* NULL: an error of `st`, with `words` */
    enum imrec_status st;
    const char *words;
} folders[] = {
    {{"b.tar", "a.tar", ".c.tar", "a.tar.idxb", "README"}, "a.tar;b.tar", IMREC_OK, ""},
    {{"y.tgz", "x.tar.gz"}, "x.tar.gz;y.tgz", IMREC_OK, ""},
    {{"b.tfrecords", "a-00000-of-00001"}, "a-00000-of-00001;b.tfrecords", IMREC_OK, ""},
    {{"a.rec", "a.jpg"}, "", IMREC_OK, ""},
    {{NULL}, "", IMREC_OK, ""},
    {{"a.tar", "b.tfrecord"}, NULL, IMREC_ERR_ARGUMENT, "(a.tar, b.tfrecord): which"},
    {{"a.tar", "b;c.tar"}, NULL, IMREC_ERR_ARGUMENT, "without ';'"},
    {{"t-00000-of-00003.tar", "t-00002-of-00003.tar"},
     NULL,
     IMREC_ERR_IO,
     "3 shards, and 1 is missing: t-00001-of-00003.tar"},
    {{"t-00000-of-00003"}, NULL, IMREC_ERR_IO, "2 are missing: t-00001-of-00003, t-00002-of-00003"},
    {{"t-00000-of-00001.tar", "t-00000-of-00002.tar", "t-00001-of-00002.tar"},
     NULL,
     IMREC_ERR_ARGUMENT,
     "two sets of one name"},
};

LOOP_TEST(a_folder_is_the_archives_that_it_holds, 0, COUNT(folders))
{
    char want[512] = "", folder[256];
    make("f", folders[_i].names);
    snprintf(folder, sizeof(folder), "%s", tmp_path(&p.dir, "f"));
    const enum imrec_status st = find(folder);
    ck_assert_msg(st == folders[_i].st, "%d: %s", (int)st, p.err.message);
    if (folders[_i].found == NULL) {
        ck_assert_msg(strstr(p.err.message, folders[_i].words) != NULL, "%s", p.err.message);
        ck_assert_ptr_null(spec);
        return;
    }
    for (const char *at = folders[_i].found; *at != '\0';) {
        const size_t n = strcspn(at, ";"), to = strlen(want);
        snprintf(want + to, sizeof(want) - to, "%s%s/%.*s", to != 0 ? ";" : "", folder, (int)n, at);
        at += n + (at[n] == ';');
    }
    ck_assert_str_eq(spec != NULL ? spec : "", want);
    imrec_free(spec);
}

TEST(archives_next_to_a_class_are_an_error_that_names_both)
{
    make("f", (const char *const[]){"a.tar", NULL});
    make("f/cat", (const char *const[]){"a.jpg", NULL});
    expect_error(find(tmp_path(&p.dir, "f")), IMREC_ERR_ARGUMENT,
                 "archives (a.tar) and a folder of images (cat)");
    ck_assert_int_eq(unlink(tmp_path(&p.dir, "f/cat/a.jpg")), 0);
    expect_ok(find(tmp_path(&p.dir, "f")));
    ck_assert_ptr_nonnull(spec);
    imrec_free(spec);
}

TEST(words_about_folders_of_images_mean_a_folder_of_images)
{
    make("f", (const char *const[]){"a.tar", NULL});
    p.o.class_from = IMREC_CLASS_FLAT;
    expect_ok(find(tmp_path(&p.dir, "f")));
    ck_assert_ptr_null(spec);
    p.o.class_from = IMREC_CLASS_TOP;
    p.o.exts = ".tar";
    expect_ok(find(tmp_path(&p.dir, "f")));
    ck_assert_ptr_null(spec);
}

TEST(a_folder_that_is_not_there_is_left_to_who_reads_it)
{
    expect_ok(find(tmp_path(&p.dir, "none")));
    ck_assert_ptr_null(spec);
    expect_ok(find("mem://none/"));
    ck_assert_ptr_null(spec);
}

TEST(lacking_memory_is_an_error_and_leaks_nothing)
{
    make("f", folders[0].names);
    char folder[256];
    snprintf(folder, sizeof(folder), "%s", tmp_path(&p.dir, "f"));
    STARVING(s)
    {
        s.st = find(folder);
        ck_assert(s.st != IMREC_OK || spec != NULL);
        imrec_free(spec);
        spec = NULL;
    }
}
