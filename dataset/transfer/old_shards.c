/* dataset/transfer/old_shards.c */
#include "dataset/transfer/old_shards.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"
#include "storage/folder.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_LEAST 5

/* *name begins so: the beginning is cut off. */
static bool cut(struct bytes *name, const char *begin, size_t n)
{
    if (name->n < n || memcmp(name->p, begin, n) != 0)
        return false;
    *name = (struct bytes){name->p + n, name->n - n};
    return true;
}

static bool cut_number(struct bytes *name, uint64_t *out)
{
    size_t n = 0;
    while (n < name->n && text_is_digit(name->p[n]))
        n++;
    const struct bytes digits = {name->p, n};
    *name = (struct bytes){name->p + n, name->n - n};
    return n >= DIGITS_LEAST && text_to_u64(digits, out);
}

static bool is(struct bytes b, const char *text)
{
    return b.n == strlen(text) && memcmp(b.p, text, b.n) == 0;
}

/* "-00003-of-00010" and the suffix of the set, or one of its side files. */
static bool is_shard(const struct old_shards *o, struct bytes rest, uint64_t *count)
{
    static const char *const suffixes[] = {[SET_INDEX] = ".idx", [SET_CHECKSUMS] = ".crc"};
    uint64_t number;
    if (!cut(&rest, "-", 1) || !cut_number(&rest, &number) || !cut(&rest, "-of-", 4) ||
        !cut_number(&rest, count))
        return false;
    for (const enum set_file *what = o->side_files; *what != SET_REC; what++)
        if (is(rest, suffixes[*what]))
            return true;
    return is(rest, o->output + o->stem);
}

static enum imrec_status
remove_beside(const char *output, const char *name, struct imrec_error *err)
{
    char *path = set_beside(output, name);
    const enum imrec_status st =
        path != NULL ? sink_remove(path, err) : IMREC_NO_MEMORY(err, "no memory for a path");
    imrec_free(path);
    return st;
}

enum imrec_status old_shards_refuse(const char *name, const char *output, struct imrec_error *err)
{
    return IMREC_REFUSE(err,
                        "%.300s exists, next to which shards of %.200s would be taken for its own: "
                        "remove it or choose another name",
                        name, output);
}

static enum imrec_status
look_at(const struct old_shards *o, const char *name, struct imrec_error *err)
{
    static const char part[] = ".part";
    const char *base = set_base_name(o->output);
    const size_t n = strlen(name), tail = sizeof(part) - 1;
    const bool is_part = n > tail && memcmp(name + n - tail, part, tail) == 0;
    struct bytes rest = {(const uint8_t *)name, is_part ? n - tail : n};
    uint64_t count;
    if (!cut(&rest, base, o->stem - (size_t)(base - o->output)) || !is_shard(o, rest, &count))
        return IMREC_OK;
    if (is_part)
        return remove_beside(o->output, name, err);
    return count == o->count ? IMREC_OK : old_shards_refuse(name, o->output, err);
}

static enum imrec_status
look_at_all(const struct old_shards *o, struct folder *f, struct imrec_error *err)
{
    struct folder_entry e;
    enum imrec_status st;
    while ((st = folder_next(f, &e, err)) == IMREC_OK)
        IMREC_TRY(look_at(o, e.name, err));
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status
refuse_file(const struct old_shards *o, const char *suffix, struct imrec_error *err)
{
    bool there = false;
    char *name = imrec_joined(o->output, o->stem, suffix);
    enum imrec_status st = name != NULL ? sink_exists(name, &there, err)
                                        : IMREC_NO_MEMORY(err, "no memory for a path");
    if (st == IMREC_OK && there)
        st = IMREC_REFUSE(err,
                          "%.300s exists, of a set that im2rec has written or begun: choose "
                          "another name",
                          name);
    imrec_free(name);
    return st;
}

enum imrec_status old_shards_clear(const struct old_shards *o, struct imrec_error *err)
{
    struct folder *f;
    if (*o->side_files != SET_REC) { /* as im2rec's */
        IMREC_TRY(refuse_file(o, ".manifest.json", err));
        IMREC_TRY(refuse_file(o, ".journal.part", err));
    }
    const char *base = set_base_name(o->output);
    char *folder = base == o->output ? imrec_joined(".", 1, "")
                                     : imrec_joined(o->output, (size_t)(base - o->output), "");
    if (folder == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a path");
    enum imrec_status st = source_is_remote(o->output) ? folder_open(folder, &f, err)
                                                       : folder_open_path(folder, &f, err);
    if (st == IMREC_OK)
        st = look_at_all(o, f, err);
    else if (st !=
             IMREC_ERR_NO_MEMORY) /* a store without folders, or a missing one: writing says */
        st = IMREC_OK;
    folder_close(f);
    imrec_free(folder);
    return st;
}
