/* dataset/transfer/unfinished.c */
#include "dataset/transfer/unfinished.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX      ".unfinished"
#define TEXT_MOST   64u
#define SHARDS_MOST (UINT64_C(1) << 20)

static enum imrec_status
name_of(const char *output, size_t stem, char **out, struct imrec_error *err)
{
    *out = imrec_joined(output, stem, SUFFIX);
    return *out != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for a name");
}

static enum imrec_status write_text(const char *name, uint64_t count, struct imrec_error *err)
{
    char text[TEXT_MOST];
    struct sink *s;
    const int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", count);
    IMREC_TRY(sink_open(name, &s, err));
    const enum imrec_status st = sink_append(s, text, (size_t)n, err);
    if (st == IMREC_OK)
        return sink_commit(s, err);
    sink_abort(s);
    return st;
}

enum imrec_status
unfinished_begin(const char *output, size_t stem, uint64_t count, struct imrec_error *err)
{
    char *name;
    IMREC_TRY(name_of(output, stem, &name, err));
    const enum imrec_status st = write_text(name, count, err);
    imrec_free(name);
    return st;
}

/* "300\n" */
static bool read_count(struct bytes text, uint64_t *count)
{
    return text.n != 0 && text.p[text.n - 1] == '\n' &&
           text_to_u64((struct bytes){text.p, text.n - 1}, count) && *count != 0 &&
           *count <= SHARDS_MOST;
}

static enum imrec_status read_text(const char *name, uint64_t *count, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    IMREC_TRY(source_load(name, TEXT_MOST, &text, &n, err));
    const bool is = read_count((struct bytes){text, n}, count);
    imrec_free(text);
    return is ? IMREC_OK
              : IMREC_REFUSE(err,
                             "%.300s exists, and no conversion has written it: remove it or "
                             "choose another name",
                             name);
}

enum imrec_status
unfinished_read(const char *output, size_t stem, uint64_t *count, struct imrec_error *err)
{
    char *name;
    bool there;
    *count = 0;
    IMREC_TRY(name_of(output, stem, &name, err));
    enum imrec_status st = sink_exists(name, &there, err);
    if (st == IMREC_OK && there)
        st = read_text(name, count, err);
    imrec_free(name);
    return st;
}

/* What cannot be removed stays. */
static void remove_named(const char *output, size_t stem, const char *suffix)
{
    char *name = imrec_joined(output, stem, suffix);
    if (name != NULL && sink_remove_first(name, NULL) != IMREC_OK)
        name[0] = '\0';
    imrec_free(name);
}

void unfinished_end(const char *output, size_t stem)
{
    remove_named(output, stem, SUFFIX ".part"); /* where writing it has failed */
    remove_named(output, stem, SUFFIX);
}
