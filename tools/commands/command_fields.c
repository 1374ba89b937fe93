/* tools/commands/command_fields.c */
#include "tools/commands/command_fields.h"

#include "cli/memory.h"
#include "cli/show.h"

#include <stdio.h>
#include <string.h>

struct bytes command_field_name(const struct imrec_field *f)
{
    return (struct bytes){(const uint8_t *)f->name, f->name_bytes};
}

bool command_is_mask(const struct imrec_record *r, const struct imrec_field *f)
{
    return r->mask != NULL && f->bytes == r->mask && f->size == r->mask_size;
}

const struct imrec_field *command_find_field(const struct imrec_record *r, const char *name)
{
    const size_t n = strlen(name);
    for (uint32_t i = 0; i < r->field_count; i++)
        if (r->fields[i].name_bytes == n && memcmp(r->fields[i].name, name, n) == 0)
            return &r->fields[i];
    return NULL;
}

/* The name as text, cli_free() it: what ends a text, or a member of a list with commas, is %XX. */
static char *name_text(const struct imrec_field *f)
{
    char *text = cli_realloc(NULL, 3 * f->name_bytes + 1, 1), *to = text;
    for (size_t i = 0; i < f->name_bytes; i++) {
        const unsigned char c = (unsigned char)f->name[i];
        const bool plain = c != '\0' && c != '%' && c != ',' && c != '=';
        to += plain ? sprintf(to, "%c", c) : sprintf(to, "%%%02X", c);
    }
    *to = '\0';
    return text;
}

void command_print_fields(const struct imrec_record *r)
{
    for (uint32_t i = 0; i < r->field_count; i++) {
        char *name = name_text(&r->fields[i]);
        printf("%s%s=%zu", i != 0 ? "," : "", cli_show(name), r->fields[i].size);
        cli_free(name);
    }
    if (r->field_count == 0)
        putchar('-');
}

void command_json_fields(struct json *j, const struct imrec_record *r)
{
    static const char *const kinds[] = {[IMREC_FIELD_BYTES] = "bytes",
                                        [IMREC_FIELD_INT64] = "int64",
                                        [IMREC_FIELD_FLOAT32] = "float32"};
    json_array(j, "fields");
    for (uint32_t i = 0; i < r->field_count; i++) {
        char *name = name_text(&r->fields[i]);
        json_object(j, NULL);
        json_text(j, "name", name);
        json_text(j, "type", kinds[r->fields[i].kind]);
        json_uint(j, "bytes", r->fields[i].size);
        json_end(j);
        cli_free(name);
    }
    json_end(j);
}
