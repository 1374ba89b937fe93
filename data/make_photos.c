/*
 * make_photos DIR [options] - renders images that weigh like photographs, in folders by class.
 *
 * Integers only and an encoder of its own: the same bytes on every machine. Images are
 * independent of each other; processes share them.
 */
#include "base/alloc.h"
#include "data/photo.h"
#include "data/scenes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "Usage: make_photos DIR [--count N] [--seed S] [--size full|small] [--part K/N] [--jobs N]\n"
    "Renders photo-like images into DIR/<class>/: by default 2048 of about 500 px.\n"
    "  --count N          how many\n"
    "  --seed S           another set of images\n"
    "  --size full|small  small: about 96 px, for tests\n"
    "  --part K/N         only images K, K + N, K + 2 N, ...; K from 0\n"
    "  --jobs N           processes; default: one a CPU\n";

struct options {
    const char *folder;
    long count, seed, part, parts, jobs;
    bool small;
};

static bool read_number(const char *text, long lo, long hi, long *out)
{
    char *end;
    errno = 0;
    const long v = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || v < lo || v > hi)
        return false;
    *out = v;
    return true;
}

static bool read_part(const char *text, struct options *o)
{
    char first[32];
    const char *slash = strchr(text, '/');
    if (slash == NULL || (size_t)(slash - text) >= sizeof(first))
        return false;
    memcpy(first, text, (size_t)(slash - text));
    first[slash - text] = '\0';
    return read_number(slash + 1, 1, 1 << 20, &o->parts) &&
           read_number(first, 0, o->parts - 1, &o->part);
}

static bool read_option(const char *name, const char *value, struct options *o)
{
    if (strcmp(name, "--count") == 0)
        return read_number(value, 1, 10000000, &o->count);
    if (strcmp(name, "--seed") == 0)
        return read_number(value, 0, 1000000000, &o->seed);
    if (strcmp(name, "--jobs") == 0)
        return read_number(value, 1, 1024, &o->jobs);
    if (strcmp(name, "--part") == 0)
        return read_part(value, o);
    if (strcmp(name, "--size") == 0 &&
        (strcmp(value, "small") == 0 || strcmp(value, "full") == 0)) {
        o->small = value[0] == 's';
        return true;
    }
    return false;
}

static bool read_arguments(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' && o->folder == NULL) {
            o->folder = argv[i];
        } else if (i + 1 >= argc || !read_option(argv[i], argv[i + 1], o)) {
            fprintf(stderr, "make_photos: '%s%s%s' is not understood\n%s", argv[i],
                    i + 1 < argc ? " " : "", i + 1 < argc ? argv[i + 1] : "", usage);
            return false;
        } else {
            i++;
        }
    }
    if (o->folder == NULL)
        fputs(usage, stderr);
    return o->folder != NULL;
}

static bool complain(const char *what, const char *path)
{
    fprintf(stderr, "make_photos: cannot %s '%s': %s\n", what, path, strerror(errno));
    return false;
}

static bool make_folders(const struct options *o)
{
    char path[4096];
    if (mkdir(o->folder, 0777) != 0 && errno != EEXIST)
        return complain("make the folder", o->folder);
    for (int i = 0; i < SCENES; i++) {
        snprintf(path, sizeof(path), "%s/%s", o->folder, scenes[i].name);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return complain("make the folder", path);
    }
    return true;
}

static bool write_file(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return complain("write", path);
    const bool whole = fwrite(bytes, 1, n, f) == n;
    return (fclose(f) == 0 && whole) || complain("write", path);
}

static bool make_photo(const struct options *o, int number)
{
    char path[4096];
    const struct photo p = photo_plan((uint64_t)o->seed, number, o->small);
    snprintf(path, sizeof(path), "%s/%s/%s_%05d.jpg", o->folder, scenes[p.scene].name,
             scenes[p.scene].name, number);
    size_t n = 0;
    uint8_t *rgb = photo_render(&p), *file = rgb != NULL ? photo_encode(&p, rgb, &n) : NULL;
    if (file == NULL)
        errno = ENOMEM;
    const bool done = file != NULL ? write_file(path, file, n) : complain("render", path);
    imrec_free(rgb);
    imrec_free(file);
    return done;
}

/* Every jobs-th image of the part. */
static bool make_share(const struct options *o, long job)
{
    for (long i = o->part + job * o->parts; i < o->count; i += o->parts * o->jobs)
        if (!make_photo(o, (int)i))
            return false;
    return true;
}

static bool make_all(const struct options *o)
{
    bool done = true;
    for (long job = 1; job < o->jobs; job++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(make_share(o, job) ? EXIT_SUCCESS : EXIT_FAILURE);
        if (child < 0) /* then this process does it as well */
            done = make_share(o, job) && done;
    }
    done = make_share(o, 0) && done;
    int status;
    while (wait(&status) > 0)
        done = done && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    return done;
}

int main(int argc, char **argv)
{
    struct options o = {.count = 2048, .parts = 1, .jobs = sysconf(_SC_NPROCESSORS_ONLN)};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return EXIT_SUCCESS;
    }
    if (!read_arguments(argc, argv, &o))
        return 2;
    return make_folders(&o) && make_all(&o) ? EXIT_SUCCESS : EXIT_FAILURE;
}
