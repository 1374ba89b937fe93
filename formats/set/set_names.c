/* formats/set/set_names.c - names of the files of a packed set. */
#include "formats/set/set_names.h"

#include "base/alloc.h"
#include "formats/text.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static size_t digits_before(const char *s, size_t end)
{
    size_t n = 0;
    while (n < end && s[end - 1 - n] >= '0' && s[end - 1 - n] <= '9')
        n++;
    return n;
}

static size_t without_rec(const char *rec)
{
    const size_t n = source_name_bytes(rec);
    const bool shard =
        n >= 4 && (memcmp(rec + n - 4, ".rec", 4) == 0 || memcmp(rec + n - 4, ".cbf", 4) == 0);
    return shard ? n - 4 : n;
}

/* Length of rec[0..n) without "-00003-of-00010" at its end: five digits or more each. */
static size_t without_number(const char *rec, size_t n)
{
    const size_t count = digits_before(rec, n);
    if (count < 5 || n - count < 4 || strncmp(rec + n - count - 4, "-of-", 4) != 0)
        return n;
    const size_t at = n - count - 4, shard = digits_before(rec, at);
    return shard < 5 || at == shard || rec[at - shard - 1] != '-' ? n : at - shard - 1;
}

void set_name(const char *rec, enum set_file what, char *out)
{
    static const char *const suffixes[] = {".rec",         ".idx",           ".crc", ".lst",
                                           ".classes.txt", ".manifest.json", ".idxb"};
    const size_t suffix = strlen(suffixes[what]);
    const char *query = rec + source_name_bytes(rec);
    size_t n = without_rec(rec);
    if (what >= SET_LIST && what <= SET_MANIFEST)
        n = without_number(rec, n);
    memmove(out + n + suffix, query, strlen(query) + 1);
    memmove(out, rec, n);
    memcpy(out + n, suffixes[what], suffix);
}

char *set_path(const char *rec, enum set_file what)
{
    char *path = imrec_realloc(NULL, SET_NAME_ROOM(strlen(rec)), 1);
    if (path != NULL)
        set_name(rec, what, path);
    return path;
}

void set_shard_name(const char *rec, uint64_t shard, uint64_t count, bool numbered, char *out)
{
    const size_t n = strlen(rec);
    if (count == 1 && !numbered)
        memmove(out, rec, n + 1);
    else
        (void)snprintf(out, SET_NAME_ROOM(n), "%.*s-%05" PRIu64 "-of-%05" PRIu64 ".rec",
                       (int)without_rec(rec), rec, shard, count);
}

/* Digits whose number fits; 20 of them may not. */
static bool read_digits(const char *s, size_t n, uint64_t *out)
{
    return n < 20 && text_to_u64((struct bytes){(const uint8_t *)s, n}, out);
}

/* Bytes of a shard's name, of any kind, before its suffix. */
static size_t without_suffix(const char *shard)
{
    static const char *const suffixes[] = {".tar", ".tar.gz", ".tgz", ".tfrecord", ".tfrecords"};
    const size_t n = source_name_bytes(shard);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        const size_t m = strlen(suffixes[i]);
        if (n >= m && memcmp(shard + n - m, suffixes[i], m) == 0)
            return n - m;
    }
    return without_rec(shard);
}

struct set_number set_number_of(const char *rec)
{
    const size_t n = without_suffix(rec), stem = without_number(rec, n);
    struct set_number s = {.stem = n, .rest = n};
    if (stem == n)
        return s;
    const size_t digits = digits_before(rec, n), rest = n - digits - strlen("-of-");
    uint64_t number, count;
    if (!read_digits(rec + stem + 1, rest - stem - 1, &number) ||
        !read_digits(rec + n - digits, digits, &count) || number >= count)
        return s;
    return (struct set_number){stem, rest, number, count};
}

const char *set_base_name(const char *path)
{
    const char *base = path + source_name_bytes(path);
    while (base > path && base[-1] != '/')
        base--;
    return base;
}

char *set_beside(const char *path, const char *name)
{
    return imrec_joined(path, (size_t)(set_base_name(path) - path), name);
}
