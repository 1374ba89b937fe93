/* What opening a data set refuses and what it warns of: files that are no shards, sets without a
 * record, shards that names and manifests promise and that are not there. */
#include "base/alloc.h"
#include "base/buf.h"
#include "container/container.h"
#include "formats/recordio/recordio.h"
#include "formats/set/manifest.h"
#include "formats/set/set_names.h"
#include "imrec/records.h"
#include "storage/fault.h"
#include "storage/mem.h"
#include "tests/support/small_set.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <sys/stat.h>

static struct imrec_error err;
static struct tmpdir dir;
static char said[4096]; /* warnings, one a line */

static void hear(void *user, enum imrec_log_level level, const char *line)
{
    (void)user, (void)level;
    const size_t at = strlen(said);
    snprintf(said + at, sizeof(said) - at, "%s\n", line);
}

static void setup(void)
{
    dir = tmpdir_make();
    said[0] = '\0';
    imrec_set_log(hear, NULL, IMREC_LOG_WARNING);
}

static void teardown(void)
{
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
    fault_forget("test");
    mem_clear();
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* ---- sets --------------------------------------------------------------------------------- */

/* A shard of `records` records of 24 bytes; its size. */
static size_t put_shard(const char *name, uint32_t records)
{
    struct buf file = BUF_INIT(1 << 20);
    for (uint32_t i = 0; i < records; i++) {
        const uint8_t bytes[16] = {(uint8_t)i};
        ck_assert_int_eq(recordio_frame((struct bytes){bytes, 16}, &file, &err), IMREC_OK);
    }
    tmp_write(&dir, name, file.p, file.n);
    const size_t n = file.n;
    buf_free(&file);
    return n;
}

/* The manifest at `path`, of shards of `records` records each, named after "OUT.rec". */
static void put_manifest(const char *path, const char *out, uint64_t count, uint64_t records)
{
    static char names[16][64];
    static struct manifest_shard shards[16];
    struct buf text = BUF_INIT(1 << 20);
    for (uint64_t i = 0; i < count; i++) {
        set_shard_name(out, i, count, false, names[i]);
        shards[i] = (struct manifest_shard){.rec = {names[i], 24 * records, 1}, .records = records};
    }
    const struct manifest m = {.packer = "imrec 0",
                               .shards = shards,
                               .shard_count = count,
                               .records = count * records,
                               .bytes = 24 * count * records,
                               .label_width = 1};
    ck_assert_msg(manifest_write(&m, &text, &err) == IMREC_OK, "%s", err.message);
    tmp_write(&dir, path, text.p, text.n);
    buf_free(&text);
}

/* Shards of a set of 4, by the bits of `which`, each of 5 records. */
static void put_set(unsigned which, bool manifest)
{
    char name[64];
    for (uint64_t i = 0; i < 4; i++) {
        set_shard_name("train.rec", i, 4, false, name);
        if (which >> i & 1)
            put_shard(name, 5);
    }
    if (manifest)
        put_manifest("train.manifest.json", "train.rec", 4, 5);
}

/* '@' stands for the folder; in buffers that take turns. */
static const char *fill(const char *text)
{
    static char outs[4][2048];
    static unsigned turn;
    char *out = outs[turn++ % 4];
    size_t used = 0;
    for (out[0] = '\0'; *text != '\0'; text++)
        used += (size_t)snprintf(out + used, sizeof(outs[0]) - used, *text == '@' ? "%s" : "%.1s",
                                 *text == '@' ? dir.path : text);
    return out;
}

static enum imrec_status try_open(const char *spec, bool allow_missing, uint32_t *shards)
{
    struct container s;
    const struct container_options o = {.path_imgrec = fill(spec),
                                        .num_parts = 1,
                                        .cell_bytes = 4096,
                                        .shards =
                                            allow_missing ? SHARDS_ALLOW_MISSING : SHARDS_COMPLETE};
    said[0] = '\0';
    memset(&err, 0, sizeof(err));
    const enum imrec_status st = container_open(&o, &s, &err);
    *shards = st == IMREC_OK ? s.shard_count : 0;
    container_close(&s);
    return st;
}

static void
must_refuse(const char *spec, bool allow_missing, enum imrec_status want, const char *says)
{
    uint32_t shards;
    const enum imrec_status st = try_open(spec, allow_missing, &shards);
    ck_assert_msg(st == want, "%s: status %d, %s", spec, (int)st, err.message);
    ck_assert_msg(strstr(err.message, says) != NULL, "%s: %s", spec, err.message);
    if (want != IMREC_ERR_ARGUMENT) /* a name that nothing has may say ENOENT */
        ck_assert_int_eq(err.sys_errno != 0, want == IMREC_ERR_IO);
}

/* `warns` "": not a word. */
static void must_open(const char *spec, bool allow_missing, uint32_t want, const char *warns)
{
    uint32_t shards;
    const enum imrec_status st = try_open(spec, allow_missing, &shards);
    ck_assert_msg(st == IMREC_OK, "%s: %s", spec, err.message);
    ck_assert_uint_eq(shards, want);
    ck_assert_msg(warns[0] != '\0' ? strstr(said, warns) != NULL : said[0] == '\0', "%s: %s", spec,
                  said);
}

/* ---- what is no shard ----------------------------------------------------------------------- */

static const struct {
    const char *name, *bytes;
    size_t n;
    const char *says;
} strangers[] = {
    {"photo.jpg", "\xff\xd8\xff\xe0", 4,
     "photo.jpg is a JPEG image, not a RecordIO shard: im2rec packs images into shards"},
    {"a.zip", "PK\3\4 and more", 12, "a.zip is a ZIP archive, not a RecordIO shard: unpack it"},
    {"good.idx", "0\t0\n1\t24\n", 9,
     "good.idx is the index of a shard, not a RecordIO shard: the shard is "},
    {"alone.idx", "0\t0\n1\t24\n", 9, "alone.idx is the index of a shard, not a RecordIO shard"},
    {"a.list", "0\t1.0\tx.jpg\n", 12, "a.list is a list of images (.lst), not a RecordIO shard"},
    {"a.cbf", "PK\3\4 and more", 12, "a.cbf is a ZIP archive, not a CBF file"},
    {"a.ctf", "|x 1 2\n", 7, "a.ctf is CNTK text, not a RecordIO shard: imrec minibatches"},
    {"text.rec", "ant\nbee\n", 8,
     "text.rec holds no record: no RecordIO head in its 8 bytes, which begin with text"},
    {"zero.rec", "\0\0\0\0\0\0\0\0", 8, "in its 8 bytes, which begin with zeros"},
    {"odd.rec", "\1\2\3\4\5\6\7\10\11", 9,
     "odd.rec holds no record: no RecordIO head in its 9 bytes"},
    {"odd.cbf", "\1\2\3\4\5\6\7\10\11", 9, "in its 9 bytes, and no magic of CNTK's binary format"},
    {"tiny.rec", "\x0a\x23\xd7\xce", 4,
     "tiny.rec holds no record: no RecordIO head in its 4 bytes"},
    {"empty.rec", "", 0, "empty.rec holds no record: it has 0 bytes"},
    {"empty.cbf", "", 0, "empty.cbf holds no record: it has 0 bytes"},
};

CASE(.timeout = 30, .setup = setup, .teardown = teardown)

LOOP_TEST(a_file_that_is_no_shard_is_called_what_it_is, 0, COUNT(strangers))
{
    char spec[64];
    struct imrec_reader *r;
    put_shard("good.rec", 3);
    tmp_write(&dir, strangers[_i].name, strangers[_i].bytes, strangers[_i].n);
    snprintf(spec, sizeof(spec), "@/%s", strangers[_i].name);
    const bool known = strstr(strangers[_i].says, " holds ") == NULL &&
                       strstr(strangers[_i].says, "in its") == NULL;
    must_refuse(spec, false, known ? IMREC_ERR_ARGUMENT : IMREC_ERR_CORRUPT, strangers[_i].says);
    ck_assert_int_ne(imrec_reader_open(fill(spec), 0, 1, &r, &err), IMREC_OK);
    ck_assert_ptr_null(r);
}

TEST(a_shard_whose_begin_is_damaged_is_a_shard)
{
    struct buf file = BUF_INIT(4 << 20);
    const uint8_t bytes[16] = {1};
    static const size_t damage[] = {4, 512, 600, (1 << 20) - 4, 1 << 20, (1 << 20) + 4, 3 << 20};
    for (size_t d = 0; d < sizeof(damage) / sizeof(damage[0]); d++)
        for (int fill_with = 0; fill_with < 'x' + 1; fill_with += 'x') { /* zeros, and text */
            file.n = 0;
            for (size_t i = 0; i < damage[d]; i += 4) {
                const uint8_t word[4] = {(uint8_t)fill_with, (uint8_t)fill_with, (uint8_t)fill_with,
                                         (uint8_t)fill_with};
                ck_assert_int_eq(buf_append(&file, word, 4, &err), IMREC_OK);
            }
            ck_assert_int_eq(recordio_frame((struct bytes){bytes, 16}, &file, &err), IMREC_OK);
            tmp_write(&dir, "hurt.rec", file.p, file.n);
            must_open("@/hurt.rec", false, 1, "");
        }
    buf_free(&file);
}

TEST(shards_of_two_kinds_are_no_set)
{
    static const uint8_t cbf[] = {0x6e, 0x69, 0x62, 0x5f, 0x6b, 0x74, 0x6e, 0x63, 0, 0, 0, 0};
    put_shard("a.rec", 3);
    tmp_write(&dir, "b.cbf", cbf, sizeof(cbf));
    must_refuse("@/a.rec;@/b.cbf", false, IMREC_ERR_ARGUMENT,
                fill("@/a.rec is a RecordIO shard and @/b.cbf a CBF file: a set is of one kind"));
    must_refuse("@/b.cbf;@/a.rec", false, IMREC_ERR_ARGUMENT,
                fill("@/b.cbf is a CBF file and @/a.rec a RecordIO shard"));
}

TEST(a_cbf_file_of_no_sequence_is_refused)
{
    static const uint8_t file[] = {
        'n', 'i', 'b', '_', 'k', 't', 'n', 'c', 1,   0,   0,   0, /* version */
        'n', 'i', 'b', '_', 'k', 't', 'n', 'c',                   /* header */
        0,   0,   0,   0,   1,   0,   0,   0,                     /* chunks, streams */
        0,   8,   0,   0,   0,   'f', 'e', 'a', 't', 'u', 'r', 'e', 's',
        0,   12,  0,   0,   0,   12,  0,   0,   0,   0,   0,   0,   0};
    tmp_write(&dir, "none.cbf", file, sizeof(file));
    must_refuse("@/none.cbf", false, IMREC_ERR_CORRUPT, "the 0 chunks hold no sequence at all");
}

TEST(an_empty_shard_is_told_unless_its_manifest_promises_it)
{
    put_shard("a.rec", 3);
    put_shard("empty.rec", 0);
    put_shard("none.rec", 0);
    put_manifest("none.manifest.json", "none.rec", 1, 0);
    must_open("@/a.rec;@/empty.rec", false, 2,
              "empty.rec has 0 bytes, and no manifest confirms it");
    must_open("@/a.rec;@/none.rec", false, 2, "");
    must_open("@/none.rec", false, 1, "");
    must_open("@/none.manifest.json", false, 1, "");
    must_refuse("@/none.rec;@/empty.rec", false, IMREC_ERR_CORRUPT,
                "none.rec holds no record: it has 0 bytes, and none of the 2 shards holds one");
}

TEST(files_as_they_are_may_be_empty_and_alone)
{
    struct imrec_reader *r;
    struct imrec_record x;
    put_shard("empty.rec", 0);
    put_set(1, true);
    ck_assert_int_eq(imrec_reader_open_files(fill("@/empty.rec"), 0, 1, &r, &err), IMREC_OK);
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_END);
    imrec_reader_close(r);
    ck_assert_int_eq(imrec_reader_open_files(fill("@/train-00000-of-00004.rec"), 0, 1, &r, &err),
                     IMREC_OK);
    imrec_reader_close(r);
    ck_assert_str_eq(said, "");
}

