/* storage/store/listed.c - what folders held when they were listed. */
#include "storage/store/listed.h"

#include "base/alloc.h"

#include <string.h>

struct listed_one {
    struct listed_one *older;
    char *folder; /* without a '/' at its end */
    size_t bytes; /* of it */
    struct folder_entries all;
};

static _Thread_local struct listed *g_listed;

struct listed *listed_enter(struct listed *l)
{
    struct listed *before = g_listed;
    g_listed = l;
    return before;
}

struct listed *listed_now(void)
{
    return g_listed;
}

void folder_entries_free(struct folder_entries *l)
{
    imrec_free(l->entry);
    string_arena_free(&l->names);
    *l = (struct folder_entries){0};
}

static const struct listed_one *find(const char *folder, size_t n)
{
    const struct listed_one *l = g_listed != NULL ? atomic_load(&g_listed->newest) : NULL;
    while (l != NULL && (l->bytes != n || memcmp(l->folder, folder, n) != 0))
        l = l->older;
    return l;
}

/* Of a folder's URI, without a '/' at its end; of more than one nothing is known. */
static size_t folder_bytes(const char *folder)
{
    const size_t n = strlen(folder);
    return n - (n != 0 && folder[n - 1] == '/');
}

const struct folder_entries *listed_folder(const char *folder)
{
    const struct listed_one *l = find(folder, folder_bytes(folder));
    return l != NULL ? &l->all : NULL;
}

const struct folder_entries *listed_keep(const char *folder, struct folder_entries *all)
{
    const size_t n = folder_bytes(folder);
    if (g_listed == NULL || n == 0 || folder[n - 1] == '/') /* "a//" is listed as "a" */
        return NULL;
    struct listed_one *l = imrec_zalloc(1, sizeof(*l));
    char *name = imrec_joined(folder, n, "");
    if (l == NULL || name == NULL) {
        IMREC_FREE(l, name);
        return NULL;
    }
    *l = (struct listed_one){atomic_load(&g_listed->newest), name, n, *all};
    *all = (struct folder_entries){0};
    while (!atomic_compare_exchange_weak(&g_listed->newest, &l->older, l))
        continue;
    return &l->all;
}

/* The first entry that is not before the name. */
static size_t first_of(const struct folder_entries *all, const char *name)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(all->entry[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool listed_look(const char *uri, const struct folder_entry **file)
{
    const char *slash = strrchr(uri, '/');
    const struct listed_one *l = slash != NULL ? find(uri, (size_t)(slash - uri)) : NULL;
    *file = NULL;
    if (l == NULL)
        return false;
    for (size_t i = first_of(&l->all, slash + 1);
         i < l->all.count && strcmp(l->all.entry[i].name, slash + 1) == 0; i++)
        if (l->all.entry[i].kind == FOLDER_FILE)
            *file = &l->all.entry[i];
    return true;
}

void listed_free(struct listed *l)
{
    for (struct listed_one *one = atomic_load(&l->newest), *older; one != NULL; one = older) {
        older = one->older;
        folder_entries_free(&one->all);
        IMREC_FREE(one->folder, one);
    }
    atomic_store(&l->newest, NULL);
}
