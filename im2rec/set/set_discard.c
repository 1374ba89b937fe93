/* im2rec/set/set_discard.c - removes a set that cannot be resumed. */
#include "im2rec/set/set_files.h"

#include "formats/set/set_names.h"
#include "storage/sink.h"

#include <stdio.h>

static void discard(const char *name, const char *suffix)
{
    char all[NAME_BYTES + 16];
    const int n = snprintf(all, sizeof(all), "%s%s", name, suffix);
    if (n > 0 && (size_t)n < sizeof(all) && sink_remove(all, NULL) != IMREC_OK)
        return; /* it stays, under a name that only an unfinished run has */
}

/* `suffix` is that of temporary files, or empty. */
static void discard_shard(const struct set_files *s, const char *rec, const char *suffix)
{
    char name[NAME_BYTES];
    discard(rec, suffix);
    if (s->kind->scratch != NULL) {
        snprintf(name, sizeof(name), "%s%s", rec, s->kind->scratch);
        discard(name, ".part");
    }
    for (int what = SET_INDEX; s->kind->side_files && what <= SET_CHECKSUMS; what++) {
        set_name(rec, (enum set_file)what, name);
        discard(name, suffix);
    }
    if (s->kind->side_files) {
        set_name(rec, SET_BINARY_INDEX, name);
        discard(name, suffix);
    }
}

static void discard_common(const struct set_files *s, const char *suffix)
{
    char name[NAME_BYTES];
    set_name(s->rec, SET_MANIFEST, name);
    discard(name, suffix);
    discard(s->list, suffix);
    set_name(s->rec, SET_CLASSES, name);
    if (suffix[0] != '\0' || !s->given_classes)
        discard(name, suffix);
}

void set_discard(const struct set_files *s, uint64_t written, uint64_t published)
{
    char name[NAME_BYTES];
    for (uint64_t k = 0; k < written; k++) {
        set_work_name(s, k, name);
        discard_shard(s, name, ".part");
    }
    discard_common(s, ".part");
    discard(s->journal, ".part");
    for (uint64_t k = 0; k < published; k++) {
        set_final_name(s, k, published, name);
        discard_shard(s, name, "");
    }
    if (published != 0)
        discard_common(s, "");
}

void set_discard_shard(const struct set_files *s, const char *rec)
{
    discard_shard(s, rec, ".part");
}
