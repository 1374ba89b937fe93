/* tools/imrec_export.c - shards back to a folder of pictures and a list of them. */
#include "tools/imrec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT_PARAMS(X)                                                                           \
    ROW_JSON(X)                                                                                    \
    ROW_QUIET(X)
struct export_options {
    EXPORT_PARAMS(IMREC_FIELD)
};
#define PARAM_STRUCT struct export_options
static const struct param table[] = {EXPORT_PARAMS(PARAM_ROW){0}};
static const char *const usage[] = {"[OPTIONS] SHARD FOLDER", NULL};

static const struct cli_page page = {
    .name = "imrec export",
    .summary = "write all pictures back to files, in a folder of their class",
    .usage = usage,
    .text = "FOLDER must be empty or not exist. A picture gets the name that the .lst beside the\n"
            "shard gives it, else CLASS/ID.EXT; its bytes are those that were packed. A list of\n"
            "all, export.lst, is written into FOLDER too: im2rec packs it again (with --masks\n"
            "FOLDER/masks, where records have masks: they are written there).",
    .table = table,
    .examples = "  imrec export train.rec photos-again/\n",
    .exits = IMREC_EXITS,
};

enum { PATH_BYTES = 4096 };

struct job {
    const char *folder;
    struct imrec_classes *classes;
    struct imrec_names *names;
    FILE *list;
    uint64_t images, masks, bytes, skipped;
    struct command_progress progress;
};

/* ---- names ------------------------------------------------------------------------------ */

/* A path that stays below the folder: relative, no empty part, no "." and no "..". */
static bool stays_below(const char *path)
{
    for (;;) {
        const size_t n = strcspn(path, "/");
        if (n == 0 || (n == 1 && path[0] == '.') || (n == 2 && memcmp(path, "..", 2) == 0))
            return false;
        if (path[n] == '\0')
            return true;
        path += n + 1;
    }
}

static const char *extension_of(const struct imrec_record *r)
{
    struct imrec_picture_info info;
    struct imrec_sound_info sound;
    if (imrec_picture_info(r->image, r->image_size, &info, NULL) != IMREC_OK)
        return imrec_sound_info(r->image, r->image_size, &sound, NULL) == IMREC_OK ? "wav" : "bin";
    if (info.gzip)
        return "jpg.gz";
    return strcmp(info.format, "jpeg") == 0 ? "jpg" : info.format;
}

/* Does the name end in a way that this kind of picture may? */
static bool fits(const char *name, const char *extension)
{
    const char *dot = strrchr(name, '.');
    if (dot == NULL || strchr(dot, '/') != NULL)
        return false;
    if (strncasecmp(extension, "jpg", 3) == 0)
        return strncasecmp(dot, ".jp", 3) == 0 || strcasecmp(dot, ".jfif") == 0;
    if (strcmp(extension, "tiff") == 0)
        return strncasecmp(dot, ".tif", 4) == 0;
    return strcasecmp(dot + 1, extension) == 0 || strcmp(extension, "bin") == 0;
}

/* The class's name as one part of a path, or the label's number. */
static void class_folder(const struct job *j, const struct imrec_record *r, char out[256])
{
    const float label = r->label_count > 0 ? r->labels[0] : 0;
    const char *name = imrec_classes_name(j->classes, label);
    if (name == NULL || strlen(name) > 200 || !stays_below(name)) {
        snprintf(out, 256, "%.9g", (double)label);
        return;
    }
    snprintf(out, 256, "%s", name);
    for (char *c = out; *c != '\0'; c++)
        *c = *c == '/' ? '_' : *c;
}

