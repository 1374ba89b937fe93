/*
 * examples/source/ppm.c - a source in a shared library: many images in one file, one PPM after the
 * other, as Netpbm keeps them. A line "# label 3" in an image's head is its label.
 *
 *     cat cats/a.ppm cats/b.ppm dogs/a.ppm > all.ppm
 *     imrec batches --count 10 --out batches all.ppm source=./libppm.so:ppm shuffle=1
 */
#include <imrec/source.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEAD = 512 };

struct head {
    uint32_t width, height;
    float label;
    size_t bytes; /* of the head; pixels follow */
};

static enum imrec_status bad(struct imrec_error *err, uint64_t offset, const char *why)
{
    snprintf(err->message, sizeof(err->message), "the PPM at byte %llu %s",
             (unsigned long long)offset, why);
    return IMREC_ERR_CORRUPT;
}

/* Skips blanks and comments before a number. */
static const char *skip(const char *p, struct head *h)
{
    for (;;) {
        p += strspn(p, " \t\r\n");
        if (*p != '#')
            return p;
        (void)sscanf(p, "# label %f", &h->label);
        p += strcspn(p, "\n");
    }
}

/* `text` ends with a NUL. */
static enum imrec_status
read_head(const char *text, uint64_t offset, struct head *h, struct imrec_error *err)
{
    unsigned long number[3]; /* width, height, largest value */
    const char *p = text + 2;
    *h = (struct head){.label = 0};
    if (strncmp(text, "P6", 2) != 0)
        return bad(err, offset, "does not begin with P6");
    for (int i = 0; i < 3; i++) {
        char *end;
        p = skip(p, h);
        number[i] = strtoul(p, &end, 10);
        if (end == p || *p == '-' || number[i] == 0 || number[i] > 65535)
            return bad(err, offset, "has no valid head of up to 512 bytes");
        p = end;
    }
    if (number[2] != 255 || strchr(" \t\r\n", *p) == NULL || *p == '\0')
        return bad(err, offset, "has a largest value other than 255");
    h->width = (uint32_t)number[0];
    h->height = (uint32_t)number[1];
    h->bytes = (size_t)(p + 1 - text);
    return IMREC_OK;
}

static enum imrec_status list(struct imrec_source_file *file, struct imrec_error *err)
{
    uint64_t at = 0;
    for (uint64_t id = 0; at < file->size; id++) {
        char text[MOST_HEAD + 1] = "";
        struct head h;
        const uint64_t left = file->size - at;
        enum imrec_status st =
            file->read(file, at, text, left < MOST_HEAD ? (size_t)left : MOST_HEAD, err);
        if (st == IMREC_OK)
            st = read_head(text, at, &h, err);
        const uint64_t bytes = st == IMREC_OK ? h.bytes + (uint64_t)3 * h.width * h.height : 0;
        if (st == IMREC_OK)
            st = file->add(file, at, bytes, id, err); /* refuses records beyond the file's end */
        if (st != IMREC_OK)
            return st;
        at += bytes;
    }
    return IMREC_OK;
}

/* Reads the head again, because the file may have changed since it was listed. */
static enum imrec_status parse(const struct imrec_source_call *call,
                               struct imrec_source_sample *out, struct imrec_error *err)
{
    char text[MOST_HEAD + 1] = "";
    struct head h;
    memcpy(text, call->bytes, call->n < MOST_HEAD ? call->n : MOST_HEAD);
    const enum imrec_status st = read_head(text, call->offset, &h, err);
    if (st != IMREC_OK)
        return st;
    if (call->n != h.bytes + (uint64_t)3 * h.width * h.height)
        return bad(err, call->offset, "has another size than when it was listed");
    if (call->label_room > 0)
        call->labels[0] = h.label;
    out->label_count = 1;
    out->image = (struct imrec_image){.pixels = (uint8_t *)(uintptr_t)call->bytes + h.bytes,
                                      .stride = (size_t)3 * h.width,
                                      .width = h.width,
                                      .height = h.height,
                                      .channels = 3};
    return IMREC_OK;
}

IMREC_SOURCE(ppm, ".ppm", list, parse, NULL);
