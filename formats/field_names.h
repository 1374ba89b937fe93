/* formats/field_names.h - the names of fields that are asked for: "txt,json?". */
#ifndef IMREC_FORMATS_FIELD_NAMES_H
#define IMREC_FORMATS_FIELD_NAMES_H

#include "imrec/error.h"

#include <stdbool.h>
#include <stdint.h>

#define FIELD_NAMES_MOST 64u

struct field_names {
    char *text; /* cut into: */
    const char *name[FIELD_NAMES_MOST];
    bool optional[FIELD_NAMES_MOST]; /* it ended in ? */
    uint32_t count;                  /* 0: none is asked for */
};

/* "" has none; `option` is what errors call it. An empty name, one that comes twice and more than
 * FIELD_NAMES_MOST are IMREC_ERR_ARGUMENT; free *out then, too. */
IMREC_NODISCARD enum imrec_status field_names_parse(const char *option, const char *text,
                                                    struct field_names *out,
                                                    struct imrec_error *err);
void field_names_free(struct field_names *f); /* zeroed memory is fine */
#endif
