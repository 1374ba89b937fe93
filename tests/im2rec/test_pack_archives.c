/* tests/im2rec/test_pack_archives.c - tar archives are packed as the files in them are: in their
 * order, in shares, by plans; what is wrong in them is a skip with its reason. */
#include "base/alloc.h"
#include "im2rec/item/image_place.h"
#include "imrec/convert.h"
#include "imrec/plan.h"
#include "imrec/reshape.h"
#include "tests/support/archives.h"
#include "tests/support/starving.h"

static char list_text[8192];
static size_t list_n;
static bool captions; /* samples have .json and, of even ones, .txt; so has the folder */

static void setup(void)
{
    archives_make();
    list_n = 0;
    captions = false;
}

/* A file next to the image in the folder, and `name` in the archive. */
static void
put_caption(const char *class, int i, const char *extension, const char *text, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "source/%s/%02d.%s", class, i, extension);
    tmp_write(&p.dir, path, text, strlen(text));
    if (name != NULL)
        tar_text(&tar, name, text);
}

/* The image of the folder, its label, and a file that is no part of what is packed; a line of
 * files.lst says the same. */
static void put_sample(const char *class, int i, int label, const char *prefix)
{
    char name[64], text[16];
    snprintf(name, sizeof(name), "source/%s/%02d.jpg", class, i);
    const struct bytes jpeg = read_whole(tmp_path(&p.dir, name));
    snprintf(name, sizeof(name), "%s%s-%02d.jpg", prefix, class, i);
    tar_put(&tar, name, '0', jpeg.p, jpeg.n);
    snprintf(name, sizeof(name), "%s%s-%02d.cls", prefix, class, i);
    snprintf(text, sizeof(text), "%d\n", label);
    tar_text(&tar, name, text);
    snprintf(name, sizeof(name), "%s%s-%02d.json", prefix, class, i);
    tar_text(&tar, name, "{}");
    if (captions) {
        put_caption(class, i, "json", "{}", NULL);
        snprintf(text, sizeof(text), "%s %d", class, i);
        snprintf(name, sizeof(name), "%s%s-%02d.TXT", prefix, class, i);
        if (i % 2 == 0)
            put_caption(class, i, "txt", i == 2 ? "" : text, name);
    }
    free((void *)(uintptr_t)jpeg.p);
    static uint64_t id;
    id = list_n == 0 ? 0 : id + 1;
    list_n +=
        (size_t)sprintf(list_text + list_n, "%d\t%d\t%s/%02d.jpg\n", (int)id, label, class, i);
}

/* x.tar and y.tar have the images of the folder, files.lst too. */
static void make_two(void)
{
    static const char *const classes[MADE_CLASSES] = {"ant", "bee", "cow"};
    for (int c = 0; c < MADE_CLASSES; c++)
        for (int i = 0; i < MADE_EACH; i++) {
            put_sample(classes[c], i, c * 7, i % 2 == 0 ? "" : "deep/er/");
            if (c == 1 && i == 3)
                write_tar("x.tar");
        }
    write_tar("y.tar");
    tmp_write(&p.dir, "files.lst", list_text, list_n);
}

