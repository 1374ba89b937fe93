/* What a file is, by its first bytes: each kind by its name, and no name for anything else. */
#include "formats/crc32c.h"
#include "formats/file_kind.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <string.h>

#define BYTES(text) text, sizeof(text) - 1

static const struct {
    const char *bytes;
    size_t n;
    const char *words; /* NULL: none */
    enum file_kind_weight weight;
} kinds[] = {
    {BYTES("\xff\xd8\xff\xe0 and so on"), "a JPEG image", FILE_KIND_SURE},
    {BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "a PNG image", FILE_KIND_SURE},
    {BYTES("GIF89a\x10\0\x10\0"), "a GIF image", FILE_KIND_SURE},
    {BYTES("GIF87a\x10\0\x10\0"), "a GIF image", FILE_KIND_SURE},
    {BYTES("RIFF\x10\0\0\0WEBPVP8 "), "a WebP image", FILE_KIND_SURE},
    {BYTES("RIFF\x10\0\0\0WAVEfmt "), "a sound (WAV)", FILE_KIND_SURE},
    {BYTES("II*\0\x08\0\0\0"), "a TIFF image", FILE_KIND_SURE},
    {BYTES("MM\0*\0\0\0\x08"), "a TIFF image", FILE_KIND_SURE},
    {BYTES("BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"), "a BMP image", FILE_KIND_SURE},
    {BYTES("\0\0\0\x1c"
           "ftypavif"),
     "an AVIF image", FILE_KIND_SURE},
    {BYTES("PK\3\4\x14\0"), "a ZIP archive", FILE_KIND_SURE},
    {BYTES("\x1f\x8b\x08\0"), "compressed by gzip", FILE_KIND_SURE},
    {BYTES("\x28\xb5\x2f\xfd\x04"), "compressed by zstd", FILE_KIND_SURE},
    {BYTES("\xfd\x37zXZ\0\0"), "compressed by xz", FILE_KIND_SURE},
    {BYTES("7z\xbc\xaf\x27\x1c\0"), "a 7z archive", FILE_KIND_SURE},
    {BYTES("IMRECCRC\1\0\0\0"), "a file of checksums", FILE_KIND_SURE},
    {BYTES("\x93NUMPY\1\0"), "a NumPy array", FILE_KIND_SURE},
    {BYTES("PAR1\x15\0"), "a Parquet file", FILE_KIND_SURE},
    {BYTES("\x89HDF\r\n\x1a\n\0"), "an HDF5 file", FILE_KIND_SURE},
    {BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:1\n"),
     "a pointer of Git LFS, not the file itself", FILE_KIND_SURE},
    {BYTES("0\t0\n1\t560\n"), "the index of a shard", FILE_KIND_INDEX},
    {BYTES("17\t0\r\n"), "the index of a shard", FILE_KIND_INDEX},
    {BYTES("0\t1.000000\tant/1.jpg\n"), "a list of images (.lst)", FILE_KIND_SURE},
    {BYTES("5\t2\t5\t0\t0.1\t0.2\t0.3\t0.4\tstreet/1.jpg"), "a list of images (.lst)",
     FILE_KIND_SURE},
    {BYTES("|labels 0 1 |features 1 2 3\n"), "CNTK text", FILE_KIND_SURE},
    {BYTES("100 |x 1 2\n"), "CNTK text", FILE_KIND_SURE},
    {BYTES("|x"), "CNTK text", FILE_KIND_SURE},
    {BYTES("| x"), "text", FILE_KIND_GUESS}, /* a name must follow the pipe */
    {BYTES("||x"), "text", FILE_KIND_GUESS},
    {BYTES("7 |"), "text", FILE_KIND_GUESS},
    {BYTES("{\n  \"format\": \"imrec-manifest\",\n"), "the manifest of a set", FILE_KIND_SURE},
    {BYTES("  [1, 2]"), "JSON text", FILE_KIND_SURE},
    {BYTES("\n<!DOCTYPE html><html>"), "an HTML page", FILE_KIND_SURE},
    {BYTES("ant\nbee\n"), "text", FILE_KIND_GUESS},
    {BYTES("1\t2\t3\n"), "text", FILE_KIND_GUESS}, /* neither index nor list */
    {BYTES("BM, as letters of a text"), "text", FILE_KIND_GUESS},
    {BYTES("\0\0\0\0\0\0\0\0\0\0\0\0"), "zeros", FILE_KIND_GUESS},
    {BYTES("\x01\x02\x03\x04"), NULL, FILE_KIND_NONE},
    {BYTES("RIFF\x10\0\0\0CDDA"), NULL, FILE_KIND_NONE},
    {BYTES("0\t0\n\0"), NULL, FILE_KIND_NONE},
    {BYTES(""), NULL, FILE_KIND_NONE},
};

LOOP_TEST(every_kind_has_its_name, 0, COUNT(kinds))
{
    struct guarded g = guarded_copy(kinds[_i].bytes, kinds[_i].n);
    const struct file_kind k = file_kind_of((struct bytes){g.p, kinds[_i].n});
    ck_assert_msg(kinds[_i].words == NULL
                      ? k.words == NULL
                      : k.words != NULL && strcmp(k.words, kinds[_i].words) == 0,
                  "%s instead of %s", k.words, kinds[_i].words);
    ck_assert_int_eq(k.weight, kinds[_i].weight);
    guarded_free(g);
    for (size_t n = 0; n < kinds[_i].n; n++) { /* nothing behind the end is looked at */
        g = guarded_copy(kinds[_i].bytes, n);
        (void)file_kind_of((struct bytes){g.p, n});
        guarded_free(g);
    }
}

TEST(a_tar_archive_says_so_behind_its_first_name)
{
    uint8_t block[FILE_KIND_BYTES] = "photos/1.jpg";
    memcpy(block + 257, "ustar\0", 6);
    ck_assert_str_eq(file_kind_of((struct bytes){block, sizeof(block)}).words, "a tar archive");
    ck_assert_ptr_null(file_kind_of((struct bytes){block, 261}).words);
}

TEST(a_tfrecord_is_known_by_the_checksum_of_its_length)
{
    uint8_t file[20] = {8};
    const uint32_t crc = crc32c(0, file, 8);
    store_le32(file + 8, (crc >> 15 | crc << 17) + 0xa282ead8u);
    ck_assert_str_eq(file_kind_of((struct bytes){file, sizeof(file)}).words, "a TFRecord file");
    file[8] ^= 1;
    ck_assert_ptr_null(file_kind_of((struct bytes){file, sizeof(file)}).words);
}
