/* storage/aws/aws_ini.c - the lines of AWS's credentials and config files. */
#include "storage/aws/aws_ini.h"

#include "base/error.h"

#include <inttypes.h>

void aws_ini_begin(struct aws_ini *ini, const char *file, struct bytes text)
{
    *ini = (struct aws_ini){.file = file};
    text_lines_begin(&ini->lines, text, 0, 0);
}

static bool is_comment(uint8_t c)
{
    return c == '#' || c == ';';
}

/* Without the blanks around it and without a comment after it. */
static struct bytes without_comment(struct bytes b)
{
    for (size_t i = 1; i < b.n; i++)
        if (is_comment(b.p[i]) && text_is_blank(b.p[i - 1]))
            b.n = i;
    b = text_trim(b);
    return b.n != 0 && is_comment(b.p[0]) ? (struct bytes){b.p, 0} : b;
}

/* An error with the line's number alone: its text may be half a secret. */
static enum imrec_status
refuse(const struct aws_ini *ini, const char *instead, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_CORRUPT, ini->lines.offset, "%s line %" PRIu64 ": %s",
                          ini->file, ini->lines.number, instead);
}

static enum imrec_status take_section(struct aws_ini *ini, struct bytes line,
                                      struct aws_ini_value *out, struct imrec_error *err)
{
    const uint8_t *end = memchr(line.p, ']', line.n);
    if (end == NULL)
        return refuse(ini, "a section's name must end with ']'", err);
    const struct bytes rest = {end + 1, line.n - (size_t)(end + 1 - line.p)};
    if (without_comment(rest).n != 0)
        return refuse(ini, "nothing but a comment may follow a section's name", err);
    ini->section = text_trim((struct bytes){line.p + 1, (size_t)(end - line.p) - 1});
    ini->parent = (struct bytes){NULL, 0};
    ini->in_section = true;
    *out = (struct aws_ini_value){.section = ini->section, .line = ini->lines.number};
    return IMREC_OK;
}

/* False: it continues the value before it. */
static bool take_value(struct aws_ini *ini, struct bytes line, struct aws_ini_value *out)
{
    const bool nested = text_is_blank(line.p[0]);
    const uint8_t *equal = memchr(line.p, '=', line.n);
    if (equal == NULL)
        return false;
    const size_t n = (size_t)(equal - line.p);
    *out = (struct aws_ini_value){
        .section = ini->section,
        .parent = nested ? ini->parent : (struct bytes){NULL, 0},
        .name = text_trim((struct bytes){line.p, n}),
        .value = without_comment((struct bytes){line.p + n + 1, line.n - n - 1}),
        .line = ini->lines.number};
    if (!nested)
        ini->parent = out->name;
    return true;
}

enum imrec_status
aws_ini_next(struct aws_ini *ini, struct aws_ini_value *out, struct imrec_error *err)
{
    struct bytes line;
    while (text_lines_next(&ini->lines, &line)) {
        const struct bytes words = text_trim(line);
        if (words.n == 0 || is_comment(words.p[0]))
            continue;
        if (line.p[0] == '[')
            return take_section(ini, line, out, err);
        if (!ini->in_section)
            return refuse(ini, "a [section] must come first", err);
        if (take_value(ini, line, out))
            return IMREC_OK;
        if (!text_is_blank(line.p[0]) || ini->parent.n == 0)
            return refuse(ini, "it must be [section] or name = value", err);
    }
    return IMREC_END;
}
