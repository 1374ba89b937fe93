/* formats/field_names.c */
#include "formats/field_names.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

static enum imrec_status
add(struct field_names *f, const char *option, char *name, struct imrec_error *err)
{
    const size_t n = strlen(name);
    if (f->count == FIELD_NAMES_MOST)
        return IMREC_REFUSE(err, "%s names more than %u fields", option, FIELD_NAMES_MOST);
    f->optional[f->count] = n != 0 && name[n - 1] == '?';
    if (f->optional[f->count])
        name[n - 1] = '\0';
    if (name[0] == '\0')
        return IMREC_REFUSE(err, "%s is a list of names, as txt,json?: one is empty", option);
    for (uint32_t i = 0; i < f->count; i++)
        if (strcmp(f->name[i], name) == 0)
            return IMREC_REFUSE(err, "%s names '%.100s' twice", option, name);
    f->name[f->count++] = name;
    return IMREC_OK;
}

enum imrec_status field_names_parse(const char *option, const char *text, struct field_names *out,
                                    struct imrec_error *err)
{
    *out = (struct field_names){.count = 0};
    if (text[0] == '\0')
        return IMREC_OK;
    out->text = imrec_joined(text, strlen(text), "");
    if (out->text == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the names of fields");
    for (char *at = out->text; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma = '\0';
        IMREC_TRY(add(out, option, at, err));
        at = comma != NULL ? comma + 1 : NULL;
    }
    return IMREC_OK;
}

void field_names_free(struct field_names *f)
{
    imrec_free(f->text);
    *f = (struct field_names){.count = 0};
}
