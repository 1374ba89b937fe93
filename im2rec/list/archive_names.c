/* im2rec/list/archive_names.c */
#include "im2rec/list/archive_names.h"

#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/item/packed_archive.h"
#include "storage/source.h"

#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".tar"

/* Those that are packed in a way that nobody reads here are refused when they are opened. */
static bool is_called_archive(const char *name, size_t n)
{
    static const char *const suffixes[] = {
        SUFFIX,      ".tgz",     ".tar.gz",  ".tar.zst", ".tar.zstd", ".tar.bz2", ".tar.xz",
        ".tar.lzma", ".tar.lz4", ".tar.zip", ".tar.br",  ".tar.Z",    NULL};
    return name_ends_in(name, n, suffixes);
}

bool archives_are_called(const char *name)
{
    return is_called_archive(name, source_name_bytes(name)) || archive_is_examples(name);
}

bool archives_are(const char *spec)
{
    const char *last = strrchr(spec, ';');
    last = source_path(last != NULL ? last + 1 : spec);
    struct stat st;
    if (!archives_are_called(last))
        return false;
    return source_is_remote(last) || stat(last, &st) != 0 || !S_ISDIR(st.st_mode);
}

static size_t digits_before(const char *name, size_t n)
{
    size_t i = n;
    while (i > 0 && name[i - 1] >= '0' && name[i - 1] <= '9')
        i--;
    return n - i;
}

/* name[0..n) ends in "-00000-of-01024", as TensorFlow numbers shards, or in a pattern of such
 * names.
 */
static bool is_shard_name(const char *name, size_t n)
{
    const size_t total = digits_before(name, n);
    const size_t of = n - total;
    if (total == 0 || of < 4 || memcmp(name + of - 4, "-of-", 4) != 0)
        return false;
    if (of > 4 && strchr("}]*?", name[of - 5]) != NULL)
        return true;
    const size_t number = digits_before(name, of - 4);
    return number != 0 && of - 4 > number && name[of - 4 - number - 1] == '-';
}

static bool is_examples_name(const char *name, size_t n)
{
    static const char *const suffixes[] = {".tfrecord", ".tfrecords", NULL};
    return name_ends_in(name, n, suffixes) || is_shard_name(name, n);
}

bool archive_is_examples(const char *name)
{
    return is_examples_name(name, source_name_bytes(name));
}

/* How many of the names `is` is true of; *all: how many there are. */
static size_t count_names(const char *spec, bool (*is)(const char *name, size_t n), size_t *all)
{
    size_t found = 0;
    *all = 0;
    for (const char *at = spec; *at != '\0';) {
        const size_t n = strcspn(at, ";");
        found += is(at, n);
        ++*all;
        at += n + (at[n] == ';');
    }
    return found;
}

bool archives_are_packed(const char *spec)
{
    size_t all;
    return count_names(spec, name_is_packed, &all) != 0;
}

bool archives_are_examples(const char *spec)
{
    size_t all;
    return count_names(spec, is_examples_name, &all) == all && all != 0;
}

static enum imrec_status check_names(struct uri_list *l, struct imrec_error *err)
{
    for (size_t i = 0; i < l->count; i++) {
        const char *path = source_path(l->uri[i]);
        if (path != l->uri[i])
            memmove(l->uri[i], path, strlen(path) + 1);
        if (source_name_bytes(l->uri[i]) != strlen(l->uri[i]))
            return IMREC_REFUSE(err,
                                "%.200s: archives are named without a query, because their names "
                                "become those of the images",
                                l->uri[i]);
        if ((l->uri[i][0] == '/') != (l->uri[0][0] == '/') ||
            source_is_remote(l->uri[i]) != source_is_remote(l->uri[0]))
            return IMREC_REFUSE(err,
                                "%.200s and %.200s: archives are named from one place, all from "
                                "the current folder, all from / or all in a store",
                                l->uri[0], l->uri[i]);
    }
    return IMREC_OK;
}

enum imrec_status archives_list(const char *spec, struct uri_list *out, struct imrec_error *err)
{
    IMREC_TRY(uri_list_expand(spec, SUFFIX, out, err));
    return check_names(out, err);
}

/* 0: there is none. */
static size_t folder_bytes(const struct uri_list *l)
{
    size_t n = strlen(l->uri[0]);
    for (size_t i = 0; i < l->count; i++) {
        size_t same = 0;
        while (same < n && l->uri[i][same] == l->uri[0][same])
            same++;
        n = same;
        while (n > 0 && l->uri[0][n - 1] != '/')
            n--;
    }
    const char *host = strstr(l->uri[0], "://"); /* a scheme alone is no folder */
    return host != NULL && n <= (size_t)(host - l->uri[0]) + 3 ? 0 : n;
}

char *archives_folder(const struct uri_list *l, size_t *bytes)
{
    *bytes = folder_bytes(l);
    if (*bytes != 0)
        return imrec_joined(l->uri[0], *bytes, "");
    const bool absolute = l->uri[0][0] == '/' || source_is_remote(l->uri[0]);
    return imrec_joined("", 0, absolute ? "" : ".");
}
