/* tests/im2rec/test_archive_errors.c - what is wrong with archives and their samples is skipped, or
 * ends the run before anything is packed, as archive_errors= asks for. */
#include "tests/support/archives.h"

CASE(.timeout = 300, .setup = archives_make, .teardown = archives_remove)

/* ---- what is an error where nothing is to be skipped --------------------------------------- */

struct odd_archive {
    const char *name;
    char type;
    const char *text;
    const char *skipped;      /* words of the skip */
    enum imrec_status status; /* of what it is otherwise */
    const char *words;
    bool damage;
};

static const struct odd_archive odd_archives[] = {
    {"1.jpg", '0', "x", "no label .cls: it has .jpg", IMREC_ERR_ARGUMENT,
     "x.tar: 1.jpg: its sample has no label .cls: it has .jpg; label_ext=EXT names", false},
    {"1.cls", '0', "1", "has no image", IMREC_ERR_ARGUMENT, "x.tar: 1: the sample has no image",
     false},
    {"1.jpg", '1', "", "is a link", IMREC_ERR_UNSUPPORTED, "--hard-dereference", false},
    {"1.jpg", '6', "", "1.jpg is a FIFO", IMREC_ERR_UNSUPPORTED,
     "x.tar: byte 2048: 1.jpg is a FIFO", false},
    {"1.jpg", '~', "", "of an unknown kind", IMREC_ERR_UNSUPPORTED, "of an unknown kind", false},
    {"1.jpg", 'S', "x", "is a sparse file", IMREC_ERR_UNSUPPORTED, "without --sparse", false},
    {NULL, 0, NULL, "byte 2048: not a header", IMREC_ERR_CORRUPT,
     "x.tar: byte 2048: not a header of a tar archive", true},
};

LOOP_TEST(faults_are_skipped_or_end_the_run_as_is_asked_for, 0, COUNT(odd_archives))
{
    static const uint8_t no_header[512] = {'x'};
    const struct odd_archive *a = &odd_archives[_i];
    tar_text(&tar, "0.jpg", "x");
    tar_text(&tar, "0.cls", "7");
    if (a->name != NULL)
        tar_put(&tar, a->name, a->type, a->text, strlen(a->text));
    else
        ck_assert_int_eq(buf_append(&tar, no_header, sizeof(no_header), NULL), IMREC_OK);
    tar_text(&tar, "2.jpg", "x");
    tar_text(&tar, "2.cls", "7");
    write_tar("x.tar");
    expect_ok(look("", ""));
    ck_assert(found.file_count == 2 && found.skip_count == 1);
    ck_assert_msg(strstr(found.skips[0].why, a->skipped) != NULL, "%s", found.skips[0].why);
    errors = IMREC_ARCHIVE_SKIP_DAMAGE;
    if (a->damage) {
        expect_ok(look("", ""));
        ck_assert(found.file_count == 2 && found.skip_count == 1);
    } else {
        expect_error(look("", ""), a->status, a->words);
    }
    errors = IMREC_ARCHIVE_STOP;
    expect_error(look("", ""), a->status, a->words);
    ck_assert_str_eq(p.err.shard, here("x.tar"));
    p.o.archive_errors = IMREC_ARCHIVE_STOP;
    expect_error(pack_from(here("x.tar"), NULL, "a"), a->status, a->words);
    ck_assert_int_ne(access(tmp_path(&p.dir, "a.rec"), F_OK), 0);
}

TEST(a_cut_between_two_files_is_found)
{
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d.jpg", i);
        tar_text(&tar, name, "x");
    }
    write_tar("x.tar");
    struct bytes x = read_whole(tmp_path(&p.dir, "x.tar"));
    expect_ok(look("", "none"));
    const size_t all = found.file_count;
    ck_assert_uint_eq(found.skip_count, 0);
    tmp_write(&p.dir, "x.tar", x.p, x.n - 512); /* one block of zeros ends it, too */
    expect_ok(look("", "none"));
    ck_assert_uint_eq(found.skip_count, 0);
    tmp_write(&p.dir, "x.tar", x.p, x.n - 1024);
    expect_ok(look("", "none"));
    ck_assert_uint_eq(found.file_count, all);
    expect_skip("x.tar", "damaged", "the archive is cut off here, or without the blocks of zeros");
    errors = IMREC_ARCHIVE_STOP;
    expect_error(look("", "none"), IMREC_ERR_CORRUPT, "x.tar: byte ");
    ck_assert_uint_eq(p.err.offset, x.n - 1024);
    tmp_write(&p.dir, "x.tar", "", 0);
    expect_error(look("", "none"), IMREC_ERR_CORRUPT,
                 "byte 0: the file is empty: it is no archive");
    free((void *)(uintptr_t)x.p);
}

