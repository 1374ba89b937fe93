/* tools/commands/export_names.c - under which names images are written. */
#include "tools/commands/export_names.h"

#include "base/fnv.h"
#include "cli/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    LISTED_MOST = 3000,  /* bytes of a listed path that is taken */
    CLASS_MOST = 200,    /* of a class name that becomes a folder */
    EXTENSION_MOST = 16, /* of what counts as an extension, its dot included */
    MASK_EXTENSION = 4,  /* ".png" */
    HASH_BYTES = 1 + 16, /* '~' and 16 hexadecimal digits */
};

/* ---- what an image would be called ----------------------------------------------------- */

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
    struct imrec_image_info info;
    struct imrec_sound_info sound;
    if (imrec_image_info(r->image, r->image_size, &info, NULL) != IMREC_OK)
        return imrec_sound_info(r->image, r->image_size, &sound, NULL) == IMREC_OK ? "wav" : "bin";
    if (info.gzip)
        return "jpg.gz";
    return strcmp(info.format, "jpeg") == 0 ? "jpg" : info.format;
}

/* Does the name end in a way that this kind of image may? */
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
static void
class_folder(const struct export_names *x, const struct imrec_record *r, char out[CLASS_MOST + 56])
{
    const float label = r->label_count > 0 ? r->labels[0] : 0;
    const char *name = imrec_classes_name(x->classes, label);
    if (name == NULL || strlen(name) > CLASS_MOST || !stays_below(name)) {
        snprintf(out, CLASS_MOST + 56, "%.9g", (double)label);
        return;
    }
    snprintf(out, CLASS_MOST + 56, "%s", name);
    for (char *c = out; *c != '\0'; c++)
        *c = *c == '/' ? '_' : *c;
}

/* CLASS/ID.EXT, CLASS/ID-again.EXT, CLASS/ID-again-2.EXT, ... */
static void name_by_id(const struct export_names *x, const struct imrec_record *r, unsigned again,
                       char out[EXPORT_PATH_BYTES])
{
    char folder[CLASS_MOST + 56], number[24] = "";
    class_folder(x, r, folder);
    if (again > 1)
        snprintf(number, sizeof(number), "-%u", again);
    snprintf(out, EXPORT_PATH_BYTES, "%s/%" PRIu64 "%s%s.%s", folder, r->id,
             again != 0 ? "-again" : "", number, extension_of(r));
}

/* The listed path, with an extension that fits, or with the id before it. */
static void name_listed(const char *listed, const struct imrec_record *r, bool again,
                        char out[EXPORT_PATH_BYTES])
{
    const char *extension = extension_of(r);
    if (again)
        snprintf(out, EXPORT_PATH_BYTES, "%s.%" PRIu64 ".%s", listed, r->id, extension);
    else if (fits(listed, extension))
        snprintf(out, EXPORT_PATH_BYTES, "%s", listed);
    else
        snprintf(out, EXPORT_PATH_BYTES, "%s.%s", listed, extension);
}

/* ---- parts that are too long ------------------------------------------------------------ */

/* Bytes of the part's extension, its dot included; 0: it has none. */
static size_t extension_bytes(const char *part, size_t n)
{
    for (size_t k = 1; k < n && k <= EXTENSION_MOST; k++)
        if (part[n - k] == '.')
            return k;
    return 0;
}

/* Where the part may be cut: at most `most` bytes, no character in two. */
static size_t cut_at(const char *part, size_t most)
{
    while (most > 0 && ((unsigned char)part[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* Appends part[0..n) to out, shortened where it, or its mask's name, is too long. */
static size_t
put_part(const struct export_names *x, const char *part, size_t n, char *out, bool *shortened)
{
    const size_t extension = extension_bytes(part, n);
    if (n <= x->part_most && n - extension + MASK_EXTENSION <= x->part_most) {
        memcpy(out, part, n);
        return n;
    }
    const size_t behind = extension > MASK_EXTENSION ? extension : MASK_EXTENSION;
    const size_t kept = cut_at(part, x->part_most - HASH_BYTES - behind);
    memcpy(out, part, kept);
    (void)snprintf(out + kept, HASH_BYTES + 1, "~%016" PRIx64, fnv1a(FNV_START, part, n));
    memcpy(out + kept + HASH_BYTES, part + n - extension, extension);
    *shortened = true;
    return kept + HASH_BYTES + extension;
}

static void shorten(const struct export_names *x, char path[EXPORT_PATH_BYTES], bool *shortened)
{
    char out[EXPORT_PATH_BYTES]; /* no part grows */
    size_t to = 0;
    for (const char *part = path;;) {
        const size_t n = strcspn(part, "/");
        to += put_part(x, part, n, out + to, shortened);
        if (part[n] == '\0')
            break;
        out[to++] = '/';
        part += n + 1;
    }
    out[to] = '\0';
    memcpy(path, out, to + 1);
}

/* ---- names ------------------------------------------------------------------------------ */

bool export_name(const struct export_names *x, const struct imrec_record *r, unsigned again,
                 char out[EXPORT_PATH_BYTES], bool *shortened)
{
    const char *listed = imrec_names_find(x->names, r->id);
    const bool usable = listed != NULL && stays_below(listed);
    *shortened = usable && strlen(listed) > LISTED_MOST;
    if (usable && !*shortened && again < 2) {
        name_listed(listed, r, again != 0, out);
        shorten(x, out, shortened);
        if (strlen(out) <= x->path_most)
            return true;
        *shortened = true;
    }
    name_by_id(x, r, usable && !*shortened ? again - 2 : again, out);
    shorten(x, out, shortened);
    return strlen(out) <= x->path_most;
}

/* Bytes of the name before the dot of its extension. */
static size_t stem_bytes(const char *name)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    const bool has = dot != NULL && (slash == NULL || dot > slash + 1);
    return has ? (size_t)(dot - name) : strlen(name);
}

void export_mask_name(const char *name, char out[EXPORT_PATH_BYTES + 16])
{
    snprintf(out, EXPORT_PATH_BYTES + 16, "masks/%.*s.png", (int)stem_bytes(name), name);
}

bool export_field_name(const struct export_names *x, const char *name, const char *extension,
                       size_t n, char out[EXPORT_PATH_BYTES])
{
    const char *slash = strrchr(name, '/');
    const size_t folder = slash != NULL ? (size_t)(slash + 1 - name) : 0;
    const size_t stem = stem_bytes(name) - folder;
    char *part = cli_realloc(NULL, stem + 1 + n, 1);
    bool shortened = false;
    memcpy(part, name + folder, stem);
    part[stem] = '.';
    memcpy(part + stem + 1, extension, n);
    const bool fits_in = folder + x->part_most < EXPORT_PATH_BYTES;
    size_t bytes = folder;
    if (fits_in) {
        memcpy(out, name, folder);
        bytes += put_part(x, part, stem + 1 + n, out + folder, &shortened);
        out[bytes] = '\0';
    }
    cli_free(part);
    return fits_in && bytes <= x->path_most;
}
