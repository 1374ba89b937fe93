#include "base/alloc.h"
#include "container/folder/folder_scan.h"
#include "im2rec/list/job.h"
#include "tests/support/suite.h"
#include "tests/support/tmp_socket.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

static struct tmpdir dir;
static struct imrec_error err;
static struct scan scan;
static const char *const builtin[] = {".jpg", ".png", NULL};

static void setup(void)
{
    dir = tmpdir_make();
    memset(&scan, 0, sizeof(scan));
}

static void teardown(void)
{
    scan_free(&scan);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void folder(const char *name)
{
    ck_assert_int_eq(mkdir(tmp_path(&dir, name), 0777), 0);
}

static void file(const char *name)
{
    tmp_write(&dir, name, "x", 1);
}

static enum imrec_status
look(enum imrec_class_from from, const char *exts, const struct class_list *given)
{
    const struct scan_options o = {
        .root = dir.path, .class_from = from, .exts = exts, .builtin = builtin, .given = given};
    return scan_folder(&o, &scan, &err);
}

static void expect_file(size_t i, const char *path, int64_t class_index)
{
    char have[4096];
    ck_assert_uint_lt(i, scan.file_count);
    scan_path(&scan, scan.files[i], have);
    ck_assert_str_eq(have, path);
    ck_assert_int_eq(scan.folders[scan.files[i]->folder].class_index, class_index);
    ck_assert_uint_eq(scan.files[i]->id, i);
}

static const struct scan_skip *skip_of(const char *path)
{
    for (size_t i = 0; i < scan.skip_count; i++)
        if (strcmp(scan.skips[i].path, path) == 0)
            return &scan.skips[i];
    ck_abort_msg("%s is not skipped", path);
    return NULL;
}

static void make_tree(void)
{
    folder("b");
    folder("a");
    folder("a/deep");
    folder(".hidden");
    folder("empty");
    file("b/2.jpg");
    file("b/10.JPG");
    file("a/deep/x.png");
    file("a/z.png");
    file("a/notes.txt");
    file("a/.jpg"); /* a name, no extension */
    file("top.jpg");
    file(".hidden/h.jpg");
}

CASE(.setup = setup, .teardown = teardown)

TEST(first_level_folders_are_the_classes_in_the_order_of_their_bytes)
{
    make_tree();
    ck_assert_msg(look(IMREC_CLASS_TOP, "", NULL) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(scan.file_count, 4);
    expect_file(0, "a/z.png", 0);
    expect_file(1, "a/deep/x.png", 0);
    expect_file(2, "b/10.JPG", 1);
    expect_file(3, "b/2.jpg", 1);
    ck_assert_uint_eq(scan.classes.count, 3); /* "empty" keeps its number */
    ck_assert_int_eq(skip_of("top.jpg")->reason, REASON_OUTSIDE);
    ck_assert_int_eq(skip_of(".hidden/h.jpg")->reason, REASON_OUTSIDE);
    ck_assert_uint_eq(scan.other_files, 2);
}

TEST(leaf_folders_with_images_are_the_classes_in_the_order_of_the_walk)
{
    make_tree();
    ck_assert_int_eq(look(IMREC_CLASS_LEAF, "", NULL), IMREC_OK);
    ck_assert_uint_eq(scan.file_count, 6);
    expect_file(0, "top.jpg", 0);
    expect_file(1, ".hidden/h.jpg", 1);
    expect_file(2, "a/z.png", 2);
    expect_file(3, "a/deep/x.png", 3);
    expect_file(4, "b/10.JPG", 4);
    ck_assert_uint_eq(scan.classes.count, 5);
    ck_assert_uint_eq(scan.skip_count, 0);
}

LOOP_TEST(given_extensions_replace_those_built_in_with_or_without_their_dot, 0, 2)
{
    make_tree();
    ck_assert_int_eq(look(IMREC_CLASS_TOP, _i == 0 ? ".TXT,.gif" : "gif, txt", NULL), IMREC_OK);
    ck_assert_uint_eq(scan.file_count, 1);
    expect_file(0, "a/notes.txt", 0);
}

static void given_list(struct class_list *l, const char *const *names, size_t n)
{
    memset(l, 0, sizeof(*l));
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(
            class_list_add(l, (struct bytes){(const uint8_t *)names[i], strlen(names[i])}, &err),
            IMREC_OK);
    ck_assert_int_eq(class_list_seal(l, &err), IMREC_OK);
}

static const struct {
    const char *names[4];
    size_t n;
    const char *says; /* NULL: fine */
} lists[] = {
    {{"b", "empty", "a"}, 3, NULL},
    {{"b", "a"}, 2, "holds the class 'empty'"},
    {{"b", "empty", "a", "zebra"}, 4, "no folder for the class 'zebra'"},
};

LOOP_TEST(a_given_class_list_fixes_the_numbers_and_must_fit, 0, COUNT(lists))
{
    struct class_list l;
    make_tree();
    given_list(&l, lists[_i].names, lists[_i].n);
    const enum imrec_status st = look(IMREC_CLASS_TOP, "", &l);
    if (lists[_i].says == NULL) {
        ck_assert_int_eq(st, IMREC_OK);
        expect_file(0, "a/z.png", 2);
        expect_file(2, "b/10.JPG", 0);
    } else {
        ck_assert_int_eq(st, IMREC_ERR_ARGUMENT);
        ck_assert_msg(strstr(err.message, lists[_i].says) != NULL, "%s", err.message);
    }
    class_list_free(&l);
}

TEST(what_is_no_file_or_cannot_be_named_is_skipped_with_its_own_reason)
{
    folder("a");
    file("a/good.jpg");
    ck_assert_int_eq(mkfifo(tmp_path(&dir, "a/pipe.jpg"), 0666), 0);
    tmp_socket(&dir, "a/socket.jpg");
    ck_assert_int_eq(symlink("nowhere", tmp_path(&dir, "a/lost.jpg")), 0);
    ck_assert_int_eq(symlink("good.jpg", tmp_path(&dir, "a/link.jpg")), 0);
    ck_assert_int_eq(symlink("self.jpg", tmp_path(&dir, "a/self.jpg")), 0);
    file("a/new\nline.jpg");
    file("a/tab\there.jpg");
    file("a/del\x7f.jpg");
    file("a/latin\xe9.jpg");
    folder("a/folder.jpg");
    folder("a/bad\xff");
    file("a/bad\xff/in.jpg");
    ck_assert_msg(look(IMREC_CLASS_TOP, "", NULL) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(scan.file_count, 2);
    expect_file(0, "a/good.jpg", 0);
    expect_file(1, "a/link.jpg", 0);
    ck_assert_str_eq(skip_of("a/pipe.jpg")->why, "is a FIFO");
    ck_assert_str_eq(skip_of("a/socket.jpg")->why, "is a socket");
    ck_assert_int_eq(skip_of("a/lost.jpg")->reason, REASON_LINK);
    ck_assert_int_eq(skip_of("a/self.jpg")->reason, REASON_LINK);
    ck_assert_int_eq(skip_of("a/new\nline.jpg")->reason, REASON_NAME);
    ck_assert_int_eq(skip_of("a/tab\there.jpg")->reason, REASON_NAME);
    ck_assert_int_eq(skip_of("a/latin\xe9.jpg")->reason, REASON_UTF8);
    ck_assert_int_eq(skip_of("a/bad\xff")->reason, REASON_UTF8);
    ck_assert_int_eq(skip_of("a/del\x7f.jpg")->reason, REASON_NAME);
    static const struct {
        const char *path, *why;
    } said[] = {
        /* in the order of their bytes */
        {"a/bad\xff", "the folder's name is not UTF-8"},
        {"a/del\x7f.jpg", "the name holds a control character"},
        {"a/latin\xe9.jpg", "the name is not UTF-8"},
        {"a/lost.jpg", "the link leads to nothing"},
        {"a/new\nline.jpg", "the name holds a control character"},
        {"a/pipe.jpg", "is a FIFO"},
        {"a/self.jpg", "Too many levels of symbolic links"},
        {"a/socket.jpg", "is a socket"},
        {"a/tab\there.jpg", "the name holds a control character"},
    };
    ck_assert_uint_eq(scan.skip_count, sizeof(said) / sizeof(said[0]));
    for (size_t i = 0; i < scan.skip_count; i++) {
        ck_assert_str_eq(scan.skips[i].path, said[i].path);
        ck_assert_str_eq(scan.skips[i].why, said[i].why);
    }
}

TEST(a_folder_that_may_not_be_opened_is_skipped_with_the_systems_reason)
{
    folder("a");
    folder("a/closed");
    file("a/good.jpg");
    ck_assert_int_eq(chmod(tmp_path(&dir, "a/closed"), 0), 0);
    const bool refused = access(tmp_path(&dir, "a/closed"), R_OK) != 0; /* not to root */
    ck_assert_int_eq(look(IMREC_CLASS_TOP, "", NULL), IMREC_OK);
    ck_assert_uint_eq(scan.skip_count, refused);
    if (refused) {
        ck_assert_str_eq(skip_of("a/closed")->why, "Permission denied");
        ck_assert_int_eq(skip_of("a/closed")->reason, REASON_UNREADABLE);
    }
    ck_assert_int_eq(chmod(tmp_path(&dir, "a/closed"), 0700), 0);
}

TEST(links_that_lead_back_or_to_the_same_folder_twice_end)
{
    folder("a");
    folder("a/b");
    folder("c");
    file("a/b/1.jpg");
    file("c/2.jpg");
    ck_assert_int_eq(symlink("..", tmp_path(&dir, "a/up")), 0);
    ck_assert_int_eq(symlink(".", tmp_path(&dir, "a/b/here")), 0);
    ck_assert_int_eq(symlink("../c", tmp_path(&dir, "a/to_c")), 0);
    ck_assert_int_eq(symlink("../a", tmp_path(&dir, "c/to_a")), 0);
    ck_assert_int_eq(symlink("c", tmp_path(&dir, "d")), 0);
    ck_assert_int_eq(look(IMREC_CLASS_TOP, "", NULL), IMREC_OK);
    expect_file(0, "a/b/1.jpg", 0);
    expect_file(1, "a/to_c/2.jpg", 0);
    ck_assert_int_eq(skip_of("a/up")->reason, REASON_LINK);
    ck_assert_int_eq(skip_of("a/b/here")->reason, REASON_LINK);
    ck_assert_int_eq(skip_of("d")->reason, REASON_LINK);
    ck_assert_str_eq(skip_of("a/up")->why, "the link leads back to a folder above it");
    ck_assert_str_eq(skip_of("d")->why, "another link led to the same folder");
}

TEST(a_scan_without_memory_is_an_error_and_leaks_nothing)
{
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    make_tree();
    ck_assert_int_eq(symlink("a", tmp_path(&dir, "link")), 0);
    for (long n = 0; st == IMREC_ERR_NO_MEMORY; n++) {
        err.message[0] = '\0';
        imrec_alloc_fail_after(n);
        st = look(IMREC_CLASS_TOP, "", NULL);
        imrec_alloc_fail_after(-1);
        ck_assert(st == IMREC_OK || err.message[0] != '\0');
        ck_assert(st == IMREC_OK || imrec_alloc_live() == 0);
    }
    ck_assert_int_eq(st, IMREC_OK);
    ck_assert_uint_eq(scan.file_count, 6);
}

TEST(a_root_that_is_no_folder_is_an_error_that_names_it)
{
    const struct scan_options o = {
        .root = tmp_path(&dir, "nothing"), .exts = "", .builtin = builtin};
    ck_assert_int_eq(scan_folder(&o, &scan, &err), IMREC_ERR_IO);
    char want[600];
    snprintf(want, sizeof(want), "opening the folder %s: No such file or directory", o.root);
    ck_assert_str_eq(err.message, want);
    ck_assert_int_eq(err.sys_errno, ENOENT);
}

TEST(shuffling_keeps_every_image_and_depends_on_the_seed)
{
    enum { N = 200 };
    char name[32], seen[N] = {0};
    uint32_t first[N];
    size_t moved = 0;
    folder("a");
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "a/%03d.jpg", i);
        file(name);
    }
    ck_assert_int_eq(look(IMREC_CLASS_TOP, "", NULL), IMREC_OK);
    folder_shuffle(&scan, 100);
    for (size_t i = 0; i < N; i++) {
        first[i] = scan.files[i]->id;
        ck_assert_int_eq(seen[first[i]]++, 0);
        moved += first[i] != i;
    }
    ck_assert_uint_gt(moved, N - 10);
    scan_free(&scan);
    ck_assert_int_eq(look(IMREC_CLASS_TOP, "", NULL), IMREC_OK);
    folder_shuffle(&scan, 101);
    moved = 0;
    for (size_t i = 0; i < N; i++)
        moved += scan.files[i]->id != first[i];
    ck_assert_uint_gt(moved, N - 10);
}

/* ---- lists ------------------------------------------------------------------------------ */

static const char *const texts[] = {
    "",
    "0\t1\ta b.jpg",
    "0\t1\ta.jpg\n1\t2\tb.jpg\n",
    "0\t1\ta.jpg\r\n\r\n1\t2\tb.jpg\r\n2\t0\tc/d.jpg",
    ("\xef\xbb\xbf"
     "0\t1\ta.jpg\r1\t2\tb.jpg\r2\t0\tc/d.jpg\r"),
    "0\t1\ta.jpg\n\n\n\n1\t2\tlonger/name/than/others/are.jpg\n2\t0\tc\n3\t1\td\n4\t2\te\n\n",
};

/* Appends "line:id:path;" of each image of the share. */
static uint64_t read_share(const char *path, int64_t k, int64_t n, char *out, size_t room)
{
    struct list_reader *r;
    struct pack_item p = {0};
    uint64_t total, print = 0, count = 0;
    enum imrec_status st;
    ck_assert_msg(list_open(path, NULL, 0, (struct imrec_share){k, n}, NULL, &r, &total, &print,
                            &err) == IMREC_OK,
                  "%s", err.message);
    p.labels.max = p.text.max = 1 << 20;
    while ((st = list_next(r, &p, &err)) == IMREC_OK) {
        const size_t used = strlen(out);
        ck_assert_int_eq(p.outcome.reason, REASON_NONE);
        snprintf(out + used, room - used, "%d:%d:%.*s;", (int)p.line, (int)p.id, (int)p.path.n,
                 (const char *)p.path.p);
        p.text.n = p.labels.n = 0;
        count++;
    }
    ck_assert_int_eq(st, IMREC_END);
    ck_assert_uint_eq(count, total);
    pack_item_free(&p);
    list_close(r);
    return count;
}

LOOP_TEST(any_number_of_shares_covers_every_line_once_with_its_number, 0, COUNT(texts))
{
    char whole[1024] = "";
    const char *path = tmp_write(&dir, "a.lst", texts[_i], strlen(texts[_i]));
    read_share(path, 0, 1, whole, sizeof(whole));
    for (int64_t n = 2; n < 30; n++) {
        char joined[1024] = "";
        for (int64_t k = 0; k < n; k++)
            read_share(path, k, n, joined, sizeof(joined));
        ck_assert_str_eq(joined, whole);
    }
}

TEST(shares_are_cut_at_the_original_s_bytes)
{
    char text[1001] = "", *at = text, out[4096];
    for (int i = 0; i < 100; i++)
        at += sprintf(at, "%d\t1\tab%s\n", i, i < 10 ? "cde" : "cd"); /* 10 bytes a line */
    ck_assert_int_eq(at - text, 1000);
    const char *path = tmp_write(&dir, "a.lst", text, 1000);
    for (int64_t k = 0; k < 50; k++) { /* a line at the cut belongs to the share before */
        out[0] = '\0';
        const uint64_t lines = read_share(path, k, 50, out, sizeof(out));
        ck_assert_uint_eq(lines, k == 0 ? 3 : k == 49 ? 1 : 2);
    }
}

TEST(a_list_of_many_pieces_reads_as_one)
{
    enum { LINES = 200000 };
    FILE *f = fopen(tmp_path(&dir, "big.lst"), "w");
    for (int i = 0; i < LINES; i++)
        fprintf(f, "%d\t%d.5\tfolder/%d.jpg%s", i, i % 10, i, i % 3 == 0 ? "\r\n" : "\n");
    fclose(f);
    struct list_reader *r;
    struct pack_item p = {0};
    uint64_t total, print = 0, i = 0;
    ck_assert_int_eq(list_open(tmp_path(&dir, "big.lst"), NULL, 1, (struct imrec_share){0, 1}, NULL,
                               &r, &total, &print, &err),
                     IMREC_OK);
    ck_assert_uint_eq(total, LINES);
    p.labels.max = p.text.max = 1 << 20;
    while (list_next(r, &p, &err) == IMREC_OK) {
        ck_assert_uint_eq(p.id, i++);
        ck_assert_uint_eq(p.line, i);
        p.text.n = p.labels.n = 0;
    }
    ck_assert_uint_eq(i, LINES);
    pack_item_free(&p);
    list_close(r);
}

TEST(a_malformed_line_is_an_image_with_a_reason_and_the_next_one_is_read)
{
    static const char text[] = "0\t1\ta.jpg\nnonsense\n2\t1\tc\xff.jpg\n3\t1\td.jpg\n";
    struct list_reader *r;
    struct pack_item p = {0};
    uint64_t total, print = 0;
    enum reason reasons[4];
    tmp_write(&dir, "a.lst", text, sizeof(text) - 1);
    ck_assert_int_eq(list_open(tmp_path(&dir, "a.lst"), NULL, 0, (struct imrec_share){0, 1}, NULL,
                               &r, &total, &print, &err),
                     IMREC_OK);
    ck_assert_uint_eq(total, 4);
    p.labels.max = p.text.max = 1 << 20;
    for (int i = 0; i < 4; i++) {
        p.text.n = p.labels.n = 0;
        p.outcome.reason = REASON_NONE;
        ck_assert_int_eq(list_next(r, &p, &err), IMREC_OK);
        reasons[i] = p.outcome.reason;
        if (i == 1)
            ck_assert_ptr_nonnull(strstr(p.why, "line 2"));
    }
    ck_assert_int_eq(reasons[0], REASON_NONE);
    ck_assert_int_eq(reasons[1], REASON_LINE);
    ck_assert_int_eq(reasons[2], REASON_UTF8);
    ck_assert_int_eq(reasons[3], REASON_NONE);
    pack_item_free(&p);
    list_close(r);
}