/* ---- what is missing ------------------------------------------------------------------------ */

LOOP_TEST(a_whole_set_opens_without_a_word, 0, 2) /* _i: manifest or none */
{
    put_set(15, _i);
    must_open("@", false, 4, "");
    must_open("@/train-*.rec", false, 4, "");
    must_open("@/train-00000-of-00004.rec;@/train-00001-of-00004.rec;@/train-00003-of-00004.rec;"
              "@/train-00002-of-00004.rec",
              false, 4, "");
    if (_i)
        must_open("@/train.manifest.json", false, 4, "");
}

LOOP_TEST(a_folder_and_a_pattern_lack_shards, 0, 2) /* _i: manifest or none */
{
    const char *says = _i ? "its manifest names 4 shards, and 1 is missing: "
                            "train-00002-of-00004.rec; allow_missing reads the others"
                          : "its name says 4 shards, and 1 is missing: train-00002-of-00004.rec; "
                            "allow_missing reads the others";
    put_set(11, _i);
    must_refuse("@", false, IMREC_ERR_IO, says);
    must_refuse("@/train-*.rec", false, IMREC_ERR_IO, says);
    must_open("@", true, 3, "1 is missing: train-00002-of-00004.rec; only the others are read");
    must_open("@/train-*.rec", true, 3, "1 is missing: train-00002-of-00004.rec");
    put_set(15, _i);
    must_refuse("@/train-0000[013]*.rec", false, IMREC_ERR_IO,
                "and 1 is there and does not match: train-00002-of-00004.rec");
    must_open("@/train-0000[013]*.rec", true, 3, "does not match");
}

