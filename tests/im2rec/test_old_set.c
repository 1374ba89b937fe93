/* What stands under a set's names: force replaces the set and nothing else. */
#include "base/alloc.h"
#include "formats/set/manifest.h"
#include "im2rec/item/pack_options.h"
#include "imrec/reshape.h"
#include "storage/source.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

static struct packing p;
static char said[2048]; /* warnings */

static void note(void *user, enum imrec_log_level level, const char *line)
{
    (void)user, (void)level;
    snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static void setup(void)
{
    tmp_in_memory();
    packing_make(&p, false);
    p.o.threads = 1;
    said[0] = '\0';
    imrec_set_log(note, NULL, IMREC_LOG_WARNING);
}

static void teardown(void)
{
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static enum imrec_status pack(bool cbf)
{
    p.o.format = cbf ? IMREC_PACK_CBF : IMREC_PACK_REC;
    return packing_run(&p, tmp_path(&p.dir, "a"));
}

static void expect_refused(enum imrec_status st, const char *words)
{
    ck_assert_int_eq(st, IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(p.err.message, words) != NULL, "'%s' is not in: %s", words, p.err.message);
}

/* Names, sizes and contents of all files but the source, and of hidden folders. */
static uint64_t print_of(const char *folder)
{
    uint64_t sum = 0;
    char path[1024];
    const char *root = tmp_path(&p.dir, folder);
    DIR *d = opendir(root);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.' || strcmp(e->d_name, "source") == 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", root, e->d_name);
        const struct bytes b = read_whole(path);
        const uint64_t name = fingerprint(FINGERPRINT_START, e->d_name, strlen(e->d_name) + 1);
        sum += fingerprint(name, b.p, b.n);
        free((void *)(uintptr_t)b.p);
    }
    closedir(d);
    return sum;
}

static uint64_t folder_print(void)
{
    return print_of(".");
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

/* ---- two formats -------------------------------------------------------------------------- */

LOOP_TEST(a_set_of_the_other_format_is_never_replaced, 0, 4)
{
    const bool cbf = _i % 2 != 0;
    p.o.shards = _i / 2 * 2;
    ck_assert_msg(pack(cbf) == IMREC_OK, "%s", p.err.message);
    const uint64_t before = folder_print();
    for (int how = 0; how < 3; how++) {
        p.o.force = how == 1;
        p.o.resume = how == 2;
        expect_refused(pack(!cbf), cbf ? "a.manifest.json belongs to the set a"
                                       : "in RecordIO; give this set another name");
        ck_assert_uint_eq(folder_print(), before);
    }
    p.o.resume = false;
    p.o.force = true;
    ck_assert_msg(pack(cbf) == IMREC_OK, "%s", p.err.message); /* its own format */
    ck_assert_uint_eq(folder_print(), before);
}

static bool stop_at_9(void *user, const struct imrec_progress *progress)
{
    (void)user;
    return progress->total == 0 || progress->done < 9;
}

static void interrupt(bool cbf)
{
    const struct imrec_pack_task task = {
        .root = p.source, .out = kept_path(&p, "a"), .progress = stop_at_9};
    char name[64];
    for (uint32_t i = 0; i < 150; i++) { /* more than are in flight */
        snprintf(name, sizeof(name), "source/cow/more%03u.jpg", i);
        make_image(&p.dir, name, 33, 34, i);
    }
    p.o.format = cbf ? IMREC_PACK_CBF : IMREC_PACK_REC;
    ck_assert_int_eq(imrec_pack(&task, &p.o, &p.result, &p.err), IMREC_ERR_CANCELLED);
}

/* Makes the journal one of version 1, which does not say its format. */
static void age_journal(void)
{
    const char *path = tmp_path(&p.dir, "a.journal.part");
    const struct bytes b = read_whole(path);
    char line[256], check[16];
    uint8_t *end = memchr(b.p, '\n', b.n);
    size_t n = (size_t)(end - b.p) - 4; /* without the word */
    memcpy(line, b.p, n);
    ck_assert_int_eq(line[11], '3');
    line[11] = '1';
    const uint64_t print = fingerprint(FINGERPRINT_START, line + 8, n - 8);
    snprintf(check, sizeof(check), "%08x", (unsigned)(uint32_t)(print ^ print >> 32));
    memcpy(line, check, 8);
    FILE *f = fopen(path, "wb");
    fwrite(line, 1, n, f);
    fwrite(end, 1, b.n - (size_t)(end - b.p), f);
    fclose(f);
    free((void *)(uintptr_t)b.p);
}

LOOP_TEST(an_interrupted_run_of_the_other_format_is_left_alone, 0, 4)
{
    const bool cbf = _i % 2 != 0, old = _i / 2 != 0;
    interrupt(cbf);
    if (old)
        age_journal();
    const uint64_t before = folder_print();
    for (int how = 0; how < 3; how++) {
        p.o.force = how == 1;
        p.o.resume = how == 2;
        expect_refused(pack(!cbf), "a.journal.part belongs to an interrupted run in");
        ck_assert_uint_eq(folder_print(), before);
    }
    p.o.force = false;
    p.o.resume = true;
    ck_assert_msg(pack(cbf) == IMREC_OK, "%s", p.err.message); /* its own, of either version */
    ck_assert(cbf || p.result.resumed > 0); /* of CBF whole chunks only are durable */
}

TEST(a_set_made_of_sets_does_not_replace_one_of_the_other_format)
{
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    const char *from = kept_path(&p, "b.rec"), *to = kept_path(&p, "a.rec");
    ck_assert_int_eq(packing_run(&p, from), IMREC_OK);
    ck_assert_int_eq(pack(true), IMREC_OK);
    const uint64_t before = folder_print();
    imrec_reshape_options_init(&o);
    o.force = true;
    expect_refused(imrec_reshape(&from, 1, to, "merge", &o, &r, &p.err),
                   "belongs to the set a.cbf in CNTK's binary format");
    ck_assert_uint_eq(folder_print(), before);
}

/* ---- manifests that lie ------------------------------------------------------------------- */

/* The manifest of a.rec, whose one shard is now called like this. */
static void rewrite_manifest(const char *rec, const char *idx, const char *crc)
{
    const char *path = kept_path(&p, "a.manifest.json");
    struct manifest m;
    struct buf text = BUF_INIT(1 << 20);
    const struct bytes b = read_whole(path);
    ck_assert_int_eq(manifest_read(path, b, &m, &p.err), IMREC_OK);
    m.shards[0].rec.name = rec;
    m.shards[0].idx.name = idx;
    m.shards[0].checksums.name = crc;
    ck_assert_msg(manifest_write(&m, &text, &p.err) == IMREC_OK, "%s", p.err.message);
    tmp_write(&p.dir, "a.manifest.json", text.p, text.n);
    buf_free(&text);
    manifest_free(&m);
    free((void *)(uintptr_t)b.p);
}

LOOP_TEST(force_leaves_files_that_no_set_of_its_name_has, 0, 4)
{
    static const char *const names[][3] = {
        {"notes.txt", "b.rec", "b.idx"},
        {"aa.rec", "a.lock", "source.crc"},
        {"a-0-of-1.rec", "a.txt", "a.cbf"},
        {"a.b.rec", "a-00000-of-00001-00000-of-00001.idx", ".rec"},
    };
    const char *const *mine = names[_i];
    ck_assert_int_eq(pack(false), IMREC_OK);
    rewrite_manifest(mine[0], mine[1], mine[2]);
    for (int i = 0; i < 3; i++)
        tmp_write(&p.dir, mine[i], "mine", 4);
    p.o.force = true;
    ck_assert_msg(pack(false) == IMREC_OK, "%s", p.err.message);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(tmp_size(tmp_path(&p.dir, mine[i])) == 4, "%s", mine[i]);
    ck_assert_ptr_nonnull(strstr(said, "a.manifest.json names 3 files, the first "));
    ck_assert_ptr_nonnull(strstr(said, mine[0]));
}

TEST(a_set_that_is_made_anew_leaves_them_too)
{
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    const char *from = kept_path(&p, "b.rec"), *to = kept_path(&p, "a.rec");
    ck_assert_int_eq(packing_run(&p, from), IMREC_OK);
    ck_assert_int_eq(pack(false), IMREC_OK);
    rewrite_manifest("a.rec", "notes.txt", "a.crc");
    tmp_write(&p.dir, "notes.txt", "mine", 4);
    imrec_reshape_options_init(&o);
    o.force = true;
    ck_assert_msg(imrec_reshape(&from, 1, to, "merge", &o, &r, &p.err) == IMREC_OK, "%s",
                  p.err.message);
    ck_assert_int_eq(tmp_size(tmp_path(&p.dir, "notes.txt")), 4);
    ck_assert_ptr_nonnull(strstr(said, "names notes.txt, which is not a name of this set"));
}

LOOP_TEST(shards_of_any_number_are_the_sets_own, 0, 2)
{
    p.o.shards = 3;
    ck_assert_int_eq(pack(_i != 0), IMREC_OK);
    tmp_write(&p.dir, "a-00000-of-00007.rec", "mine", 4); /* the manifest names it not */
    p.o.shards = 0;
    p.o.force = true;
    ck_assert_int_eq(pack(_i != 0), IMREC_OK);
    ck_assert(!is_there(&p, "a-00002-of-00003.rec") && !is_there(&p, "a-00002-of-00003.idx"));
    ck_assert(!is_there(&p, "a-00002-of-00003.crc") && !is_there(&p, "a-00002-of-00003.cbf"));
    ck_assert(is_there(&p, "a-00000-of-00007.rec"));
    ck_assert_str_eq(said, "");
}

/* An append packs into a set of its own first, a.appended. */
TEST(an_append_replaces_no_set_but_its_own)
{
    char out[512];
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "a"));
    const struct imrec_pack_task task = {.root = p.source, .out = out};
    ck_assert_int_eq(pack(false), IMREC_OK);
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a.appended")), IMREC_OK);
    const uint64_t before = folder_print();
    expect_refused(imrec_append(&task, &p.o, &p.result, &p.err), "a.appended.manifest.json is in");
    ck_assert_uint_eq(folder_print(), before);
    tmp_write(&p.dir, "a.appended.part", "", 0); /* an interrupted append has left it */
    ck_assert_msg(imrec_append(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert(!is_there(&p, "a.appended.rec") && !is_there(&p, "a.appended.part"));
}

TEST(an_append_without_images_leaves_nothing)
{
    char out[512];
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "a"));
    const struct imrec_pack_task task = {.root = kept_path(&p, "empty"), .out = out};
    ck_assert_int_eq(pack(false), IMREC_OK);
    ck_assert_int_eq(mkdir(kept_path(&p, "empty"), 0777), 0);
    ck_assert_int_eq(imrec_append(&task, &p.o, &p.result, &p.err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(p.err.message, "holds no images") != NULL, "%s", p.err.message);
    ck_assert(!is_there(&p, "a.appended.part"));
}

LOOP_TEST(names_of_classes_do_not_outlive_them, 0, 2)
{
    ck_assert_int_eq(pack(false), IMREC_OK);
    ck_assert(is_there(&p, "a.classes.txt"));
    if (_i != 0) /* it is somebody's work now */
        tmp_write(&p.dir, "a.classes.txt", "Ameise\nBiene\nKuh\n", 17);
    const struct imrec_pack_task task = {
        .list = kept_path(&p, "l.lst"), .root = p.source, .out = kept_path(&p, "a")};
    tmp_write(&p.dir, "l.lst", "0\t0.5\tant/00.jpg\n", 18); /* no classes */
    p.o.force = true;
    ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_int_eq(is_there(&p, "a.classes.txt"), _i != 0);
}

/* ---- sets that a new one is made of --------------------------------------------------------- */

/* Packed sets: a in this folder, b in the folder .more; .link is this folder, too. */
static void pack_sources(bool shards)
{
    p.o.shards = shards ? 3 : 0;
    make_folder(&p.dir, ".more");
    ck_assert_int_eq(symlink(".", tmp_path(&p.dir, ".link")), 0);
    ck_assert_int_eq(pack(false), IMREC_OK);
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, ".more/b")), IMREC_OK);
}

