/* tests/container/test_image_files.c - folders of classes and lists of files, read in place: order,
 * ids and labels are im2rec's, and what is wrong with a file costs that file. */
#include "container/container.h"
#include "container/image_files.h"
#include "imrec/imrec.h"
#include "storage/fault.h"
#include "storage/mem.h"
#include "tests/support/heard.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <sys/stat.h>

static struct tmpdir dir;
static struct imrec_error err;

static void setup(void)
{
    dir = tmpdir_make();
    heard_begin();
}

static void teardown(void)
{
    heard_end();
    mem_clear();
    fault_forget("test");
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void folder(const char *name)
{
    ck_assert_int_eq(mkdir(tmp_path(&dir, name), 0777), 0);
}

static void file(const char *name, const char *text)
{
    tmp_write(&dir, name, text, strlen(text));
}

/* Two classes and one without images, which has a number all the same. */
static void make_tree(void)
{
    folder("b");
    folder("a");
    folder("a/deep");
    folder("empty");
    folder(".hidden");
    file("b/2.jpg", "b2");
    file("b/10.JPG", "b10");
    file("b/notes.txt", "no image");
    file("a/z.png", "az");
    file("a/deep/x.png", "adx");
    file(".hidden/h.jpg", "h");
    file("top.jpg", "top");
}

static const char *const tree[] = {"az", "adx", "b10", "b2"};
static const float tree_labels[] = {0, 0, 1, 1};

struct wish {
    uint64_t part, parts;
    enum imrec_container container;
    const char *root;
};

static enum imrec_status try_open(const char *uri, const struct wish *w, struct container *c)
{
    const struct container_options o = {.path_imgrec = uri,
                                        .num_parts = w->parts != 0 ? w->parts : 1,
                                        .part_index = w->part,
                                        .cell_bytes = 1 << 20,
                                        .container = w->container,
                                        .path_root = w->root};
    memset(&err, 0, sizeof(err));
    return container_open(&o, c, &err);
}

static struct container must_open(const char *uri, const struct wish *w)
{
    struct container c;
    ck_assert_msg(try_open(uri, w, &c) == IMREC_OK, "%s", err.message);
    return c;
}

/* The bytes of a record, as text; "" : it is lost, and why is in err. */
static const char *bytes_of(const struct container *c, uint64_t unit)
{
    static char text[64];
    const struct unit_range at = container_unit(c, unit);
    const struct imrec_error *why = c->kind->lost(c, unit);
    memset(text, 0, sizeof(text));
    memset(&err, 0, sizeof(err));
    if (why != NULL)
        err = *why;
    else if (source_read(c->shards[at.shard].source, at.begin, text, (size_t)(at.end - at.begin),
                         &err) != IMREC_OK)
        return "";
    return text;
}

static void
expect(const struct container *c, uint64_t unit, const char *text, uint64_t id, float label)
{
    struct parse_room room;
    struct record r;
    const char *have = bytes_of(c, unit);
    ck_assert_msg(strcmp(have, text) == 0, "record %d is '%s', not '%s' (%s)", (int)unit, have,
                  text, err.message);
    const struct unit_range at = container_unit(c, unit);
    const struct record_ref ref = {.bytes = {(const uint8_t *)have, strlen(have)},
                                   .offset = at.begin,
                                   .key = c->records[unit].key,
                                   .unit = unit,
                                   .shard = at.shard};
    ck_assert_int_eq(parse_room_init(&room, 4, IMREC_LABEL_FLOAT32, 1, &err), IMREC_OK);
    ck_assert_int_eq(c->kind->parse(c, &ref, RECORD_PARTS, &room, &r, &err), IMREC_OK);
    ck_assert_uint_eq(r.id, id);
    ck_assert_uint_eq(r.image.n, strlen(text));
    ck_assert(r.label_count >= 1 && record_label(&r, 0) == label);
    parse_room_free(&room);
}

static void expect_lost(const struct container *c, uint64_t unit, const char *words)
{
    ck_assert_str_eq(bytes_of(c, unit), "");
    ck_assert_msg(strstr(err.message, words) != NULL, "'%s' does not say '%s'", err.message, words);
}

static void expect_tree(const struct container *c)
{
    ck_assert_uint_eq(c->unit_count, COUNT(tree));
    for (uint64_t i = 0; i < COUNT(tree); i++)
        expect(c, i, tree[i], i, tree_labels[i]);
}

CASE(.setup = setup, .teardown = teardown)

TEST(folders_are_classes_in_the_order_of_their_names)
{
    struct class_list classes;
    make_tree();
    struct container c = must_open(dir.path, &(struct wish){0});
    ck_assert_ptr_eq(c.kind, &folder_kind);
    expect_tree(&c);
    container_close(&c);
    ck_assert_int_eq(image_folder_classes(dir.path, &classes, &err), IMREC_OK);
    ck_assert_uint_eq(classes.count, 3);
    ck_assert_int_eq(memcmp(class_list_name(&classes, 2).p, "empty", 5), 0);
    class_list_free(&classes);
}

static struct record_ref ref_of(const struct container *c, uint64_t unit)
{
    const struct unit_range at = container_unit(c, unit);
    return (struct record_ref){
        .offset = at.begin, .key = c->records[unit].key, .unit = unit, .shard = at.shard};
}

TEST(images_are_called_by_their_names_below_the_folder)
{
    static const char *const names[] = {"a/z.png", "a/deep/x.png", "b/10.JPG", "b/2.jpg"};
    char name[IMAGE_NAME_BYTES], place[96];
    make_tree();
    struct container c = must_open(dir.path, &(struct wish){0});
    for (uint64_t i = 0; i < COUNT(names); i++) {
        const struct record_ref r = ref_of(&c, i);
        image_files_name(&c, &r, name);
        ck_assert_str_eq(name, names[i]);
        ck_assert_uint_eq(container_describe(&c, &r, &err, place), r.offset);
        ck_assert_str_eq(place, names[i]);
    }
    container_close(&c);
}

/* Of a long name the end is said, from a whole character on. */
LOOP_TEST(a_name_that_is_too_long_for_a_message_ends_in_it, 80, 100) /* _i: its bytes */
{
    char name[200] = "a/", want[96] = "...", place[96];
    folder("a");
    for (size_t n = 2; n + 6 <= (size_t)_i; n += 2)
        memcpy(name + n, "\xc3\xa9", 3);
    strcat(name, _i % 2 == 0 ? ".jpg" : "1.jpg");
    ck_assert_uint_eq(strlen(name), _i);
    file(name, "image");
    struct container c = must_open(dir.path, &(struct wish){0});
    const struct record_ref r = ref_of(&c, 0);
    memset(place, 'x', sizeof(place));
    (void)container_describe(&c, &r, &err, place);
    const size_t n = strlen(name);
    const char *from = n < 96 ? name : name + n - 92 + (name[n - 92] == '\xa9');
    strcpy(want + (n < 96 ? 0 : 3), from);
    ck_assert_str_eq(place, want);
    container_close(&c);
}

TEST(a_slash_at_the_end_and_a_scheme_change_nothing)
{
    char uri[300];
    make_tree();
    struct container c = must_open(dir.path, &(struct wish){0});
    const uint64_t print = container_fingerprint(&c);
    container_close(&c);
    snprintf(uri, sizeof(uri), "file://%s/", dir.path);
    c = must_open(uri, &(struct wish){0});
    expect_tree(&c);
    ck_assert_uint_eq(container_fingerprint(&c), print);
    container_close(&c);
}

LOOP_TEST(partitions_count_the_files_off, 1, 6) /* _i parts */
{
    uint64_t next = 0;
    make_tree();
    for (uint64_t part = 0; part < (uint64_t)_i; part++) {
        struct container c = must_open(dir.path, &(struct wish){part, (uint64_t)_i, 0, NULL});
        for (uint64_t i = 0; i < c.unit_count; i++, next++)
            expect(&c, i, tree[next], next, tree_labels[next]);
        container_close(&c);
    }
    ck_assert_uint_eq(next, COUNT(tree));
}

TEST(a_folder_without_folders_is_one_class)
{
    file("2.jpg", "two");
    file("1.jpg", "one");
    struct container c = must_open(dir.path, &(struct wish){0});
    ck_assert_uint_eq(c.unit_count, 2);
    expect(&c, 0, "one", 0, 0);
    expect(&c, 1, "two", 1, 0);
    container_close(&c);
}

TEST(what_is_wrong_with_a_file_costs_that_file)
{
    folder("a");
    folder("a/folder.jpg");
    file("a/0.jpg", "");
    file("a/1.jpg", "one");
    file("a/2.jpg", "two");
    file("a/3.jpg", "three");
    file("a/4.jpg", "four");
    struct container c = must_open(dir.path, &(struct wish){0});
    ck_assert_uint_eq(c.unit_count, 5);
    ck_assert_int_eq(unlink(tmp_path(&dir, "a/2.jpg")), 0);
    file("a/3.jpg", "another one");
    expect_lost(&c, 0, "is empty");
    expect(&c, 1, "one", 1, 0);
    expect_lost(&c, 2, "cannot open: No such file");
    ck_assert_ptr_null(strstr(err.message, dir.path)); /* who reports it names the file */
    expect_lost(&c, 3, "it has 11 bytes, and had 5");
    expect(&c, 4, "four", 4, 0);
    container_close(&c);
}

TEST(names_that_no_list_can_hold_are_skipped_with_a_warning)
{
    folder("a");
    folder("b");
    file("a/1.jpg", "one");
    file("a/2\n.jpg", "newline");
    file("a/3\xff.jpg", "no UTF-8");
    ck_assert_int_eq(symlink("nothing", tmp_path(&dir, "a/4.jpg")), 0);
    ck_assert_int_eq(symlink("../b", tmp_path(&dir, "b/loop")), 0);
    ck_assert_int_eq(symlink("..", tmp_path(&dir, "b/up")), 0);
    file("b/5.jpg", "five");
    struct container c = must_open(dir.path, &(struct wish){0});
    ck_assert_uint_eq(c.unit_count, 2);
    expect(&c, 0, "one", 0, 0);
    expect(&c, 1, "five", 1, 1);
    container_close(&c);
    ck_assert_uint_eq(heard_count("names are skipped"), 1);
}

TEST(shards_beside_folders_of_images_need_a_word)
{
    make_tree();
    file("train.rec", "");
    struct container c;
    ck_assert_int_eq(try_open(dir.path, &(struct wish){0}, &c), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "train.rec") != NULL && strstr(err.message, "(a)") != NULL,
                  "%s", err.message);
    c = must_open(dir.path, &(struct wish){.container = IMREC_CONTAINER_FOLDER});
    expect_tree(&c);
    container_close(&c);
    ck_assert_int_ne(try_open(dir.path, &(struct wish){.container = IMREC_CONTAINER_REC}, &c),
                     IMREC_OK);
    ck_assert_msg(strstr(err.message, "train.rec") != NULL, "%s", err.message); /* it is empty */
}

