/* tests/support/disk_image.c */
#include "tests/support/disk_image.h"

#include "tests/support/tmpdir.h"

#include <sys/stat.h>

static void give_up(const char *why)
{
    fprintf(stderr, "disk_image: %s\n", why);
    _exit(99);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct disk_file *)a)->name, ((const struct disk_file *)b)->name);
}

static void read_file(const char *path, struct disk_file *out)
{
    const long n = tmp_size(path);
    FILE *f = fopen(path, "rb");
    out->n = (size_t)(n > 0 ? n : 0);
    out->p = malloc(out->n + 1);
    if (f == NULL || fread(out->p, 1, out->n, f) != out->n)
        give_up("a file that cannot be read");
    fclose(f);
}

static void read_folder(const char *folder, const char *below, struct disk_image *image);

static void read_entry(const char *folder, const char *name, struct disk_image *image)
{
    char path[1024];
    struct stat info;
    if (image->count == DISK_FILES || strlen(name) >= DISK_NAME)
        give_up("too many files, or a name that is too long");
    struct disk_file *f = &image->files[image->count++];
    memcpy(f->name, name, strlen(name) + 1);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f->folder = lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (f->folder)
        read_folder(folder, f->name, image);
    else
        read_file(path, f);
}

static void read_folder(const char *folder, const char *below, struct disk_image *image)
{
    char path[1024], name[DISK_NAME + 256];
    snprintf(path, sizeof(path), "%s/%s", folder, below);
    DIR *d = opendir(path);
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s%s%s", below, below[0] != '\0' ? "/" : "", e->d_name);
        read_entry(folder, name, image);
    }
    if (d == NULL)
        give_up("a folder that cannot be read");
    closedir(d);
}

struct disk_image *disk_image_read(const char *folder)
{
    struct disk_image *image = calloc(1, sizeof(*image));
    read_folder(folder, "", image);
    qsort(image->files, (size_t)image->count, sizeof(image->files[0]), by_name);
    return image;
}

/* "plan" is there before "plan/tasks". */
void disk_image_write(const struct disk_image *image, const char *folder)
{
    char path[1024];
    tmp_remove_all(folder);
    if (mkdir(folder, 0777) != 0)
        give_up("a folder that cannot be made");
    for (int i = 0; i < image->count; i++) {
        const struct disk_file *f = &image->files[i];
        snprintf(path, sizeof(path), "%s/%s", folder, f->name);
        if (f->folder && mkdir(path, 0777) == 0)
            continue;
        FILE *to = fopen(path, "wb");
        if (to == NULL || fwrite(f->p, 1, f->n, to) != f->n || fclose(to) != 0)
            give_up("a file that cannot be written");
    }
}

void disk_image_free(struct disk_image *image)
{
    for (int i = 0; i < image->count; i++)
        free(image->files[i].p);
    free(image);
}

static uint64_t mixed(uint64_t h, const void *p, size_t n)
{
    const uint8_t *at = p;
    for (; n >= 8; n -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    for (; n > 0; n--)
        h = (h ^ *at++) * 0x100000001b3u;
    return h;
}

uint64_t disk_image_hash(const struct disk_image *image)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < image->count; i++) {
        const struct disk_file *f = &image->files[i];
        h = mixed(h, f->name, strlen(f->name) + 1);
        h = mixed(h, &f->n, sizeof(f->n));
        h = f->folder ? ~h : mixed(h, f->p, f->n);
    }
    return h;
}

const struct disk_file *disk_image_find(const struct disk_image *image, const char *name)
{
    for (int i = 0; i < image->count; i++)
        if (strcmp(image->files[i].name, name) == 0)
            return &image->files[i];
    return NULL;
}

bool disk_image_same(const struct disk_image *a, const struct disk_image *b, const char *name)
{
    const struct disk_file *x = disk_image_find(a, name), *y = disk_image_find(b, name);
    if (x == NULL || y == NULL)
        return x == y;
    return x->folder == y->folder && x->n == y->n && (x->n == 0 || memcmp(x->p, y->p, x->n) == 0);
}

const char *disk_image_differs(const struct disk_image *a, const struct disk_image *b)
{
    for (int i = 0; i < a->count; i++)
        if (!disk_image_same(a, b, a->files[i].name))
            return a->files[i].name;
    for (int i = 0; i < b->count; i++)
        if (!disk_image_same(a, b, b->files[i].name))
            return b->files[i].name;
    return NULL;
}
