/* storage/aws/aws_ini.h - the lines of AWS's credentials and config files. Pure; private to this
 * room.
 *
 *     [profile work]        # a section; its name is "profile work"
 *     region = eu-west-1
 *     s3 =
 *       addressing_style = path    a value within s3
 *
 * A '#' or ';' at the begin of a line or after a blank begins a comment. */
#ifndef IMREC_STORAGE_AWS_AWS_INI_H
#define IMREC_STORAGE_AWS_AWS_INI_H

#include "formats/text.h"
#include "imrec/error.h"

struct aws_ini {
    const char *file; /* messages begin with it */
    struct text_lines lines;
    struct bytes section, parent; /* where the last line was */
    bool in_section;
};
struct aws_ini_value {
    struct bytes section, parent; /* parent is empty for a value that is in none */
    struct bytes name, value; /* without blanks around, may be empty; p NULL: a section begins */
    uint64_t line;            /* from 1 */
};

void aws_ini_begin(struct aws_ini *ini, const char *file, struct bytes text);
/* The next value or section; what continues one on a line of its own, without '=', is passed over.
 * IMREC_END after the last. IMREC_ERR_CORRUPT, with the line's number and not its text. */
IMREC_NODISCARD enum imrec_status
aws_ini_next(struct aws_ini *ini, struct aws_ini_value *out, struct imrec_error *err);
#endif
