/* storage/wire/hosts.c - hosts that answered, by their hashes. */
#include "storage/wire/hosts.h"

#include "base/fnv.h"

#include <stdatomic.h>
#include <string.h>

#define HOSTS 256u

static _Atomic uint64_t answered[HOSTS]; /* a hash each, in the place that it leads to */

uint64_t wire_host_hash(const char *url)
{
    const char *host = strstr(url, "://");
    host = host != NULL ? host + 3 : url;
    return fnv1a(FNV_START, host, strcspn(host, "/?#"));
}

void wire_host_answered(const char *url)
{
    const uint64_t hash = wire_host_hash(url);
    atomic_store(&answered[hash % HOSTS], hash);
}

bool wire_host_has_answered(const char *url)
{
    const uint64_t hash = wire_host_hash(url);
    return atomic_load(&answered[hash % HOSTS]) == hash;
}
