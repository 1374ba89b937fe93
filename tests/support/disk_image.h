/* tests/support/disk_image.h - the files of a folder in memory, and those of the folders in it. */
#ifndef IMREC_TESTS_DISK_IMAGE_H
#define IMREC_TESTS_DISK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DISK_FILES = 512, DISK_NAME = 96 };

struct disk_file {
    char name[DISK_NAME]; /* "b.rec", "plan", "plan/tasks" */
    uint8_t *p;
    size_t n;
    bool folder; /* which has no bytes */
};
/* The files and folders in a folder, by name. */
struct disk_image {
    struct disk_file files[DISK_FILES];
    int count;
};

struct disk_image *disk_image_read(const char *folder);
void disk_image_write(const struct disk_image *image, const char *folder); /* which is emptied */
void disk_image_free(struct disk_image *image);
uint64_t disk_image_hash(const struct disk_image *image);
const struct disk_file *disk_image_find(const struct disk_image *image, const char *name);
/* Whether both have the file with the same bytes, or the folder, or neither has it. */
bool disk_image_same(const struct disk_image *a, const struct disk_image *b, const char *name);
/* The first name that differs, or NULL. */
const char *disk_image_differs(const struct disk_image *a, const struct disk_image *b);
#endif