static void expect_records(void)
{
    static const char *const files[] = {".rec", ".idx", ".crc"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        expect_same_file(&p, "a", "b", files[i]);
}

CASE(.timeout = 300, .setup = setup, .teardown = archives_remove)

/* ---- what is packed ----------------------------------------------------------------------- */

TEST(archives_are_packed_as_the_list_of_their_files)
{
    make_two();
    expect_ok(pack_from(p.source, "files.lst", "a"));
    expect_ok(pack_from(here("x.tar;y.tar"), NULL, "b"));
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
    ck_assert_uint_eq(p.result.other_files, MADE_GOOD);
    expect_records();
    const struct bytes lst = read_whole(tmp_path(&p.dir, "b.lst"));
    ck_assert_ptr_nonnull(strstr((const char *)lst.p, "0\t0.000000\tx.tar/ant-00.jpg\n"));
    ck_assert_ptr_nonnull(strstr((const char *)lst.p, "13\t7.000000\ty.tar/deep/er/bee-05.jpg\n"));
    free((void *)(uintptr_t)lst.p);
    expect_ok(pack_from(here("*.tar"), NULL, "b2"));
    expect_same_file(&p, "b", "b2", ".rec");
    expect_same_file(&p, "b", "b2", ".lst");
}

LOOP_TEST(fields_of_archives_are_those_of_files, 0, 3)
{
    captions = true;
    make_two();
    p.o.fields = _i == 1 ? ".txt?" : "json,txt?";
    p.o.copies = _i == 2 ? 2 : 1;
    p.o.augment = _i == 2 ? "rand_mirror=1" : "";
    p.o.resize = 16;
    expect_ok(pack_from(p.source, "files.lst", "a"));
    expect_ok(pack_from(here("x.tar;y.tar"), NULL, "b"));
    ck_assert_uint_eq(p.result.other_files, _i == 1 ? MADE_GOOD : 0);
    expect_records();
    const struct bytes rec = read_whole(tmp_path(&p.dir, "b.rec"));
    bool within = false;
    for (size_t at = 0; !within && at + 8 <= rec.n; at++)
        within = memcmp(rec.p + at, "txtbee 4", 8) == 0;
    ck_assert(within);
    free((void *)(uintptr_t)rec.p);
}

TEST(a_sample_without_a_field_is_skipped_and_what_else_it_has_is_said)
{
    captions = true;
    make_two();
    p.o.fields = "txt,cls";
    expect_ok(pack_from(here("x.tar;y.tar"), NULL, "b"));
    ck_assert(p.result.skipped > 0 && p.result.packed > 0);
    ck_assert_str_eq(p.result.first_skips[0].code, "field");
    ck_assert_msg(strstr(p.result.first_skips[0].reason,
                         "its sample has no field txt: it has .jpg, .cls, .json") != NULL,
                  "%s", p.result.first_skips[0].reason);
}

LOOP_TEST(shares_and_copies_are_those_of_the_list, 0, 3)
{
    make_two();
    p.o.copies = 2;
    p.o.augment = "rand_mirror=1";
    expect_ok(pack_from(p.source, "files.lst", "a"));
    const uint64_t all = p.result.packed;
    p.o.part = (struct imrec_share){_i, 3};
    expect_ok(pack_from(here("x.tar;y.tar"), NULL, "b"));
    ck_assert_uint_eq(p.result.packed, all / 3); /* of a list it is cut by bytes */
    const struct bytes whole = read_whole(tmp_path(&p.dir, "a.rec")),
                       part = read_whole(tmp_path(&p.dir, "b.rec"));
    bool within = false;
    for (size_t at = 0; !within && at + part.n <= whole.n; at += 4)
        within = memcmp(whole.p + at, part.p, part.n) == 0;
    ck_assert(within);
    free((void *)(uintptr_t)whole.p);
    free((void *)(uintptr_t)part.p);
}

static void make_in_parts(const char *spec, uint64_t tasks)
{
    char plan[512], out[512], all[1024];
    struct imrec_plan_status s;
    snprintf(plan, sizeof(plan), "%s/plan", p.dir.path);
    snprintf(out, sizeof(out), "%s/b", p.dir.path);
    snprintf(all, sizeof(all), "%s", spec);
    const struct imrec_pack_task task = {.root = all, .out = out};
    expect_ok(imrec_plan_make(plan, &task, &p.o, tasks, &s, &p.err));
    for (uint64_t k = s.tasks; k > 0; k--)
        expect_ok(imrec_plan_work(plan, k - 1, NULL, &p.result, &p.err));
    expect_ok(imrec_plan_finish(plan, NULL, &p.result, &p.err));
}

LOOP_TEST(a_plan_of_archives_makes_the_same_set, 0, 4)
{
    static const char *const labels[] = {"", "cls", "none", ""};
    make_two();
    tar_text(&tar, "no-label.jpg", "x");
    tar_text(&tar, "no-image.cls", "3");
    put_sample("ant", 0, 5, "");
    write_tar("z.tar");
    p.o.label_ext = labels[_i];
    p.o.shards = _i == 3 ? 3 : 0;
    expect_ok(pack_from(here("x.tar;z.tar"), NULL, "a"));
    const struct imrec_pack_result whole = p.result;
    ck_assert_uint_eq(whole.skipped, _i == 2 ? 1 : 2);
    ck_assert_uint_eq(whole.unlabelled, _i == 2 ? 13 : 0);
    make_in_parts(here("x.tar;z.tar"), _i == 3 ? 0 : 5);
    ck_assert_int_eq(memcmp(&whole, &p.result, sizeof(whole)), 0);
    expect_same_file(&p, "a", "b", ".lst");
    expect_same_manifest(&p, "a", "b");
    if (_i != 3)
        expect_records();
}

TEST(a_plan_of_archives_keeps_where_fields_are)
{
    captions = true;
    make_two();
    p.o.fields = "json,txt?,none?";
    p.o.copies = 2;
    p.o.augment = "rand_mirror=1";
    expect_ok(pack_from(p.source, "files.lst", "a"));
    make_in_parts(here("x.tar;y.tar"), 4);
    expect_records();
}

TEST(names_say_whether_they_are_archives)
{
    tmp_write(&p.dir, "x.tar", "", 0);
    make_folder(&p.dir, "folder.tar");
    ck_assert(archives_are(here("x.tar")) && archives_are("s3://bucket/x.TAR"));
    ck_assert(archives_are("http://host/x.tar?key=1") && archives_are("folder;x.tar"));
    ck_assert(archives_are("x.tar.gz") && archives_are("y.TGZ") && archives_are("x.tar.zst"));
    ck_assert(!archives_are(here("folder.tar")) && !archives_are("x.gz"));
    ck_assert(!archives_are("out.tar.rec") && !archives_are("out.tar.cbf"));
    ck_assert(archives_are_packed("x.tar;y.tgz") && archives_are_packed("x.tar.gz;y.tar"));
    ck_assert(!archives_are_packed("x.tar;y.tar") && !archives_are_packed("tgz"));
    ck_assert(!archives_are(".tar") && !archives_are("x.tar;folder"));
}

TEST(records_that_are_merged_keep_key_and_files)
{
    char from[512], merged[512], converted[512], again[512];
    struct imrec_records_options c;
    struct imrec_records_result result;
    struct imrec_reshape_options o;
    struct imrec_reshape_result reshaped;
    make_two();
    snprintf(from, sizeof(from), "%s/y.tar", p.dir.path);
    snprintf(merged, sizeof(merged), "%s/a.rec", p.dir.path);
    snprintf(converted, sizeof(converted), "%s/b.rec", p.dir.path);
    snprintf(again, sizeof(again), "%s/again.tar", p.dir.path);
    const char *const uris[] = {from};
    imrec_reshape_options_init(&o);
    expect_ok(imrec_reshape(uris, 1, merged, "merge", &o, &reshaped, &p.err));
    imrec_records_options_init(&c);
    c.input = from;
    c.output = converted;
    expect_ok(imrec_convert_records(&c, &result, &p.err));
    expect_same_file(&p, "a", "b", ".rec");
    c.input = merged;
    c.output = again;
    expect_ok(imrec_convert_records(&c, &result, &p.err));
    const struct bytes tar_again = read_whole(again);
    bool within = false;
    for (size_t at = 0; !within && at + 19 <= tar_again.n; at += 512)
        within = memcmp(tar_again.p + at, "deep/er/cow-01.json", 19) == 0;
    ck_assert(within);
    free((void *)(uintptr_t)tar_again.p);
}

TEST(an_archive_is_added_to_a_set)
{
    char out[512];
    make_two();
    snprintf(out, sizeof(out), "%s/a", p.dir.path);
    expect_ok(pack_from(here("x.tar;y.tar"), NULL, "b"));
    expect_ok(pack_from(here("x.tar"), NULL, "a"));
    const struct imrec_pack_task task = {.root = here("y.tar"), .out = out};
    expect_ok(imrec_append(&task, &p.o, &p.result, &p.err));
    expect_records();
    expect_same_file(&p, "a", "b", ".lst");
    p.o.resume = true;
    expect_ok(pack_from(here("x.tar;y.tar"), NULL, "b"));
    ck_assert(p.result.was_complete);
    expect_error(pack_from(here("y.tar"), NULL, "b"), IMREC_ERR_ARGUMENT, "another list");
}

TEST(options_of_folders_are_refused_by_name)
{
    make_two();
    p.o.class_from = IMREC_CLASS_FLAT;
    expect_error(pack_from(here("x.tar"), NULL, "a"), IMREC_ERR_ARGUMENT,
                 "class_from is for folders");
    p.o.class_from = IMREC_CLASS_TOP;
    p.o.masks = p.source;
    expect_error(pack_from(here("x.tar"), NULL, "a"), IMREC_ERR_ARGUMENT, "masks is for folders");
    p.o.masks = "";
    p.o.list = true;
    expect_error(pack_from(here("x.tar"), NULL, "a"), IMREC_ERR_ARGUMENT, "list is for folders");
    p.o.list = false;
    p.o.label_ext = "cls";
    expect_error(pack_from(p.source, NULL, "a"), IMREC_ERR_ARGUMENT, "are for tar archives");
    p.o.label_ext = "";
    expect_error(pack_from(here("x.tar;none.tar"), NULL, "a"), IMREC_ERR_ARGUMENT, "none.tar");
    expect_error(pack_from("http://host/x.tar?key=1", NULL, "a"), IMREC_ERR_ARGUMENT,
                 "without a query");
    expect_error(pack_from("x.tar;/y.tar", NULL, "a"), IMREC_ERR_ARGUMENT, "x.tar");
}

/* ---- samples ------------------------------------------------------------------------------ */

TEST(what_is_wrong_with_a_sample_is_its_reason)
{
    tar_text(&tar, "README.md", "no sample");
    tar_text(&tar, ".hidden.jpg", "no key");
    tar_text(&tar, "0.jpg", "zero");
    tar_text(&tar, "0.cls", "\n 16777216\t\n");
    tar_text(&tar, "1.cls", "1");
    tar_text(&tar, "1.txt", "no image");
    tar_text(&tar, "2.jpg", "no label");
    tar_text(&tar, "3.jpg", "no number");
    tar_text(&tar, "3.cls", "cat");
    tar_text(&tar, "4.jpg", "too large");
    tar_text(&tar, "4.cls", "16777217");
    tar_text(&tar, "5.jpg", "two labels");
    tar_text(&tar, "5.cls", "1");
    tar_text(&tar, "5.CLS", "2");
    tar_put(&tar, "6.jpg", '1', "", 0);
    tar_text(&tar, "6.cls", "6");
    tar_put(&tar, "7.jpg", 'S', "holes", 5);
    tar_text(&tar, "8\n.jpg", "a name");
    tar_text(&tar, "8\n.cls", "8");
    tar_text(&tar, "9.jpg", "not finite");
    tar_text(&tar, "9.cls", "nan");
    tar_text(&tar, "a.jpg", "a text is no number");
    tar_text(&tar, "a.cls", "0000000000000000000000000000000000000000000000000000000000000000001");
    tar_text(&tar, "b.jpg", "a fraction");
    tar_text(&tar, "b.cls", "-2.5e1");
    write_tar("x.tar");
    expect_ok(look("", ""));
    ck_assert_uint_eq(found.file_count, 2);
    ck_assert_str_eq(found.files[0]->name, "0.jpg");
    ck_assert(found.places[0].label == 16777216 && found.files[0]->id == 0);
    ck_assert_uint_eq(found.places[0].bytes, 4);
    ck_assert_str_eq(found.files[1]->name, "b.jpg");
    ck_assert(found.places[1].label == -25 && found.files[1]->id == 11);
    expect_skip("x.tar/1", "missing", "has no image: it has .cls, .txt");
    expect_skip("x.tar/2.jpg", "label", "no label .cls: it has .jpg");
    expect_skip("x.tar/3.jpg", "label", "is not a number: 'cat'");
    expect_skip("x.tar/4.jpg", "label", "float32 cannot hold");
    expect_skip("x.tar/5.jpg", "label", "two labels .cls");
    expect_skip("x.tar/6.jpg", "link", "is a link");
    expect_skip("x.tar", "unsupported", "7.jpg is a sparse file");
    expect_skip("x.tar/8\n.jpg", "name", "control character");
    expect_skip("x.tar/9.jpg", "label", "is not finite");
    expect_skip("x.tar/a.jpg", "label", "too many bytes for a number");
    ck_assert_uint_eq(found.skip_count, 10);
    ck_assert_uint_eq(found.other_files, 3);
    ck_assert_str_eq(root, here(""));
}

TEST(extensions_choose_image_and_label)
{
    tar_text(&tar, "0.left.jpg", "left");
    tar_text(&tar, "0.right.jpg", "right?");
    tar_text(&tar, "0.id", "7");
    tar_text(&tar, "0.rank", "8");
    write_tar("x.tar");
    expect_error(look("", ""), IMREC_ERR_ARGUMENT, "several images, .left.jpg and .right.jpg");
    ck_assert_str_eq(p.err.shard, here("x.tar"));
    expect_ok(look("right.JPG", ""));
    ck_assert_uint_eq(found.places[0].bytes, 6);
    ck_assert(found.places[0].label == 7);
    expect_ok(look("left.jpg", "rank"));
    ck_assert_uint_eq(found.places[0].bytes, 4);
    ck_assert(found.places[0].label == 8);
    expect_ok(look("left.jpg", "none"));
    ck_assert(found.file_count == 1 && found.places[0].label == 0);
    tar_text(&tar, "0.jpg", "an image");
    tar_text(&tar, "0.json", "{}");
    write_tar("x.tar");
    expect_error(look("", ""), IMREC_ERR_ARGUMENT, "no label .cls: it has .jpg, .json");
    expect_ok(look("", "none"));
    ck_assert_uint_eq(found.file_count, 1);
}

TEST(damage_costs_what_it_hits)
{
    make_two();
    struct bytes x = read_whole(tmp_path(&p.dir, "x.tar"));
    memset((uint8_t *)(uintptr_t)x.p, 'x', 512);       /* ant-00.jpg; its label follows */
    tmp_write(&p.dir, "x.tar", x.p, x.n - 1024 - 700); /* the end, and more of it */
    free((void *)(uintptr_t)x.p);
    expect_ok(look("", ""));
    expect_skip("x.tar", "damaged", "byte 0: not a header");
    expect_skip("x.tar/ant-00", "missing", "has no image");
    ck_assert_uint_eq(found.file_count, 11);
    p.o.on_error = IMREC_ON_ERROR_STOP;
    expect_error(pack_from(here("x.tar"), NULL, "a"), IMREC_ERR_DATA, "x.tar");
}

/* ---- archives that change, go, or cannot be read ------------------------------------------ */

TEST(an_archive_of_another_size_ends_the_task)
{
    char plan[512], out[512];
    struct imrec_plan_status s;
    make_two();
    snprintf(plan, sizeof(plan), "%s/plan", p.dir.path);
    snprintf(out, sizeof(out), "%s/b", p.dir.path);
    const struct imrec_pack_task task = {.root = here("x.tar"), .out = out};
    expect_ok(imrec_plan_make(plan, &task, &p.o, 2, &s, &p.err));
    struct bytes x = read_whole(tmp_path(&p.dir, "x.tar"));
    tmp_write(&p.dir, "x.tar", x.p, x.n - 512);
    expect_error(imrec_plan_work(plan, 1, NULL, &p.result, &p.err), IMREC_ERR_CORRUPT,
                 "when it was listed");
    unlink(tmp_path(&p.dir, "x.tar"));
    expect_error(imrec_plan_work(plan, 1, NULL, &p.result, &p.err), IMREC_ERR_IO, "x.tar");
    tmp_write(&p.dir, "x.tar", x.p, x.n);
    free((void *)(uintptr_t)x.p);
    expect_ok(imrec_plan_work(plan, 0, NULL, &p.result, &p.err));
    expect_ok(imrec_plan_work(plan, 1, NULL, &p.result, &p.err));
    expect_ok(imrec_plan_finish(plan, NULL, &p.result, &p.err));
    expect_ok(pack_from(here("x.tar"), NULL, "a"));
    expect_records();
}

static uint64_t calls, most;

static bool stop_after(void *user, const struct imrec_progress *of)
{
    (void)user;
    return of->done == 0 || ++calls <= most;
}

LOOP_TEST(an_interrupted_run_is_resumed, 0, 2)
{
    char out[512];
    make_two();
    p.o.label_ext = _i == 0 ? "" : "none";
    expect_ok(pack_from(here("x.tar;y.tar"), NULL, "a"));
    snprintf(out, sizeof(out), "%s/b", p.dir.path);
    struct imrec_pack_task task = {.root = here("x.tar;y.tar"), .out = out, .progress = stop_after};
    calls = 0;
    most = 9;
    ck_assert_int_eq(imrec_pack(&task, &p.o, &p.result, &p.err), IMREC_ERR_CANCELLED);
    p.o.resume = true;
    task.progress = NULL;
    expect_ok(imrec_pack(&task, &p.o, &p.result, &p.err));
    ck_assert_uint_gt(p.result.resumed, 0);
    ck_assert_uint_eq(p.result.unlabelled, _i == 0 ? 0 : MADE_GOOD);
    expect_records();
    expect_same_manifest(&p, "a", "b");
}

TEST(lacking_memory_is_an_error_and_leaks_nothing)
{
    make_two();
    const struct archive_options o = {.spec = here("x.tar;y.tar"),
                                      .image_ext = "",
                                      .label_ext = "",
                                      .builtin = (const char *const[]){".jpg", NULL}};
    STARVING(s)
    {
        s.st = archives_scan(&o, &found, &root, &p.err);
        ck_assert(s.st != IMREC_OK || found.file_count == MADE_GOOD);
        scan_free(&found);
        imrec_free(root);
        root = NULL;
    }
}

static void make_names(const char *archive, int count)
{
    char name[32];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%d.jpg", i);
        tar_text(&tar, name, "");
    }
    write_tar(archive);
}