TEST(a_sample_that_damage_may_have_cost_a_file_is_skipped_with_it)
{
    static const uint8_t no_header[512] = {'x'};
    tar_text(&tar, "0.jpg", "x");
    tar_text(&tar, "0.cls", "7");
    tar_text(&tar, "1.jpg", "its label is lost");
    ck_assert_int_eq(buf_append(&tar, no_header, sizeof(no_header), NULL), IMREC_OK);
    tar_text(&tar, "2.cls", "8");
    tar_text(&tar, "3.jpg", "x");
    tar_text(&tar, "3.cls", "9");
    write_tar("x.tar");
    errors = IMREC_ARCHIVE_SKIP_DAMAGE;
    expect_ok(look("", ""));
    ck_assert(found.file_count == 2 && found.skip_count == 3);
    expect_skip("x.tar/1.jpg", "label", "no label .cls");
    expect_skip("x.tar", "damaged", "not a header");
    expect_skip("x.tar/2", "missing", "has no image");
    errors = IMREC_ARCHIVE_STOP;
    expect_error(look("", ""), IMREC_ERR_CORRUPT, "not a header");
}

TEST(what_is_packed_in_another_way_is_no_archive)
{
    static const char *const begins[][2] = {{"\x1f\x8b\x08", "gzip: unpack it with gunzip"},
                                            {"\x28\xb5\x2f\xfd", "zstd: unpack it with zstd -d"},
                                            {"BZh9", "bzip2"},
                                            {"\xfd"
                                             "7zXZ",
                                             "xz"},
                                            {"PK\x03\x04", "zip"}};
    char text[2048];
    for (size_t i = 0; i < COUNT(begins); i++) {
        memset(text, 'x', sizeof(text));
        memcpy(text, begins[i][0], strlen(begins[i][0]));
        tmp_write(&p.dir, "x.tar", text, sizeof(text));
        expect_error(look("", ""), IMREC_ERR_UNSUPPORTED, begins[i][1]);
    }
}

TEST(a_damaged_header_whose_name_begins_as_a_packed_archive_is_damage)
{
    tar_text(&tar, "BZhang.jpg", "x");
    tar.p[148] ^= 1; /* of its checksum */
    tar_text(&tar, "2.jpg", "x");
    tar_text(&tar, "2.cls", "7");
    write_tar("x.tar");
    expect_ok(look("", ""));
    ck_assert_uint_eq(found.file_count, 1);
    ck_assert_uint_eq(found.skip_count, 1);
}

TEST(old_headers_and_long_links_are_read)
{
    tar_text(&tar, "0.jpg", "x");
    memset(tar.p + 257, 0, 8); /* no magic: of the seventh edition */
    unsigned sum = 8 * ' ';
    for (int i = 0; i < 512; i++)
        sum += i < 148 || i >= 156 ? tar.p[i] : 0;
    snprintf((char *)tar.p + 148, 8, "%06o", sum);
    const size_t second = tar.n;
    tar_text(&tar, "0.cls", "7");
    tar.p[second + 300] = 0xf0; /* added as a signed byte, by other programs */
    sum = 8 * ' ';
    for (size_t i = second; i < second + 512; i++)
        sum += i < second + 148 || i >= second + 156 ? (unsigned)(int8_t)tar.p[i] : 0;
    snprintf((char *)tar.p + second + 148, 8, "%06o", sum);
    tar_put(&tar, "link", 'K', "a/name/of/a/target", 18);
    tar_text(&tar, "1.jpg", "x");
    tar_put(&tar, "name", 'L', "1.cls", 6);
    tar_put(&tar, "link", 'K', "a/name/of/a/target", 18);
    tar_text(&tar, "other", "8");
    write_tar("x.tar");
    errors = IMREC_ARCHIVE_STOP;
    expect_ok(look("", ""));
    ck_assert(found.file_count == 2 && found.skip_count == 0);
    ck_assert(found.places[0].label == 7 && found.places[1].label == 8);
}

TEST(names_of_what_is_not_packed_are_collected_once)
{
    char name[32];
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "0.e%d", i);
        tar_text(&tar, name, "x");
    }
    write_tar("x.tar");
    expect_ok(look("", "none"));
    ck_assert(others.count == OTHER_NAMES_MOST && others.more);
    tar_text(&tar, "0.jpg", "x");
    tar_text(&tar, "0.json", "x");
    tar_text(&tar, "0.JSON", "x");
    tar_text(&tar, ".hidden.jpg", "x");
    tar_text(&tar, "1.jpg", "x");
    tar_text(&tar, "1.json", "x");
    write_tar("x.tar");
    expect_ok(look("", "none"));
    ck_assert(others.count == 2 && !others.more);
    ck_assert_str_eq(others.name[0], ".json");
    ck_assert_str_eq(others.name[1], ".hidden.jpg");
}
