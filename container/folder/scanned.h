/* container/folder/scanned.h - what was found: images in folders, or in archives, by name. */
#ifndef IMREC_CONTAINER_FOLDER_SCANNED_H
#define IMREC_CONTAINER_FOLDER_SCANNED_H

#include "base/string_arena.h"
#include "container/folder/reason.h"
#include "formats/set/class_list.h"
#include "imrec/error.h"
#include "storage/store/store.h"

#define SCAN_PATH_BYTES 4096

struct scan_file { /* 12 bytes + name; 14 million files take half a gigabyte */
    uint32_t folder;
    uint32_t id; /* place in the order of the scan */
    char name[]; /* where a scan keeps what lists say: and after its NUL that, scan_said() */
};
struct scan_folder {     /* or archive */
    const char *path;    /* under the root, "" for the root itself */
    int64_t class_index; /* -1: outside every class, or not yet known; of an archive: none */
    uint64_t size;       /* of an archive */
};
struct scan_skip {
    const char *path, *why;
    enum reason reason;
};
struct scan_place { /* of an image in its archive, and the label that is next to it */
    uint64_t begin, bytes;
    float label;
    const char *fields; /* where its fields are, as the packer wants to know it; NULL: nowhere */
};

struct scan {
    struct string_arena texts;
    struct scan_folder *folders;
    struct scan_file **files;  /* of all images, in order */
    struct scan_place *places; /* of files[], in archives; else NULL */
    struct scan_skip *skips;
    struct class_list classes; /* found ones, where none were given; or given and new ones */
    size_t folder_count, file_count, skip_count;
    uint64_t folder_room, file_room, place_room, skip_room;
    uint64_t other_files;     /* whose names do not count as images */
    uint64_t ignored_folders; /* of the root, as IMREC_CLASS_FLAT says */
};

void scan_free(struct scan *s);             /* zeroed memory is fine */
uint64_t scan_memory(const struct scan *s); /* bytes held */

/* false: no memory. Texts are copied. */
bool scan_add_folder(struct scan *s, const char *path, int64_t class_index, uint64_t size);
bool scan_add_file(struct scan *s, uint32_t folder, uint32_t id, const char *name,
                   const struct scan_place *place); /* NULL: a file of its own */
/* The same, and what the list of its folder says of it. */
bool scan_add_said(struct scan *s, uint32_t folder, const struct folder_entry *e);
/* What it said. identity NULL: neither identity nor size. Of files of scan_add_said() alone; the
 * texts live as long as the scan. */
struct folder_entry scan_said(const struct scan_file *f);
/* folder/name; either may be "". */
bool scan_add_skip(struct scan *s, const char *folder, const char *name, enum reason reason,
                   const char *why);

/* Writes "folder/name" to out; the path was checked to fit when it was scanned. */
void scan_path(const struct scan *s, const struct scan_file *f, char out[SCAN_PATH_BYTES]);
#endif
