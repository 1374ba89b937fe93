/* tools/commands/export_fields.c */
#include "tools/commands/export_fields.h"

#include "cli/memory.h"
#include "cli/report.h"
#include "formats/field_file.h"
#include "tools/commands/command_fields.h"

#include <string.h>
#include <strings.h>

void export_fields_free(struct export_fields *x)
{
    cli_free(x->place);
    buf_free(&x->extension);
    buf_free(&x->text);
}

static void make_room(struct export_fields *x, uint64_t n)
{
    if (n <= x->room)
        return;
    x->place = cli_realloc(x->place, (size_t)n, sizeof(*x->place));
    x->room = n;
}

/* Whether the field's name is the extension that its image has. */
static bool is_extension_of(struct bytes name, const char *image)
{
    const char *dot = strrchr(image, '.');
    return dot != NULL && strlen(dot + 1) == name.n &&
           strncasecmp(dot + 1, (const char *)name.p, name.n) == 0;
}

static bool name_file(struct export_fields *x, const struct export_names *names,
                      const struct imrec_record *r, uint32_t i, const char *image)
{
    const struct bytes name = command_field_name(&r->fields[i]);
    return field_extension(&x->extension, name, is_extension_of(name, image),
                           field_repeats(r->fields, i), NULL) == IMREC_OK &&
           export_field_name(names, image, (const char *)x->extension.p, x->extension.n, x->path);
}

static enum imrec_status content_of(struct export_fields *x, const struct imrec_field *f,
                                    struct bytes *out, struct imrec_error *err)
{
    return field_content(&x->text, (enum field_type)(f->kind - IMREC_FIELD_BYTES),
                         (struct bytes){f->bytes, f->size}, out, err);
}

/* What cannot be made is said by export_fields_put(): its place does not matter. */
static enum export_place
look(struct export_fields *x, const struct export_files *files, const struct imrec_field *f)
{
    struct bytes content;
    return content_of(x, f, &content, NULL) == IMREC_OK
               ? export_files_look(files, x->path, content.p, content.n)
               : EXPORT_FREE;
}

bool export_fields_look(struct export_fields *x, const struct export_names *names,
                        const struct export_files *files, const struct imrec_record *r,
                        const char *image)
{
    make_room(x, r->field_count);
    for (uint32_t i = 0; i < r->field_count; i++) {
        if (command_is_mask(r, &r->fields[i]))
            continue;
        if (!name_file(x, names, r, i, image))
            return false;
        x->place[i] = look(x, files, &r->fields[i]);
        if (x->place[i] == EXPORT_TAKEN)
            return false;
    }
    return true;
}

static bool put(struct export_fields *x, struct export_files *files, const struct imrec_field *f,
                enum export_place place, uint64_t *bytes)
{
    struct imrec_error err;
    struct bytes content;
    if (content_of(x, f, &content, &err) != IMREC_OK) {
        (void)cli_fail(files->name, &err);
        return false;
    }
    *bytes += content.n;
    return export_files_put(files, x->path, place, content.p, content.n);
}

bool export_fields_put(struct export_fields *x, const struct export_names *names,
                       struct export_files *files, const struct imrec_record *r, const char *image,
                       uint64_t *count, uint64_t *bytes)
{
    for (uint32_t i = 0; i < r->field_count; i++) {
        if (command_is_mask(r, &r->fields[i]))
            continue;
        if (!name_file(x, names, r, i, image) || !put(x, files, &r->fields[i], x->place[i], bytes))
            return false;
        ++*count;
    }
    return true;
}
