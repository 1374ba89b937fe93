/* formats/tar/tar_write.c - files into a tar archive. */
#include "formats/tar/tar_write.h"

#include "base/error.h"
#include "formats/tar/tar_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MOST 100u
#define SIZE_MOST UINT64_C(077777777777)

static void octal(uint8_t *to, int digits, uint64_t v)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%0*" PRIo64, digits, v);
    memcpy(to, text, (size_t)digits);
}

/* Without its checksum, which sign() adds. */
static void fill(uint8_t p[TAR_BLOCK], struct bytes name, uint64_t size, char type)
{
    memset(p, 0, TAR_BLOCK);
    memcpy(p, name.p, name.n < NAME_MOST ? name.n : NAME_MOST);
    octal(p + 100, 7, 0644);
    octal(p + 108, 7, 0);
    octal(p + 116, 7, 0);
    octal(p + 124, 11, size);
    octal(p + 136, 11, 0);
    p[156] = (uint8_t)type;
    memcpy(p + 257, "ustar\00000", 8);
}

static void sign(uint8_t p[TAR_BLOCK])
{
    uint64_t sum = 0;
    memset(p + 148, ' ', 8);
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += p[i];
    octal(p + 148, 6, sum);
    p[154] = '\0';
}

static enum imrec_status
append(struct buf *out, struct bytes name, char type, struct bytes content, struct imrec_error *err)
{
    static const uint8_t zeros[TAR_BLOCK];
    uint8_t header[TAR_BLOCK];
    fill(header, name, content.n, type);
    sign(header);
    IMREC_TRY(buf_append(out, header, TAR_BLOCK, err));
    IMREC_TRY(buf_append(out, content.p, content.n, err));
    return buf_append(out, zeros, (size_t)(tar_padded(content.n) - content.n), err);
}

/* "LENGTH keyword=value\n": the length counts its own digits. */
static size_t keyword(char *to, size_t room, const char *name, struct bytes value)
{
    const size_t rest = strlen(name) + value.n + 3;
    size_t n = rest + 1;
    for (size_t digits = 1, limit = 10; n >= limit; limit *= 10)
        n = rest + ++digits;
    const int head = snprintf(to, room, "%zu %s=", n, name);
    memcpy(to + head, value.p, value.n);
    to[n - 1] = '\n';
    return n;
}

/* A header before the file's that has the name in full. */
static enum imrec_status extend(struct buf *out, struct bytes name, struct imrec_error *err)
{
    static const char usual[] = "PaxHeader";
    char text[TAR_NAME_MAX + 32];
    const size_t n = keyword(text, sizeof(text), "path", name);
    return append(out, (struct bytes){(const uint8_t *)usual, sizeof(usual) - 1}, 'x',
                  (struct bytes){(const uint8_t *)text, n}, err);
}

enum imrec_status
tar_write_file(struct buf *out, struct bytes name, struct bytes content, struct imrec_error *err)
{
    if (name.n == 0 || name.n >= TAR_NAME_MAX || memchr(name.p, '\0', name.n) != NULL)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "a file of a tar archive has a name of %zu bytes: 1 to %u are possible, "
                          "none of them 0",
                          name.n, TAR_NAME_MAX - 1);
    if (content.n > SIZE_MOST)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "a file of a tar archive has %zu bytes, at most %" PRIu64 " are possible",
                          content.n, SIZE_MOST);
    if (name.n > NAME_MOST)
        IMREC_TRY(extend(out, name, err));
    return append(out, name, '0', content, err);
}

size_t tar_end_bytes(uint64_t size)
{
    return (size_t)(align_up(size + 2 * (uint64_t)TAR_BLOCK, TAR_RECORD) - size);
}
