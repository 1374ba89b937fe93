/* im2rec/set/shard_names.c */
#include "im2rec/set/shard_names.h"

#include "formats/set/set_names.h"
#include "im2rec/shard/shard_writer.h"

#include <string.h>

bool shard_name_is_of(const char *name, size_t n, const struct shard_kind *kind, const char *list)
{
    char rec[NAME_BYTES], its_list[NAME_BYTES];
    for (const char *const *suffixes = kind->files; *suffixes != NULL; suffixes++) {
        const size_t tail = strlen(*suffixes);
        if (n <= tail || n >= NAME_BYTES - 64 || memcmp(name + n - tail, *suffixes, tail) != 0)
            continue;
        memcpy(rec, name, n - tail);
        strcpy(rec + n - tail, ".rec");
        set_name(rec, SET_LIST, its_list);
        if (strcmp(its_list, list) == 0)
            return true;
    }
    return false;
}