TEST(shards_in_a_folder_come_first)
{
    folder("logs");
    file("logs/run.txt", "no image");
    file("top.jpg", "an image, but no folder of them");
    file("train.rec", "\x0a\x23\xd7\xce");
    struct container c;
    ck_assert_int_ne(try_open(dir.path, &(struct wish){0}, &c), IMREC_OK);
    ck_assert_msg(strstr(err.message, "train.rec") != NULL, "%s", err.message);
}

TEST(a_folder_of_nothing_is_refused_as_before)
{
    struct container c;
    file("notes.txt", "no image");
    ck_assert_int_eq(try_open(dir.path, &(struct wish){0}, &c), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "holds no *.rec, no shards of another kind, and neither "
                                      "images nor folders of them") != NULL,
                  "%s", err.message);
    ck_assert_int_eq(try_open(tmp_path(&dir, "x*.rec"), &(struct wish){0}, &c), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "nothing matches") != NULL, "%s", err.message);
    folder("empty");
    ck_assert_int_eq(try_open(dir.path, &(struct wish){0}, &c), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "holds no image") != NULL, "%s", err.message);
}

/* ---- lists ---------------------------------------------------------------------------------- */

TEST(a_list_names_its_files_below_its_root)
{
    char text[1024];
    make_tree();
    snprintf(text, sizeof(text),
             "7\t1.5\t2\t3\tb/2.jpg\nno line\n18446744073709551615\t0\ta/z.png\n7\t4\t%s\n"
             "9\t1\tgone.jpg\n",
             tmp_path(&dir, "a/deep/x.png"));
    file("train.lst", text);
    struct container c = must_open(tmp_path(&dir, "train.lst"), &(struct wish){.root = dir.path});
    ck_assert_ptr_eq(c.kind, &list_kind);
    ck_assert_uint_eq(c.unit_count, 4);
    ck_assert_uint_eq(c.label_count, 3);
    expect(&c, 0, "b2", 7, 1.5F);
    expect(&c, 1, "az", UINT64_MAX, 0);
    expect(&c, 2, "adx", 7, 4);
    expect_lost(&c, 3, "No such file");
    ck_assert_uint_eq(heard_count("1 name is skipped, the first is line 2"), 1);
    container_close(&c);
    ck_assert_int_eq(try_open(dir.path, &(struct wish){.root = dir.path}, &c), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "path_root is the folder of a list") != NULL, "%s",
                  err.message);
}

