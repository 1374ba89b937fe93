/* formats/tar/tar_header.c - the header of a file in a tar archive. */
#include "formats/tar/tar_header.h"

#include "base/error.h"
#include "formats/text.h"

#include <string.h>

/* Fields: offset, bytes. */
enum {
    NAME = 0,
    NAME_BYTES = 100,
    SIZE = 124,
    SIZE_BYTES = 12,
    SUM = 148,
    SUM_BYTES = 8,
    TYPE = 156,
    MAGIC = 257,
    MAGIC_BYTES = 5,
    PREFIX = 345,
    PREFIX_BYTES = 155,
};

bool tar_is_magic(struct bytes first)
{
    return first.n >= MAGIC + MAGIC_BYTES && memcmp(first.p + MAGIC, "ustar", MAGIC_BYTES) == 0;
}

bool tar_is_empty(struct bytes first)
{
    return first.n >= TAR_BLOCK && first.p[0] == 0 &&
           memcmp(first.p, first.p + 1, first.n - 1) == 0;
}

/* Octal digits between blanks and NULs; or, with the first bit set, a big-endian number (GNU). */
static bool read_number(const uint8_t *p, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = 0;
    if (p[0] == 0x80) {
        for (i = 1; i < n; i++) {
            if (v >> 55 != 0)
                return false;
            v = v << 8 | p[i];
        }
        *out = v;
        return true;
    }
    while (i < n && p[i] == ' ')
        i++;
    const size_t first = i;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
        v = v << 3 | (uint64_t)(p[i] - '0'); /* 12 digits have 36 bits */
    const bool digits = i > first;
    while (i < n && (p[i] == ' ' || p[i] == '\0'))
        i++;
    *out = v;
    return digits && i == n;
}

/* Bytes of the header, its checksum taken as blanks. */
static uint64_t sum_of(const uint8_t *p)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += i >= SUM && i < SUM + SUM_BYTES ? ' ' : p[i];
    return sum;
}

/* Whether the checksum is that of the bytes; some old programs have added them as signed ones. */
static bool is_sum(const uint8_t *p, uint64_t said)
{
    const uint64_t sum = sum_of(p);
    uint64_t negative = 0;
    for (size_t i = 0; i < TAR_BLOCK; i++)
        negative += (i < SUM || i >= SUM + SUM_BYTES) && p[i] > 127 ? 256 : 0;
    return said == sum || (negative <= sum && said == sum - negative);
}

static enum tar_type type_of(uint8_t flag)
{
    return flag == '0' || flag == '\0' || flag == '7'  ? TAR_FILE
           : flag == '1' || flag == '2'                ? TAR_LINK
           : flag == '5' || flag == 'D' || flag == 'V' ? TAR_OTHER
           : flag == 'L'                               ? TAR_LONG_NAME
           : flag == 'K'                               ? TAR_LONG_LINK
           : flag == 'x' || flag == 'X'                ? TAR_PAX
           : flag == 'g'                               ? TAR_GLOBAL
           : flag == 'S'                               ? TAR_SPARSE
                                                       : TAR_ODD;
}

const char *tar_odd_kind(const struct tar_header *h)
{
    static const struct {
        uint8_t flag;
        const char *kind;
    } kinds[] = {{'1', "a hard link"},
                 {'2', "a symbolic link"},
                 {'3', "a character device"},
                 {'4', "a block device"},
                 {'6', "a FIFO"},
                 {'M', "the rest of a file of another volume"},
                 {'N', "a list of long names of an old tar"}};
    if (h->type == TAR_SPARSE)
        return "a sparse file";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].flag == h->flag)
            return kinds[i].kind;
    return "of an unknown kind";
}

static size_t field(const uint8_t *p, size_t most, char *out)
{
    size_t n = 0;
    while (n < most && p[n] != '\0')
        n++;
    memcpy(out, p, n);
    out[n] = '\0';
    return n;
}

