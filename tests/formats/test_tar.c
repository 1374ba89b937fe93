/* tests/formats/test_tar.c - headers of tar archives: what is written is read again, byte by byte
 * where POSIX says which, and so is what other programs write. */
#include "base/buf.h"
#include "formats/tar/tar_header.h"
#include "formats/tar/tar_write.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"

#include <inttypes.h>

static struct buf g_tar;
static struct tar_header g_h;

static void begin(void)
{
    g_tar = BUF_INIT((size_t)1 << 20);
}

static void end(void)
{
    buf_free(&g_tar);
}

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

/* Puts the sum of the first block, as it is now, or as old programs add signed bytes. */
static void sign(bool as_signed, const char *format)
{
    unsigned sum = 0;
    char text[40];
    memset(g_tar.p + 148, ' ', 8);
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += as_signed ? (unsigned)(int8_t)g_tar.p[i] : g_tar.p[i];
    ck_assert_int_eq(snprintf(text, sizeof(text), format, sum, '\0'), 8);
    memcpy(g_tar.p + 148, text, 8);
}

static void expect_refused(const char *words)
{
    struct imrec_error err = {0};
    ck_assert_int_eq(tar_header_parse(g_tar.p, &g_h, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
}

CASE(.setup = begin, .teardown = end)

TEST(a_header_is_that_of_posix)
{
    struct buf same = BUF_INIT((size_t)1 << 20);
    ck_assert_int_eq(tar_write_file(&g_tar, bytes_of("a/b.jpg"), bytes_of("image"), NULL),
                     IMREC_OK);
    tar_text(&same, "a/b.jpg", "image"); /* but for ids, which may end in any way */
    ck_assert_uint_eq(g_tar.n, same.n);
    ck_assert_mem_eq(g_tar.p, same.p, same.n);
    buf_free(&same);
}

static const size_t name_bytes[] = {1, 2, 9, 84, 85, 99, 100, 101, 500, 985, 986, 987, 4094, 4095};

LOOP_TEST(names_of_every_length_are_read_again, 0, COUNT(name_bytes))
{
    char name[TAR_NAME_MAX] = {0}, length[8];
    const size_t n = name_bytes[_i], blocks = (n + 3 + 5 + 2 + TAR_BLOCK) / TAR_BLOCK;
    memset(name, 'n', n);
    ck_assert_int_eq(tar_write_file(&g_tar, bytes_of(name), bytes_of("image"), NULL), IMREC_OK);
    ck_assert_int_eq(tar_header_parse(g_tar.p, &g_h, NULL), IMREC_OK);
    if (n > 100) {
        struct tar_header file;
        const struct bytes content = {g_tar.p + TAR_BLOCK, (size_t)g_h.size};
        (void)snprintf(length, sizeof(length), "%zu ", content.n);
        ck_assert_int_eq(g_h.type, TAR_PAX);
        ck_assert_uint_eq(content.n, strlen(length) + strlen("path=") + n + 1);
        ck_assert_mem_eq(content.p, length, strlen(length));
        ck_assert_uint_eq(content.p[content.n - 1], '\n');
        ck_assert_uint_eq(g_tar.n, (blocks + 3) * TAR_BLOCK);
        ck_assert_int_eq(tar_header_parse(g_tar.p + (blocks + 1) * TAR_BLOCK, &file, NULL),
                         IMREC_OK);
        ck_assert_mem_eq(file.name, name, 100);
        ck_assert_uint_eq(strlen(file.name), 100);
        ck_assert_int_eq(tar_header_extend(&file, TAR_PAX, content, NULL), IMREC_OK);
        g_h = file;
    }
    ck_assert_int_eq(g_h.type, TAR_FILE);
    ck_assert_str_eq(g_h.name, name);
    ck_assert_uint_eq(g_h.size, 5);
}

TEST(names_that_no_archive_can_have_are_refused)
{
    static char name[TAR_NAME_MAX + 1];
    memset(name, 'n', TAR_NAME_MAX);
    const struct bytes wrong[] = {bytes_of(""), bytes_of(name), {(const uint8_t *)"a\0b", 3}};
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(tar_write_file(&g_tar, wrong[i], bytes_of(""), NULL), IMREC_ERR_LIMIT);
    ck_assert_uint_eq(g_tar.n, 0);
}

TEST(a_field_that_is_full_has_no_nul)
{
    char name[TAR_BLOCK] = {0};
    memset(name, 'p', 155);
    name[155] = '/';
    memset(name + 156, 'n', 100);
    tar_text(&g_tar, "", "image");
    memcpy(g_tar.p, name + 156, 100);
    memcpy(g_tar.p + 345, name, 155);
    sign(false, "%06o%c ");
    ck_assert_int_eq(tar_header_parse(g_tar.p, &g_h, NULL), IMREC_OK);
    ck_assert_str_eq(g_h.name, name);
    ck_assert(g_h.written.p == g_tar.p && g_h.written.n == 100);
    memcpy(g_tar.p + 257, "ustar  ", 8); /* of GNU: what is at the prefix is something else */
    sign(false, "%06o%c ");
    ck_assert_int_eq(tar_header_parse(g_tar.p, &g_h, NULL), IMREC_OK);
    ck_assert_str_eq(g_h.name, name + 156);
}

TEST(sums_of_all_programs_are_read)
{
    static const char *const formats[] = {"%06o%c ", "%07o%c", " %05o%c ", "%8o", "%6o  "};
    tar_text(&g_tar, "caf\xc3\xa9.jpg", "image");
    for (size_t i = 0; i < COUNT(formats); i++)
        for (int as_signed = 0; as_signed < 2; as_signed++) {
            sign(as_signed, formats[i]);
            ck_assert_int_eq(tar_header_parse(g_tar.p, &g_h, NULL), IMREC_OK);
            ck_assert_str_eq(g_h.name, "caf\xc3\xa9.jpg");
        }
    for (size_t i = 0; i < TAR_BLOCK; i++) { /* no byte but the sum's own ends is free */
        g_tar.p[i] ^= 1;
        if (i < 148 || i > 155)
            expect_refused("");
        g_tar.p[i] ^= 1;
    }
}

static const struct {
    uint8_t field[13];
    uint64_t size;
    bool refused;
} sizes[] = {
    {"00000000005", 5, false},
    {"777777777777", UINT64_C(0777777777777), false},
    {"      17    ", 15, false},
    {"           7", 7, false},
    {{0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1}, UINT64_C(0x200000001), false},
    {{0x80, 0, 0, 0, 0x7f, 255, 255, 255, 255, 255, 255, 255}, INT64_MAX, false},
    {{0x80, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0}, 0, true},
    {{0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, 0, true},
    {"00000000008", 0, true},
    {"0000000 005", 0, true},
    {"            ", 0, true},
};

LOOP_TEST(sizes_are_octal_or_binary, 0, COUNT(sizes))
{
    tar_text(&g_tar, "a.jpg", "image");
    memcpy(g_tar.p + 124, sizes[_i].field, 12);
    sign(false, "%06o%c ");
    if (sizes[_i].refused) {
        expect_refused("the size of a tar header is not a number");
        return;
    }
    ck_assert_int_eq(tar_header_parse(g_tar.p, &g_h, NULL), IMREC_OK);
    ck_assert_uint_eq(g_h.size, sizes[_i].size);
}

static const struct {
    const char *text, *name; /* name NULL: refused */
    uint64_t size;
    enum tar_type type;
} keywords[] = {
    {"11 path=ab\n", "ab", 5, TAR_FILE},
    {"10 path=a\n10 path=b\n", "b", 5, TAR_FILE},
    {"20 comment=not read\n11 size=70\n", "a.jpg", 70, TAR_FILE},
    {"8 path=\n8 size=\n", "a.jpg", 5, TAR_FILE}, /* without a value: what the header has */
    {"22 GNU.sparse.major=1\n", "a.jpg", 5, TAR_SPARSE},
    {"11 path=ab", NULL, 0, TAR_FILE},
    {"12 path=ab\n", NULL, 0, TAR_FILE},
    {"10 path=ab\n", NULL, 0, TAR_FILE},
    {"3 \n", "a.jpg", 5, TAR_FILE},
    {"2 \n", NULL, 0, TAR_FILE},
    {"path", NULL, 0, TAR_FILE},
    {"11 size=7x\n", NULL, 0, TAR_FILE},
    {"27 size=9223372036854775807\n", NULL, 0, TAR_FILE},
    {"28 size=9223372036854775807\n", "a.jpg", INT64_MAX, TAR_FILE},
    {"28 size=9223372036854775808\n", NULL, 0, TAR_FILE},
};

LOOP_TEST(an_extended_header_changes_name_and_size, 0, COUNT(keywords))
{
    tar_text(&g_tar, "a.jpg", "image");
    ck_assert_int_eq(tar_header_parse(g_tar.p, &g_h, NULL), IMREC_OK);
    const enum imrec_status st =
        tar_header_extend(&g_h, TAR_PAX, bytes_of(keywords[_i].text), NULL);
    ck_assert_int_eq(st, keywords[_i].name != NULL ? IMREC_OK : IMREC_ERR_CORRUPT);
    if (st != IMREC_OK)
        return;
    ck_assert_str_eq(g_h.name, keywords[_i].name);
    ck_assert_uint_eq(g_h.size, keywords[_i].size);
    ck_assert_int_eq(g_h.type, keywords[_i].type);
}

static const struct {
    char flag;
    enum tar_type type;
    const char *kind; /* NULL: no message names it */
} types[] = {{'0', TAR_FILE, NULL},
             {'\0', TAR_FILE, NULL},
             {'7', TAR_FILE, NULL},
             {'1', TAR_LINK, "a hard link"},
             {'2', TAR_LINK, "a symbolic link"},
             {'3', TAR_ODD, "a character device"},
             {'4', TAR_ODD, "a block device"},
             {'5', TAR_OTHER, NULL},
             {'6', TAR_ODD, "a FIFO"},
             {'D', TAR_OTHER, NULL},
             {'K', TAR_LONG_LINK, NULL},
             {'L', TAR_LONG_NAME, NULL},
             {'M', TAR_ODD, "the rest of a file of another volume"},
             {'N', TAR_ODD, "a list of long names of an old tar"},
             {'S', TAR_SPARSE, "a sparse file"},
             {'V', TAR_OTHER, NULL},
             {'X', TAR_PAX, NULL},
             {'x', TAR_PAX, NULL},
             {'g', TAR_GLOBAL, NULL},
             {'A', TAR_ODD, "of an unknown kind"}};

LOOP_TEST(every_kind_of_file_has_its_name, 0, COUNT(types))
{
    tar_put(&g_tar, "a", types[_i].flag, "", 0);
    ck_assert_int_eq(tar_header_parse(g_tar.p, &g_h, NULL), IMREC_OK);
    ck_assert_int_eq(g_h.type, types[_i].type);
    if (types[_i].kind != NULL)
        ck_assert_str_eq(tar_odd_kind(&g_h), types[_i].kind);
}

TEST(an_archive_ends_with_zeros_to_whole_records)
{
    static const uint64_t rows[][2] = {
        {0, 10240}, {512, 9728}, {9216, 1024}, {9728, 10752}, {10240, 10240}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        ck_assert_uint_eq(tar_end_bytes(rows[i][0]), rows[i][1]);
}
