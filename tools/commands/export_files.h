/* tools/commands/export_files.h - a folder that an export fills, file by file; each file gets its
 * name only when it is complete. An export can be resumed, and files of others are not touched.
 *
 * FOLDER/export.part says whose folder it is, and is locked while an export runs;
 * FOLDER/export.file.part is the file being written; FOLDER/export.lst.part becomes export.lst last
 * of all. */
#ifndef IMREC_TOOLS_COMMANDS_EXPORT_FILES_H
#define IMREC_TOOLS_COMMANDS_EXPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct export_files {
    const char *name;   /* of the command: errors are one line on stderr that begins with it */
    const char *folder; /* borrowed */
    FILE *list;
    int marker;      /* export.part, locked; -1: none */
    bool begun;      /* an earlier call had begun the folder */
    uint64_t *taken; /* hashes of the names that this export has given; 0: a free place */
    size_t taken_count, taken_room;
};

/* Makes the folder, or takes an empty one, or one that an export of the same `uri` has begun.
 * False after one line on stderr; export_files_close() is allowed then. */
bool export_files_open(struct export_files *f, const char *name, const char *folder,
                       const char *uri);

enum export_place {
    EXPORT_FREE,  /* there is no such file */
    EXPORT_THERE, /* a file of these bytes, by an earlier call */
    EXPORT_TORN,  /* such a file, of which a machine that stopped has lost bytes */
    EXPORT_TAKEN, /* something else, or a name that this export has given already */
};
enum export_place
export_files_look(const struct export_files *f, const char *path, const void *bytes, size_t n);
/* Writes a file to a free place, or again, or leaves one that is there, and gives the name away.
 * False after one line on stderr. */
bool export_files_put(struct export_files *f, const char *path, enum export_place place,
                      const void *bytes, size_t n);
/* The list under its name, once all files are durable, and the folder is a finished export. */
bool export_files_commit(struct export_files *f);
/* Of a folder that is not committed everything stays, for the next call. */
void export_files_close(struct export_files *f);
#endif