static enum imrec_status merge_here(const char *const from[2], const char *to)
{
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    char was[512];
    imrec_reshape_options_init(&o);
    o.force = o.renumber = true;
    ck_assert(getcwd(was, sizeof(was)) != NULL && chdir(p.dir.path) == 0);
    const enum imrec_status st = imrec_reshape(from, 2, to, "merge", &o, &r, &p.err);
    ck_assert_int_eq(chdir(was), 0);
    return st;
}

/* Whatever path names it, as a whole or by one of its shards. */
LOOP_TEST(force_does_not_replace_a_source_by_what_is_made_of_it, 0, 10)
{
    static const char *const sources[2][2] = {
        {".more/b.rec", "a.rec"}, {".more/b-00001-of-00003.rec", "./a-00001-of-00003.rec"}};
    static const char *const outs[] = {"a.rec", ".more/../a.rec", ".link/a.rec", ".more/b.rec",
                                       ".link/.more/b.rec"};
    const bool shards = _i >= 5;
    pack_sources(shards);
    const uint64_t before = folder_print(), more_before = print_of(".more");
    expect_refused(merge_here(sources[shards], outs[_i % 5]), "is among the sources");
    ck_assert(folder_print() == before && print_of(".more") == more_before);
}

LOOP_TEST(force_replaces_a_set_that_shares_a_name_or_a_folder_with_a_source, 0, 4)
{
    static const char *const sources[] = {".more/b.rec", "a.rec"};
    static const char *const outs[] = {"b.rec", ".more/a.rec", "c.rec", ".more/c.rec"};
    pack_sources(false);
    tmp_write(&p.dir, outs[_i], "before", 6);
    ck_assert_msg(merge_here(sources, outs[_i]) == IMREC_OK, "%s", p.err.message);
    ck_assert_int_gt(tmp_size(tmp_path(&p.dir, outs[_i])), tmp_size(tmp_path(&p.dir, "a.rec")));
}

/* Where the system knows no folders, names alone say what is the same. */
TEST(force_does_not_replace_a_source_in_a_store)
{
    const struct fault_script none = {0};
    char from[2][512], to[512];
    pack_sources(false);
    snprintf(from[0], sizeof(from[0]), "%s", packing_scripted(&p, ".more/b.rec", &none));
    snprintf(from[1], sizeof(from[1]), "%s", packing_scripted(&p, "a.rec", &none));
    snprintf(to, sizeof(to), "%s", packing_scripted(&p, ".more/a.rec", &none));
    const char *const sources[] = {from[0], from[1]};
    for (int i = 0; i < 2; i++)
        expect_refused(merge_here(sources, from[i]), "is among the sources");
    ck_assert_msg(merge_here(sources, to) == IMREC_OK, "%s", p.err.message);
    fault_forget("packing");
}