/* Path below the folder; `again` makes it another one when the name is taken. */
static void
name_picture(const struct job *j, const struct imrec_record *r, bool again, char out[PATH_BYTES])
{
    const char *listed = imrec_names_find(j->names, r->id), *extension = extension_of(r);
    char folder[256];
    class_folder(j, r, folder);
    if (listed == NULL || strlen(listed) > 3000 || !stays_below(listed))
        snprintf(out, PATH_BYTES, "%s/%" PRIu64 "%s.%s", folder, r->id, again ? "-again" : "",
                 extension);
    else if (again)
        snprintf(out, PATH_BYTES, "%s.%" PRIu64 ".%s", listed, r->id, extension);
    else
        snprintf(out, PATH_BYTES, "%s%s%s", listed, fits(listed, extension) ? "" : ".",
                 fits(listed, extension) ? "" : extension);
}

/* ---- files ------------------------------------------------------------------------------ */

static int say(const char *what, const char *path)
{
    fprintf(stderr, "%s: %s %s: %s\n", page.name, what, path, strerror(errno));
    return EXIT_FAILED;
}

/* Makes every folder of `path` behind the first `from` bytes. */
static bool make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        const ssize_t wrote = write(fd, p, n);
        if (wrote < 0 && errno != EINTR)
            return false;
        p += wrote > 0 ? wrote : 0;
        n -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* A new file below the folder under a free name; its path below the folder is in name[]. */
