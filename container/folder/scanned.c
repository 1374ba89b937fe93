/* container/folder/scanned.c */
#include "container/folder/scanned.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

bool scan_add_folder(struct scan *s, const char *path, int64_t class_index, uint64_t size)
{
    char *kept = string_arena_put(&s->texts, path, strlen(path) + 1);
    if (kept == NULL || !IMREC_GROW(s->folders, s->folder_room, s->folder_count + 1))
        return false;
    s->folders[s->folder_count++] = (struct scan_folder){kept, class_index, size};
    return true;
}

bool scan_add_file(struct scan *s, uint32_t folder, uint32_t id, const char *name,
                   const struct scan_place *place)
{
    const size_t n = strlen(name) + 1;
    struct scan_file *f = string_arena_put(&s->texts, NULL, sizeof(*f) + n);
    if (f == NULL || !IMREC_GROW(s->files, s->file_room, s->file_count + 1) ||
        (place != NULL && !IMREC_GROW(s->places, s->place_room, s->file_count + 1)))
        return false;
    f->folder = folder;
    f->id = id;
    memcpy(f->name, name, n);
    if (place != NULL) {
        s->places[s->file_count] = *place;
        const char **fields = &s->places[s->file_count].fields;
        if (*fields != NULL)
            *fields = string_arena_put(&s->texts, place->fields, strlen(place->fields) + 1);
        if (*fields == NULL && place->fields != NULL)
            return false;
    }
    s->files[s->file_count++] = f;
    return true;
}

bool scan_add_said(struct scan *s, uint32_t folder, const struct folder_entry *e)
{
    const char *identity = e->identity != NULL ? e->identity : "";
    const size_t n = strlen(e->name) + 1, m = strlen(identity) + 1;
    struct scan_file *f = string_arena_put(&s->texts, NULL, sizeof(*f) + n + m + sizeof(e->size));
    if (f == NULL || !IMREC_GROW(s->files, s->file_room, s->file_count + 1))
        return false;
    f->folder = folder;
    f->id = 0;
    memcpy(f->name, e->name, n);
    memcpy(f->name + n, identity, m);
    memcpy(f->name + n + m, &e->size, sizeof(e->size));
    s->files[s->file_count++] = f;
    return true;
}

struct folder_entry scan_said(const struct scan_file *f)
{
    const char *identity = f->name + strlen(f->name) + 1;
    struct folder_entry e = {.name = f->name, .kind = FOLDER_FILE};
    if (identity[0] != '\0') {
        e.identity = identity;
        memcpy(&e.size, identity + strlen(identity) + 1, sizeof(e.size));
    }
    return e;
}

bool scan_add_skip(struct scan *s, const char *folder, const char *name, enum reason reason,
                   const char *why)
{
    const size_t a = strlen(folder), b = strlen(name), slash = a != 0 && b != 0;
    char *path = string_arena_put(&s->texts, NULL, a + slash + b + 1);
    char *text = string_arena_put(&s->texts, why, strlen(why) + 1);
    if (path == NULL || text == NULL || !IMREC_GROW(s->skips, s->skip_room, s->skip_count + 1))
        return false;
    snprintf(path, a + slash + b + 1, "%s%s%s", folder, slash ? "/" : "", name);
    s->skips[s->skip_count++] = (struct scan_skip){path, text, reason};
    return true;
}

void scan_free(struct scan *s)
{
    IMREC_FREE(s->folders, s->files, s->places, s->skips);
    class_list_free(&s->classes);
    string_arena_free(&s->texts);
    *s = (struct scan){0};
}

uint64_t scan_memory(const struct scan *s)
{
    return string_arena_bytes(&s->texts) + s->folder_room * sizeof(*s->folders) +
           s->file_room * sizeof(*s->files) + s->place_room * sizeof(*s->places) +
           s->skip_room * sizeof(*s->skips);
}

void scan_path(const struct scan *s, const struct scan_file *f, char out[SCAN_PATH_BYTES])
{
    const char *folder = s->folders[f->folder].path;
    snprintf(out, SCAN_PATH_BYTES, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", f->name);
}