LOOP_TEST(a_list_is_read_as_it_is_with_a_warning, 0, 2) /* _i: manifest or none */
{
    put_set(15, _i);
    must_open("@/train-00003-of-00004.rec", false, 1,
              "4 shards, and 3 are not listed: train-00000-of-00004.rec, train-00001-of-00004.rec, "
              "train-00002-of-00004.rec; only the others are read");
    must_open("@/train-00000-of-00004.rec;@/train-00001-of-00004.rec", false, 2,
              "and 2 are not listed: train-00002-of-00004.rec, train-00003-of-00004.rec");
    (void)remove(fill("@/train-00003-of-00004.rec"));
    must_open("@/train-00000-of-00004.rec;@/train-00001-of-00004.rec;@/train-00002-of-00004.rec",
              false, 3, "and 1 is missing: train-00003-of-00004.rec; only the others are read");
}

TEST(a_manifest_opens_its_shards_and_names_those_that_are_missing)
{
    put_set(9, true);
    must_refuse("@/train.manifest.json", false, IMREC_ERR_IO,
                "train.manifest.json: it names 4 shards, and 2 are missing: "
                "train-00001-of-00004.rec, train-00002-of-00004.rec;");
    must_open("@/train.manifest.json", true, 2, "it names 4 shards, and 2 are missing");
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1); /* told once */
    (void)remove(fill("@/train-00000-of-00004.rec"));
    (void)remove(fill("@/train-00003-of-00004.rec"));
    must_refuse("@/train.manifest.json", true, IMREC_ERR_IO,
                "it names 4 shards, and 4 are missing");
    tmp_write(&dir, "train.manifest.json", "{}", 2);
    must_refuse("@/train.manifest.json", false, IMREC_ERR_CORRUPT, "not a manifest");
    must_refuse("@/no.manifest.json", false, IMREC_ERR_ARGUMENT, "there is no such file");
}

