/*
 * examples/ar_store.c ARCHIVE [URI] - a store of one's own: the files in an archive of ar(1),
 * mapped into memory, are the objects of ar://. Reads a sweep of the shards in it, or of URI.
 *
 *     im2rec photos/ train.rec && ar rc sets.a train.rec train.idx
 *     ar_store sets.a
 *     ar_store sets.a ar://train.rec
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <imrec/imrec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct archive {
    const uint8_t *p; /* must not be cut while it is mapped */
    uint64_t n;
};
struct member {
    char name[17];
    const uint8_t *p;
    uint64_t n;
};

static const char archive_magic[] = "!<arch>\n";
struct member_head { /* text, filled up with blanks */
    char name[16], date[12], user[6], group[6], mode[8], size[10], end[2];
};

static enum imrec_status
fail(struct imrec_error *err, enum imrec_status status, int code, const char *why)
{
    snprintf(err->message, sizeof(err->message), "%s", why); /* the library adds the URI */
    err->sys_errno = code;
    return status;
}

/* The member at *at, which moves on. IMREC_END: there are no more. */
static enum imrec_status
next_member(const struct archive *a, uint64_t *at, struct member *out, struct imrec_error *err)
{
    struct member_head head;
    char size[sizeof(head.size) + 1] = "";
    if (*at >= a->n)
        return IMREC_END;
    if (a->n - *at < sizeof(head))
        return fail(err, IMREC_ERR_CORRUPT, 0, "the archive ends in the head of a file");
    memcpy(&head, a->p + *at, sizeof(head));
    memcpy(size, head.size, sizeof(head.size));
    *at += sizeof(head);
    out->n = strtoull(size, NULL, 10);
    if (memcmp(head.end, "`\n", 2) != 0 || out->n > a->n - *at)
        return fail(err, IMREC_ERR_CORRUPT, 0, "the archive is damaged, or cut");
    memcpy(out->name, head.name, sizeof(head.name));
    out->name[16] = '\0';
    /* GNU's ar ends names with "/", and has its own tables in files whose names begin with it. */
    out->name[strcspn(out->name, out->name[0] == '/' ? " " : "/ ")] = '\0';
    out->p = a->p + *at;
    *at += out->n + out->n % 2;
    return IMREC_OK;
}

/* ---- the store: any thread calls these, several at once; they only read ------------------------
 */

static enum imrec_status open_member(void *user, const char *name, void **object, uint64_t *size,
                                     uint64_t *modified, struct imrec_error *err)
{
    struct member *m = malloc(sizeof(*m));
    uint64_t at = sizeof(archive_magic) - 1;
    enum imrec_status st =
        m != NULL ? IMREC_OK : fail(err, IMREC_ERR_NO_MEMORY, 0, "no memory for an open file");
    (void)modified; /* not known */
    while (st == IMREC_OK && (st = next_member(user, &at, m, err)) == IMREC_OK)
        if (strcmp(m->name, name) == 0)
            break;
    if (st == IMREC_OK) {
        *object = m;
        *size = m->n;
        return IMREC_OK;
    }
    free(m);
    return st == IMREC_END ? fail(err, IMREC_ERR_IO, ENOENT, "the archive has no such file") : st;
}

static enum imrec_status
read_member(void *user, void *object, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    const struct member *m = object;
    (void)user;
    (void)err;
    memcpy(to, m->p + offset, n); /* within the size: the library has checked it */
    return IMREC_OK;
}

static void close_member(void *user, void *object)
{
    (void)user;
    free(object);
}

static enum imrec_status list_members(void *user, const char *folder, imrec_store_entry_fn *entry,
                                      void *to, struct imrec_error *err)
{
    struct member m;
    uint64_t at = sizeof(archive_magic) - 1;
    enum imrec_status st;
    if (folder[0] != '\0')
        return fail(err, IMREC_ERR_IO, ENOENT, "an archive has no folders");
    while ((st = next_member(user, &at, &m, err)) == IMREC_OK)
        if (m.name[0] != '/' && (st = entry(to, m.name, false, err)) != IMREC_OK)
            break;
    return st == IMREC_END ? IMREC_OK : st;
}

static const struct imrec_store archive_store = {
    .struct_size = sizeof(archive_store), /* for reading: the rest is NULL */
    .open = open_member,
    .read_at = read_member,
    .close = close_member,
    .list = list_members,
};

/* ---- using it -----------------------------------------------------------------------------------
 */

static bool map_archive(const char *path, struct archive *a)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *p = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0)
        p = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (p == MAP_FAILED)
        return false;
    *a = (struct archive){p, (uint64_t)info.st_size};
    return a->n >= 8 && memcmp(p, archive_magic, 8) == 0;
}

static enum imrec_status read_sweep(const char *uri, struct imrec_error *err)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_batch b;
    unsigned long long samples = 0;
    double sum = 0;
    imrec_iter_options_init(&o);
    o.path_imgrec = uri;
    o.data_shape = (struct imrec_shape){.channels = 3, .height = 32, .width = 32};
    o.batch_size = 16;
    enum imrec_status st = imrec_iter_open(&o, &it, err);
    while (st == IMREC_OK && (st = imrec_iter_next(it, &b, err)) == IMREC_OK) {
        for (size_t i = 0; i < (size_t)b.count * 3 * 32 * 32; i++)
            sum += (double)((const float *)b.data)[i];
        samples += b.count;
    }
    imrec_iter_close(it);
    if (st == IMREC_END)
        printf("%llu samples, their pixels add up to %.0f\n", samples, sum);
    return st == IMREC_END ? IMREC_OK : st;
}

int main(int argc, char **argv)
{
    struct archive a;
    struct imrec_error err;
    if (argc < 2 || !map_archive(argv[1], &a)) {
        fprintf(stderr, "usage: ar_store ARCHIVE [URI], with an archive of ar(1)\n");
        return EXIT_FAILURE;
    }
    enum imrec_status st = imrec_store_register("ar", &archive_store, &a, &err);
    if (st == IMREC_OK)
        st = read_sweep(argc > 2 ? argv[2] : "ar://", &err);
    if (st == IMREC_OK)
        st = imrec_store_unregister("ar", &err); /* everything is closed, so it succeeds */
    if (st != IMREC_OK)
        fprintf(stderr, "ar_store: %s\n", err.message);
    munmap((void *)(uintptr_t)a.p, (size_t)a.n);
    return st == IMREC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
