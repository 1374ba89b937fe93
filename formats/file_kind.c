/*
 * formats/file_kind.c - names for the first bytes of files that are given as shards by mistake.
 *
 * Sources of the magics: the formats' own specifications. A name is only given where the bytes
 * leave no doubt: a reader of the message looks no further.
 */
#include "formats/file_kind.h"

#include "formats/crc32c.h"

#include <string.h>

#define PACK_IT   "im2rec packs images into shards"
#define UNPACK_IT "unpack it, and pack its images with im2rec"
#define LFS       "version https://git-lfs.github.com/spec/"

/* ---- magics ------------------------------------------------------------------------------ */

struct magic {
    uint16_t at;
    uint8_t n;
    const char *bytes, *words, *instead;
};

static const struct magic magics[] = {
    {0, 3, "\xff\xd8\xff", "a JPEG image", PACK_IT},
    {0, 8, "\x89PNG\r\n\x1a\n", "a PNG image", PACK_IT},
    {0, 6, "GIF87a", "a GIF image", PACK_IT},
    {0, 6, "GIF89a", "a GIF image", PACK_IT},
    {8, 4, "WEBP", "a WebP image", PACK_IT}, /* after RIFF and a size */
    {8, 4, "WAVE", "a sound (WAV)", PACK_IT},
    {0, 4, "II*\0", "a TIFF image", PACK_IT},
    {0, 4, "MM\0*", "a TIFF image", PACK_IT},
    {4, 8, "ftypavif", "an AVIF image", NULL},
    {4, 8, "ftypheic", "an HEIC image", NULL},
    {0, 4, "PK\3\4", "a ZIP archive", UNPACK_IT},
    {0, 4, "PK\5\6", "a ZIP archive", UNPACK_IT}, /* of no file */
    {0, 2, "\x1f\x8b", "compressed by gzip", "decompress it first (gunzip)"},
    {0, 4, "\x28\xb5\x2f\xfd", "compressed by zstd", "decompress it first"},
    {0, 6, "\xfd\x37zXZ\0", "compressed by xz", "decompress it first"},
    {0, 6, "7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK_IT},
    {257, 5, "ustar", "a tar archive", UNPACK_IT},
    {0, 8, "IMRECCRC", "a file of checksums", "it belongs to the .rec of the same name"},
    {0, 6, "\x93NUMPY", "a NumPy array", NULL},
    {0, 4, "PAR1", "a Parquet file", NULL},
    {0, 6, "ARROW1", "an Arrow file", NULL},
    {0, 8, "\x89HDF\r\n\x1a\n", "an HDF5 file", NULL},
    {0, 8, "\x12\1\0\0\0\0\0\0", "a list of MXNet's arrays", NULL}, /* also a mean image */
    {0, sizeof(LFS) - 1, LFS, "a pointer of Git LFS, not the file itself",
     "git lfs pull fetches it"},
};

static bool has(struct bytes first, size_t at, const char *bytes, size_t n)
{
    return first.n >= at && first.n - at >= n && memcmp(first.p + at, bytes, n) == 0;
}

static const struct magic *find_magic(struct bytes first)
{
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (has(first, magics[i].at, magics[i].bytes, magics[i].n) &&
            (magics[i].at != 8 || has(first, 0, "RIFF", 4)))
            return &magics[i];
    return NULL;
}

/* Two letters are too few: the header after them must have one of the known sizes, and start
 * before its pixels do. */
static bool is_bmp(struct bytes first)
{
    if (!has(first, 0, "BM", 2) || first.n < 18)
        return false;
    const uint32_t header = load_le32(first.p + 14), pixels = load_le32(first.p + 10);
    return load_le32(first.p + 6) == 0 && (header == 12 || (header >= 40 && header <= 124)) &&
           pixels >= 14 + header;
}

/* A TFRecord begins with a length of 8 bytes and their masked CRC-32C. */
static bool is_tfrecord(struct bytes first)
{
    return first.n >= 12 && load_le32(first.p + 8) == crc32c_masked(first.p, 8);
}

/* ---- text -------------------------------------------------------------------------------- */

static bool is_text(struct bytes first)
{
    for (size_t i = 0; i < first.n; i++)
        if (first.p[i] == 0x7f || first.p[i] == 0 ||
            (first.p[i] < 0x20 && strchr("\t\n\r\f", first.p[i]) == NULL))
            return false;
    return first.n != 0;
}

static struct bytes first_line(struct bytes text)
{
    const uint8_t *end = memchr(text.p, '\n', text.n);
    struct bytes line = {text.p, end != NULL ? (size_t)(end - text.p) : text.n};
    while (line.n != 0 && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

static size_t span_of(struct bytes b, const char *set)
{
    size_t n = 0;
    while (n < b.n && b.p[n] != 0 && strchr(set, b.p[n]) != NULL)
        n++;
    return n;
}

static struct bytes after(struct bytes b, size_t n)
{
    return (struct bytes){b.p + n, b.n - n};
}

static bool is_number(struct bytes b)
{
    return b.n != 0 && span_of(b, "0123456789+-.eE") == b.n;
}

/* The columns of a line that tabs divide: how many, and whether all but the last, and the last, are
 * numbers. The first must be a whole one. */
static size_t count_columns(struct bytes line, bool *numbers, bool *last_is_number)
{
    size_t columns = 0;
    *numbers = true;
    for (;;) {
        const uint8_t *tab = memchr(line.p, '\t', line.n);
        const struct bytes column = {line.p, tab != NULL ? (size_t)(tab - line.p) : line.n};
        *last_is_number = is_number(column);
        if (columns++ == 0 && span_of(column, "0123456789") != column.n)
            *numbers = false;
        if (tab == NULL)
            return columns;
        *numbers = *numbers && *last_is_number;
        line = after(line, column.n + 1);
    }
}

/* "|name ...", maybe an id in front of it. */
static bool is_ctf(struct bytes line)
{
    line = after(line, span_of(line, " \t"));
    line = after(line, span_of(line, "0123456789"));
    line = after(line, span_of(line, " \t"));
    return line.n >= 2 && line.p[0] == '|' && line.p[1] > ' ' && line.p[1] != '|';
}

static bool contains(struct bytes b, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= b.n; i++)
        if (memcmp(b.p + i, word, n) == 0)
            return true;
    return false;
}

static struct file_kind sure(const char *words, const char *instead)
{
    return (struct file_kind){FILE_KIND_SURE, words, instead};
}

static struct file_kind text_kind(struct bytes text)
{
    bool numbers, last;
    const struct bytes line = first_line(text), body = after(text, span_of(text, " \t\r\n"));
    const size_t columns = count_columns(line, &numbers, &last);
    if (numbers && last && columns == 2)
        return (struct file_kind){FILE_KIND_INDEX, "the index of a shard", NULL};
    if (numbers && !last && columns >= 3)
        return sure("a list of images (.lst)", "im2rec packs what it lists");
    if (is_ctf(line))
        return sure("CNTK text", "imrec minibatches reads it, ctf2bin converts it");
    if (body.n != 0 && (body.p[0] == '{' || body.p[0] == '['))
        return contains(body, "\"imrec-manifest\"")
                   ? sure("the manifest of a set", "given by its own name it opens the set")
                   : sure("JSON text", NULL);
    if (has(body, 0, "<!DOCTYPE", 9) || has(body, 0, "<!doctype", 9) || has(body, 0, "<html", 5))
        return sure("an HTML page", "maybe a download fetched an error page");
    return (struct file_kind){FILE_KIND_GUESS, "text", NULL};
}

/* ---- public ------------------------------------------------------------------------------ */

static bool is_zero(struct bytes first)
{
    return first.n != 0 && first.p[0] == 0 && memcmp(first.p, first.p + 1, first.n - 1) == 0;
}

struct file_kind file_kind_of(struct bytes first)
{
    const struct magic *m = find_magic(first);
    if (m != NULL)
        return sure(m->words, m->instead);
    if (is_bmp(first))
        return sure("a BMP image", PACK_IT);
    if (is_tfrecord(first))
        return sure("a TFRecord file", NULL);
    if (is_zero(first))
        return (struct file_kind){FILE_KIND_GUESS, "zeros", NULL};
    if (is_text(first))
        return text_kind(first);
    return (struct file_kind){0};
}