TEST(many_missing_shards_are_counted_and_three_of_them_named)
{
    put_shard("big-00007-of-50000.rec", 2);
    must_refuse("@", false, IMREC_ERR_IO,
                "its name says 50000 shards, and 49999 are missing: big-00000-of-50000.rec, "
                "big-00001-of-50000.rec, big-00002-of-50000.rec and 49996 more;");
    put_shard("big-00007-of-99999999999.rec", 2); /* no set has so many: a name */
    (void)remove(fill("@/big-00007-of-50000.rec"));
    must_open("@", false, 1, "");
}

TEST(numbers_of_more_digits_are_of_the_same_set)
{
    static char names[8][64];
    uint32_t shards;
    for (uint64_t i = 0; i < 2; i++) {
        set_shard_name("x.rec", 99999 + i, 100001, false, names[i]);
        put_shard(names[i], 1);
    }
    ck_assert_int_eq(try_open("@", false, &shards), IMREC_ERR_IO); /* not two sets of one name */
    ck_assert_msg(
        strstr(err.message, "100001 shards, and 99999 are missing: x-00000-of-100001.rec") != NULL,
        "%s", err.message);
}

TEST(each_set_of_a_folder_is_checked)
{
    put_set(15, true);
    put_shard("val.rec", 3);
    put_shard("test-00000-of-00002.rec", 3);
    must_refuse("@", false, IMREC_ERR_IO, "1 is missing: test-00001-of-00002.rec");
    put_shard("test-00001-of-00002.rec", 3);
    must_open("@", false, 7, "");
    put_manifest("gone.manifest.json", "gone.rec", 2, 5); /* none of its shards is there */
    must_refuse(
        "@", false, IMREC_ERR_IO,
        "gone.manifest.json: it names 2 shards, and 2 are missing: gone-00000-of-00002.rec");
    must_open("@", true, 7, "gone.manifest.json: it names 2 shards");
    must_open("@/*.rec", false, 7, "");                   /* a pattern asks for what it says */
    put_manifest("gone.manifest.json", "gone.cbf", 1, 5); /* of another format */
    must_open("@", false, 7, "");
}

