/* im2rec/shard/shard_kinds.c */
#include "im2rec/shard/shard_kinds.h"

#include <string.h>

extern const struct shard_kind rec_shard_kind, cbf_shard_kind;

const struct shard_kind *const shard_kinds[] = {
    [IMREC_PACK_REC] = &rec_shard_kind, [IMREC_PACK_CBF] = &cbf_shard_kind, NULL};

const struct shard_kind *shard_kind_of_format(const char *format)
{
    const struct shard_kind *const *k = shard_kinds;
    while (*k != NULL && strcmp((*k)->format, format) != 0)
        k++;
    return *k;
}

const struct shard_kind *shard_kind_of_name(const char *name)
{
    const struct shard_kind *const *k = shard_kinds;
    while (*k != NULL && !shard_name_has_suffix(*k, name))
        k++;
    return *k;
}

bool shard_name_has_suffix(const struct shard_kind *kind, const char *name)
{
    const size_t n = strlen(name), k = strlen(kind->files[0]);
    return n >= k && strcmp(name + n - k, kind->files[0]) == 0;
}
