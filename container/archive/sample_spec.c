/* container/archive/sample_spec.c */
#include "container/archive/sample_spec.h"

#include "base/error.h"

#include <string.h>
#include <strings.h>

#define USUAL_LABEL "cls"

/* Not those of formats/image_names.h: which of them there are depends on what the library was built
 * with, and what a sample's image is must not. */
static const char *const usual_images[] = {"jpg", "jpeg", "png", "webp",
                                           "gif", "bmp",  "tif", "tiff"};

static enum imrec_status
copy(const char *name, const char *from, char to[256], struct imrec_error *err)
{
    const size_t n = from != NULL ? strlen(from) : 0;
    if (n >= 256)
        return IMREC_REFUSE(err, "%s has %zu bytes, it may have 255", name, n);
    memcpy(to, n != 0 ? from : "", n + 1);
    return IMREC_OK;
}

static enum imrec_status take_images(struct sample_spec *s, struct imrec_error *err)
{
    char *at = s->text[0];
    while (*at != '\0') {
        char *end = at + strcspn(at, ",");
        const bool more = *end != '\0';
        *end = '\0';
        at += at[0] == '.';
        if (*at == '\0' || s->image_count == SAMPLE_SPEC_IMAGES)
            return IMREC_REFUSE(err, "image= is a list of 1 to %u extensions, as jpg,png: one %s",
                                SAMPLE_SPEC_IMAGES, *at == '\0' ? "is empty" : "more is too many");
        s->image[s->image_count++] = at;
        at = end + more;
    }
    return IMREC_OK;
}

static enum imrec_status take_label(struct sample_spec *s, struct imrec_error *err)
{
    char *text = s->text[1], *colon = strchr(text, ':');
    text += text[0] == '.';
    if (strcmp(text, "none") == 0)
        return IMREC_OK;
    s->label = text[0] != '\0' ? text : USUAL_LABEL;
    if (colon == NULL)
        return IMREC_OK;
    *colon = '\0';
    s->json = colon + 1;
    if (text[0] == '\0' || s->json[0] == '\0')
        return IMREC_REFUSE(err, "label= is EXTENSION, or EXTENSION:path.in.json, as "
                                 "json:object.class: one side of the colon is empty");
    return IMREC_OK;
}

enum imrec_status sample_spec_parse(const char *image, const char *label, const char *mask,
                                    struct sample_spec *out, struct imrec_error *err)
{
    *out = (struct sample_spec){.image_count = 0};
    IMREC_TRY(copy("image=", image, out->text[0], err));
    IMREC_TRY(copy("label=", label, out->text[1], err));
    IMREC_TRY(copy("mask=", mask, out->text[2], err));
    const char *const named = out->text[2] + (out->text[2][0] == '.');
    out->mask = named[0] != '\0' ? named : NULL;
    IMREC_TRY(take_images(out, err));
    return take_label(out, err);
}

static bool is(struct bytes extension, const char *word)
{
    return strlen(word) == extension.n &&
           strncasecmp(word, (const char *)extension.p, extension.n) == 0;
}

/* The text after the last dot. */
static struct bytes last_of(struct bytes extension)
{
    size_t n = extension.n;
    while (n != 0 && extension.p[n - 1] != '.')
        n--;
    return (struct bytes){extension.p + n, extension.n - n};
}

/* Never an image that nobody has named, even where mask= names another file. */
static bool is_usual_mask(struct bytes extension)
{
    return is(extension, "mask.png") || is(extension, "mask");
}

uint32_t sample_spec_rank(const struct sample_spec *s, struct bytes extension)
{
    for (uint32_t i = 0; i < s->image_count; i++)
        if (is(extension, s->image[i]))
            return i;
    if (sample_spec_is_mask(s, extension) || is_usual_mask(extension))
        return SAMPLE_NO_IMAGE;
    for (size_t i = 0; s->image_count == 0 && i < sizeof(usual_images) / sizeof(*usual_images); i++)
        if (is(last_of(extension), usual_images[i]))
            return 0;
    return SAMPLE_NO_IMAGE;
}

bool sample_spec_is_label(const struct sample_spec *s, struct bytes extension)
{
    return s->label != NULL && is(extension, s->label);
}

bool sample_spec_is_mask(const struct sample_spec *s, struct bytes extension)
{
    return s->mask != NULL ? is(extension, s->mask) : is_usual_mask(extension);
}