TEST(a_list_of_another_folder_is_refused)
{
    struct container c;
    make_tree();
    file("train.lst", "1\t0\tz.png\n2\t0\tx.png\n");
    ck_assert_int_eq(
        try_open(tmp_path(&dir, "train.lst"), &(struct wish){.root = tmp_path(&dir, "b")}, &c),
        IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, "the first is z.png") != NULL &&
                      strstr(err.message, "path_root=/") != NULL &&
                      strstr(err.message, "/b is not the folder that they are in") != NULL,
                  "%s", err.message);
    ck_assert_int_eq(try_open(tmp_path(&dir, "train.lst"), &(struct wish){0}, &c), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, "; path_root is the folder that they are in") != NULL, "%s",
                  err.message);
}

TEST(fingerprints_know_names_sizes_and_labels)
{
    uint64_t print[5];
    make_tree();
    for (int i = 0; i < 5; i++) {
        if (i == 1)
            ck_assert_int_eq(rename(tmp_path(&dir, "b/2.jpg"), tmp_path(&dir, "b/3.jpg")), 0);
        if (i == 2)
            file("b/3.jpg", "longer");
        file("x.lst", i == 4 ? "1\t6\ta/z.png\n" : "1\t5\ta/z.png\n");
        const bool list = i >= 3;
        struct container c = must_open(list ? tmp_path(&dir, "x.lst") : dir.path,
                                       &(struct wish){.root = list ? dir.path : NULL});
        print[i] = container_fingerprint(&c);
        container_close(&c);
        for (int k = 0; k < i; k++)
            ck_assert_uint_ne(print[k], print[i]);
    }
}

