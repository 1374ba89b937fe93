/* tools/commands/command_fields.h - fields of records, as they are named and shown. */
#ifndef IMREC_TOOLS_COMMANDS_COMMAND_FIELDS_H
#define IMREC_TOOLS_COMMANDS_COMMAND_FIELDS_H

#include "base/bytes.h"
#include "cli/json.h"
#include "imrec/imrec.h"

struct bytes command_field_name(const struct imrec_field *f);
/* Whether a field is the record's mask. */
bool command_is_mask(const struct imrec_record *r, const struct imrec_field *f);
/* The first field of that name; NULL: there is none. */
const struct imrec_field *command_find_field(const struct imrec_record *r, const char *name);

/* One column of ls: "txt=17,json=2", or "-". */
void command_print_fields(const struct imrec_record *r);
/* The array "fields" of a record's object. */
void command_json_fields(struct json *j, const struct imrec_record *r);
#endif
