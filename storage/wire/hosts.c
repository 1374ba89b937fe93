/* storage/wire/hosts.c - hosts that answered, by their hashes. */
#include "storage/wire/hosts.h"

#include "base/fnv.h"

#include <stdatomic.h>
#include <string.h>

#define HOSTS 256u

static _Atomic uint64_t answered[HOSTS]; /* a hash each; 0: free */

uint64_t wire_host_hash(const char *url)
{
    const char *host = strstr(url, "://");
    host = host != NULL ? host + 3 : url;
    return fnv1a(FNV_START, host, strcspn(host, "/?#"));
}

/* Where it is or has room: from the place on that it leads to. NULL: the table is full of others.
 */
static _Atomic uint64_t *place_of(uint64_t hash)
{
    for (uint64_t i = 0; i < HOSTS; i++) {
        _Atomic uint64_t *at = &answered[(hash % HOSTS + i) % HOSTS];
        const uint64_t is = atomic_load(at);
        if (is == hash || is == 0)
            return at;
    }
    return NULL;
}

/* Of two hosts that take the same room at once one is entered at its next answer. */
void wire_host_answered(const char *url)
{
    const uint64_t hash = wire_host_hash(url);
    _Atomic uint64_t *at = place_of(hash);
    if (at != NULL)
        atomic_store(at, hash);
}

bool wire_host_has_answered(const char *url)
{
    const uint64_t hash = wire_host_hash(url);
    _Atomic uint64_t *at = place_of(hash);
    return at != NULL && atomic_load(at) == hash;
}