static struct {
    uint64_t told[8];
    int count, most;
} tellings;

static bool tell(void *user, uint64_t images)
{
    (void)user;
    ck_assert_int_lt(tellings.count, (int)COUNT(tellings.told));
    tellings.told[tellings.count++] = images;
    return tellings.count < tellings.most;
}

TEST(a_scan_says_how_far_it_is_and_ends_in_the_middle_of_an_archive)
{
    static const uint64_t want[] = {3, 3 + 4096, 3 + 8192, 9003};
    make_names("x.tar", 3);
    make_names("y.tar", 9000);
    const struct archive_options o = {.spec = here("x.tar;y.tar"),
                                      .image_ext = "",
                                      .label_ext = "none",
                                      .builtin = (const char *const[]){".jpg", NULL},
                                      .go_on = tell};
    tellings.count = 0;
    tellings.most = 8;
    expect_ok(archives_scan(&o, &found, &root, &p.err));
    ck_assert_uint_eq(found.file_count, 9003);
    ck_assert_int_eq(tellings.count, COUNT(want));
    ck_assert_mem_eq(tellings.told, want, sizeof(want));
    scan_free(&found);
    imrec_free(root);
    root = NULL;
    tellings.count = 0;
    tellings.most = 2;
    expect_error(archives_scan(&o, &found, &root, &p.err), IMREC_ERR_CANCELLED,
                 "interrupted while looking through y.tar");
    ck_assert_int_eq(tellings.count, 2);
}