/* ---- stores and faults ---------------------------------------------------------------------- */

TEST(other_stores_have_folders_too)
{
    ck_assert_int_eq(mem_put("photos/b/1.jpg", "b1", 2, &err), IMREC_OK);
    ck_assert_int_eq(mem_put("photos/a/2.jpg", "a2", 2, &err), IMREC_OK);
    ck_assert_int_eq(mem_put("photos/a/1.jpg", "a1", 2, &err), IMREC_OK);
    struct container c = must_open("mem://photos/", &(struct wish){0});
    ck_assert_uint_eq(c.unit_count, 3);
    expect(&c, 0, "a1", 0, 0);
    expect(&c, 1, "a2", 1, 0);
    expect(&c, 2, "b1", 2, 1);
    container_close(&c);
}

TEST(more_files_than_one_thread_measures)
{
    char name[32], text[8];
    folder("a");
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof(name), "a/%04d.jpg", i);
        snprintf(text, sizeof(text), "%d", i);
        file(name, text);
    }
    struct container c = must_open(dir.path, &(struct wish){0});
    ck_assert_uint_eq(c.unit_count, 1500);
    for (int i = 0; i < 1500; i += 7) {
        snprintf(text, sizeof(text), "%d", i);
        expect(&c, (uint64_t)i, text, (uint64_t)i, 0);
    }
    uint8_t all[6000]; /* a range over many files, as a cache reads it */
    ck_assert_uint_lt(c.shards[0].size, sizeof(all));
    ck_assert_int_eq(source_read(c.shards[0].source, 0, all, c.shards[0].size, &err), IMREC_OK);
    ck_assert_mem_eq(all, "0123456789101112", 16);
    container_close(&c);
}

TEST(no_allocation_that_fails_leaks)
{
    make_tree();
    file("x.lst", "1\t5\ta/z.png\n");
    STARVING_SOME(memory) /* a table may keep more than it needs */
    {
        struct container c;
        memory.st = try_open(dir.path, &(struct wish){0}, &c);
        if (memory.st == IMREC_OK)
            container_close(&c);
    }
    STARVING_SOME(again)
    {
        struct container c;
        again.st = try_open(tmp_path(&dir, "x.lst"), &(struct wish){.root = dir.path}, &c);
        if (again.st == IMREC_OK)
            container_close(&c);
    }
}

LOOP_TEST(a_call_that_fails_costs_a_file_or_is_reported, 1, 60)
{
    const struct fault_script script = {.call_eio = (uint64_t)_i};
    char uri[300];
    struct container c;
    make_tree();
    ck_assert_int_eq(fault_set("test", &script, &err), IMREC_OK);
    snprintf(uri, sizeof(uri), "fault://script=test:%s", dir.path);
    if (try_open(uri, &(struct wish){0}, &c) != IMREC_OK) {
        ck_assert_msg(strstr(err.message, "Input/output error") != NULL ||
                          strstr(err.message, "holds no") != NULL,
                      "%s", err.message);
        return;
    }
    uint64_t lost = 0;
    for (uint64_t i = 0; i < c.unit_count; i++) {
        const char *have = bytes_of(&c, i);
        lost += have[0] == '\0';
        ck_assert(have[0] == '\0' || c.unit_count != COUNT(tree) || strcmp(have, tree[i]) == 0);
    }
    ck_assert_uint_le(lost, 1);
    container_close(&c);
}