TEST(two_sets_of_one_name_are_not_read_together)
{
    put_set(15, true);
    put_shard("train-00000-of-00002.rec", 3);
    put_shard("train-00001-of-00002.rec", 3);
    must_refuse("@", true, IMREC_ERR_ARGUMENT, "are of two sets of one name");
    must_open("@/train.manifest.json", false, 4, "");
    must_open("@/train-*-of-00002.rec", false, 2, "");
    (void)remove(fill("@/train-00000-of-00002.rec"));
    (void)remove(fill("@/train-00001-of-00002.rec"));
    put_shard("train.rec", 20);
    must_refuse("@", false, IMREC_ERR_ARGUMENT, "are of two sets of one name");
    must_open("@/train.rec;@/train-00000-of-00004.rec", false, 2, "are not listed");
}

TEST(a_shard_of_another_size_and_a_broken_manifest_are_told)
{
    put_set(15, true);
    put_shard("train-00001-of-00004.rec", 6);
    must_open("@", false, 4, "train-00001-of-00004.rec has 144 bytes, and its manifest says 120");
    tmp_write(&dir, "train.manifest.json", "{", 1);
    must_open("@", false, 4, "train.manifest.json line");
    ck_assert_msg(strstr(said, "nothing is compared with it") != NULL, "%s", said);
    (void)remove(fill("@/train-00001-of-00004.rec"));
    must_refuse("@", false, IMREC_ERR_IO, "its name says 4 shards, and 1 is missing");
}

/* ---- what it costs, and what can fail ------------------------------------------------------- */

TEST(opening_reads_the_manifest_and_a_few_bytes_of_each_shard)
{
    struct imrec_reader *r;
    char spec[600];
    put_set(15, true);
    for (uint64_t i = 0; i < 4; i++) {
        char name[64];
        set_shard_name("train.rec", i, 4, false, name);
        put_shard(name, 20000);
    }
    put_manifest("train.manifest.json", "train.rec", 4, 20000);
    const struct fault_script none = {0};
    ck_assert_int_eq(fault_set("test", &none, &err), IMREC_OK);
    snprintf(spec, sizeof(spec), "fault://script=test:%s", dir.path);
    ck_assert_msg(imrec_reader_open(spec, 0, 1, &r, &err) == IMREC_OK, "%s", err.message);
    imrec_reader_close(r);
    ck_assert_uint_le(fault_counts("test").bytes_read, 3 * 4096 + 4 * 1024);
    ck_assert_uint_le(fault_counts("test").reads, 3 + 4 * 3);
}

/* Of shards that another partition reads their presence is enough. */
TEST(every_partition_looks_for_the_checksums_of_all_shards)
{
    put_shard("a.rec", 20);
    put_shard("b.rec", 20);
    ck_assert_uint_eq(small_checksums(fill("@/a.rec")), 20);
    ck_assert_uint_eq(small_checksums(fill("@/b.rec")), 20);
    for (uint64_t turn = 0; turn < 8; turn++) {
        struct container s;
        const struct container_options o = {.path_imgrec = fill("@/a.rec;@/b.rec"),
                                            .num_parts = 4,
                                            .part_index = turn % 4,
                                            .cell_bytes = 64,
                                            .verify_checksums = true};
        if (turn == 4)
            ck_assert_int_eq(unlink(tmp_path(&dir, "b.crc")), 0);
        const enum imrec_status st = container_open(&o, &s, &err);
        ck_assert_msg(st == (turn < 4 ? IMREC_OK : IMREC_ERR_IO), "%s", err.message);
        ck_assert(st == IMREC_OK || strstr(err.message, "b.rec has no checksums") != NULL);
        container_close(&s);
    }
}

LOOP_TEST(no_allocation_that_fails_leaks, 0, 4) /* _i: what is opened */
{
    static const char *const specs[] = {"@", "@/train.manifest.json", "@/train-*.rec",
                                        "@/hurt.rec"};
    uint32_t shards;
    put_set(15, true);
    tmp_write(&dir, "hurt.rec", "\0\0\0\0\x0a\x23\xd7\xce\0\0\0\0", 12);
    STARVING(memory)
    memory.st = try_open(specs[_i], false, &shards);
    ck_assert_str_eq(said, "");
}

TEST(no_read_that_fails_is_taken_for_a_missing_shard)
{
    struct imrec_reader *r;
    char spec[600];
    put_set(15, true);
    snprintf(spec, sizeof(spec), "fault://script=test:%s", dir.path);
    for (uint64_t n = 1; n < 20; n++) {
        const struct fault_script script = {.read_eio = n};
        ck_assert_int_eq(fault_set("test", &script, &err), IMREC_OK);
        ck_assert_msg(imrec_reader_open(spec, 0, 1, &r, &err) == IMREC_OK, "read %llu: %s",
                      (unsigned long long)n, err.message);
        imrec_reader_close(r);
    }
}