TEST(places_are_read_as_they_were_written_and_no_others)
{
    static const char *const bad[] = {"1 2 3 4",
                                      "1 2 3:x.tar/a",
                                      "1 2 9 0:/a",
                                      "1 2 9 5:x.tar",
                                      "1 9 9 5:x.tar/a",
                                      "9 1 9 5:x.tar/a",
                                      "1 2 9 4:x.tar/a",
                                      "1 2 9 5 6:x.tar/a",
                                      "-1 2 9 5:x.tar/a",
                                      ":x.tar/a",
                                      ""};
    const struct image_place at = {5, 1, 2, 9, false};
    struct image_place got;
    struct buf text = BUF_INIT(1000);
    expect_ok(image_place_write(&at, &text, &p.err));
    expect_ok(buf_append(&text, "x.tar/a", 7, &p.err));
    struct bytes path = {text.p, text.n};
    ck_assert(image_place_take(&path, &got));
    ck_assert(path.n == 7 && memcmp(path.p, "x.tar/a", 7) == 0);
    ck_assert(got.archive == 5 && got.begin == 1 && got.bytes == 2 && got.size == 9);
    buf_free(&text);
    for (size_t i = 0; i < COUNT(bad); i++) {
        path = (struct bytes){(const uint8_t *)bad[i], strlen(bad[i])};
        ck_assert_msg(!image_place_take(&path, &got), "%s", bad[i]);
    }
}