static int create(const struct job *j, const struct imrec_record *r, char name[PATH_BYTES])
{
    char path[2 * PATH_BYTES];
    int fd = -1;
    for (int again = 0; again < 2 && fd < 0; again++) {
        name_picture(j, r, again, name);
        const size_t folder = strlen(j->folder);
        snprintf(path, sizeof(path), "%s/%s", j->folder, name);
        if (!make_folders(path, folder + 1))
            break;
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        (void)say("cannot create", path);
    return fd;
}

static void list_picture(struct job *j, const struct imrec_record *r, const char *name)
{
    fprintf(j->list, "%" PRIu64, r->id);
    for (uint32_t i = 0; i < r->label_count; i++) {
        char text[64];
        snprintf(text, sizeof(text), "%f", (double)r->labels[i]);
        if (strtof(text, NULL) != r->labels[i]) /* more than six decimals */
            snprintf(text, sizeof(text), "%.9g", (double)r->labels[i]);
        fprintf(j->list, "\t%s", text);
    }
    fprintf(j->list, "\t%s\n", name);
}

/* Its path below the folder is in name[]. */
static int write_picture(struct job *j, const struct imrec_record *r, char name[PATH_BYTES])
{
    const int fd = create(j, r, name);
    if (fd < 0)
        return EXIT_FAILED;
    const bool wrote = write_all(fd, r->image, r->image_size);
    if (close(fd) != 0 || !wrote)
        return say("cannot write", name);
    list_picture(j, r, name);
    j->images++;
    j->bytes += r->image_size;
    return EXIT_OK;
}

/* masks/ and the picture's path with .png for its extension. */
static int write_mask(struct job *j, const struct imrec_record *r, const char *picture)
{
    char path[2 * PATH_BYTES];
    const char *slash = strrchr(picture, '/'), *dot = strrchr(picture, '.');
    const size_t stem = dot != NULL && (slash == NULL || dot > slash + 1) ? (size_t)(dot - picture)
                                                                          : strlen(picture);
    if (r->mask == NULL)
        return EXIT_OK;
    snprintf(path, sizeof(path), "%.4000s/masks/%.*s.png", j->folder, (int)stem, picture);
    if (!make_folders(path, strlen(j->folder) + 1))
        return say("cannot create", path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return say("cannot create", path);
    const bool wrote = write_all(fd, r->mask, r->mask_size);
    if (close(fd) != 0 || !wrote)
        return say("cannot write", path);
    j->masks++;
    j->bytes += r->mask_size;
    return EXIT_OK;
}

/* ---- the run ---------------------------------------------------------------------------- */

static void skip(struct job *j, const char *reason)
{
    fprintf(stderr, "%s: skipped: %s\n", page.name, reason);
    j->skipped++;
}

static int write_pictures(struct job *j, struct imrec_reader *reader)
{
    struct imrec_error err;
    struct imrec_record r;
    char name[PATH_BYTES];
    for (;;) {
        const enum imrec_status st = imrec_reader_next(reader, &r, &err);
        if (st == IMREC_END)
            return EXIT_OK;
        if (st == IMREC_OK && r.is_image) {
            if (write_picture(j, &r, name) != EXIT_OK || write_mask(j, &r, name) != EXIT_OK)
                return EXIT_FAILED;
        } else if (st == IMREC_OK) {
            snprintf(err.message, sizeof(err.message),
                     "%.300s: the record at %" PRIu64 " is no image", r.uri, r.offset);
            skip(j, err.message);
        } else if (st == IMREC_ERR_DATA) {
            skip(j, err.message);
        } else {
            return cli_fail(page.name, &err);
        }
        j->progress.counts = (struct progress_counts){
            .done = j->images + j->skipped, .skipped = j->skipped, .bytes = j->bytes};
        progress_update(&j->progress.line, &j->progress.counts, cli_now_ms());
    }
}

/* The folder, new or empty. */
static int open_folder(const char *folder)
{
    if (mkdir(folder, 0777) == 0)
        return EXIT_OK;
    DIR *d = errno == EEXIST ? opendir(folder) : NULL;
    if (d == NULL)
        return say("cannot create", folder);
    int entries = 0;
    while (entries <= 2 && readdir(d) != NULL)
        entries++; /* "." and ".." are two */
    closedir(d);
    if (entries <= 2)
        return EXIT_OK;
    fprintf(stderr, "%s: %s is not empty; nothing is overwritten\n", page.name, folder);
    return EXIT_FAILED;
}

static int export_to(struct job *j, struct imrec_reader *reader)
{
    char path[PATH_BYTES];
    if (open_folder(j->folder) != EXIT_OK)
        return EXIT_FAILED;
    snprintf(path, sizeof(path), "%s/export.lst", j->folder);
    j->list = fopen(path, "wx");
    if (j->list == NULL)
        return say("cannot create", path);
    const int status = write_pictures(j, reader);
    const bool bad = ferror(j->list) != 0;
    if (fclose(j->list) != 0 || bad)
        return say("cannot write", path);
    return status;
}

static void print(const struct job *j, bool as_json)
{
    struct json json;
    char images[HUMAN_BYTES], size[HUMAN_BYTES];
    if (!as_json) {
        printf("%s images, %s, in %s; %" PRIu64 " skipped\n", human_count(j->images, images),
               human_size(j->bytes, size), j->folder, j->skipped);
        return;
    }
    json_open(&json, stdout);
    json_object(&json, NULL);
    json_text(&json, "folder", j->folder);
    json_uint(&json, "images", j->images);
    json_uint(&json, "masks", j->masks);
    json_uint(&json, "bytes", j->bytes);
    json_uint(&json, "skipped", j->skipped);
    json_close(&json);
}

static int run(int argc, char **argv)
{
    struct export_options o;
    struct imrec_error err;
    struct imrec_reader *reader = NULL;
    struct job j = {0};
    int status;
    const int first = command_begin(&page, &o, argc, argv, 2, 2, &status);
    if (first < 0)
        return status;
    j.folder = argv[first + 1];
    if (imrec_reader_open(argv[first], 0, 1, &reader, &err) != IMREC_OK ||
        imrec_classes_open(argv[first], &j.classes, &err) != IMREC_OK ||
        imrec_names_open(argv[first], &j.names, &err) != IMREC_OK) {
        status = cli_fail(page.name, &err);
    } else {
        command_progress_start(&j.progress, o.quiet);
        status = export_to(&j, reader);
        command_progress_end(&j.progress);
    }
    if (status == EXIT_OK) {
        print(&j, o.json);
        status = j.skipped != 0 ? EXIT_PARTIAL : EXIT_OK;
    }
    imrec_names_close(j.names);
    imrec_classes_close(j.classes);
    imrec_reader_close(reader);
    return status;
}

const struct command command_export = {&page, run};