enum imrec_status
tar_header_parse(const uint8_t p[TAR_BLOCK], struct tar_header *out, struct imrec_error *err)
{
    uint64_t sum;
    out->name[0] = '\0';
    out->size = 0;
    out->flag = 0;
    out->written = (struct bytes){p, 0};
    if (tar_is_empty((struct bytes){p, TAR_BLOCK})) {
        out->type = TAR_END;
        return IMREC_OK;
    }
    const bool summed = read_number(p + SUM, SUM_BYTES, &sum) && is_sum(p, sum);
    if (!summed && !tar_is_magic((struct bytes){p, TAR_BLOCK})) /* older ones have a sum alone */
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "not a header of a tar archive: its byte 257 must begin 'ustar'");
    if (!summed)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the checksum of a tar header is wrong: its bytes add up to %llu",
                          (unsigned long long)sum_of(p));
    if (!read_number(p + SIZE, SIZE_BYTES, &out->size) || out->size > (uint64_t)INT64_MAX)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "the size of a tar header is not a number");
    out->type = type_of(p[TYPE]);
    out->flag = p[TYPE];
    size_t n = 0;
    if (tar_is_magic((struct bytes){p, TAR_BLOCK}) && p[MAGIC + MAGIC_BYTES] == '\0' &&
        p[PREFIX] != '\0') { /* POSIX has a prefix, GNU does not */
        n = field(p + PREFIX, PREFIX_BYTES, out->name);
        out->name[n++] = '/';
    }
    out->written = (struct bytes){p + NAME, field(p + NAME, NAME_BYTES, out->name + n)};
    return IMREC_OK;
}

static enum imrec_status set_name(struct tar_header *h, struct bytes name, struct imrec_error *err)
{
    while (name.n != 0 && name.p[name.n - 1] == '\0')
        name.n--;
    if (name.n >= TAR_NAME_MAX || memchr(name.p, '\0', name.n) != NULL)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "a name of %zu bytes in a tar archive: it has at most %u and no NUL",
                          name.n, TAR_NAME_MAX - 1);
    memcpy(h->name, name.p, name.n);
    h->name[name.n] = '\0';
    h->written = name;
    return IMREC_OK;
}

/* A file with holes, as GNU tar writes it among extended headers. */
static bool is_sparse(struct bytes word)
{
    static const char begin[] = "GNU.sparse.";
    return word.n >= sizeof(begin) - 1 && memcmp(word.p, begin, sizeof(begin) - 1) == 0;
}

/* "27 path=a/long/name.jpg\n", again and again. */
static enum imrec_status read_pax(struct tar_header *h, struct bytes text, struct imrec_error *err)
{
    while (text.n != 0 && text.p[0] != '\0') {
        const uint8_t *blank = memchr(text.p, ' ', text.n);
        uint64_t length;
        const size_t digits = blank != NULL ? (size_t)(blank - text.p) : 0;
        if (blank == NULL || !text_to_u64((struct bytes){text.p, digits}, &length) ||
            length <= digits + 1 || length > text.n || text.p[length - 1] != '\n')
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "an extended header of a tar archive is damaged");
        const struct bytes word = {blank + 1, (size_t)length - digits - 2};
        if (word.n > 5 && memcmp(word.p, "path=", 5) == 0)
            IMREC_TRY(set_name(h, (struct bytes){word.p + 5, word.n - 5}, err));
        if (word.n > 5 && memcmp(word.p, "size=", 5) == 0 &&
            (!text_to_u64((struct bytes){word.p + 5, word.n - 5}, &h->size) ||
             h->size > (uint64_t)INT64_MAX))
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "the size in an extended header of a tar archive is not a number");
        if (is_sparse(word) && h->type == TAR_FILE)
            h->type = TAR_SPARSE;
        text.p += length;
        text.n -= (size_t)length;
    }
    return IMREC_OK;
}

enum imrec_status tar_header_extend(struct tar_header *h, enum tar_type type, struct bytes content,
                                    struct imrec_error *err)
{
    return type == TAR_PAX ? read_pax(h, content, err) : set_name(h, content, err);
}
