/* formats/json_read.h - JSON as a tree of values. jansson makes the tree and sets the rules; no
 * other module includes it.
 *
 * The text is as hostile as any file: UTF-8 only, no key twice in an object, no NUL in a text,
 * whole numbers of 64 bits, at most 2048 levels, and at most the bytes that the caller allows. */
#ifndef IMREC_FORMATS_JSON_READ_H
#define IMREC_FORMATS_JSON_READ_H

#include "base/bytes.h"
#include "imrec/error.h"

struct json_value; /* of a tree; functions that take one also take NULL, which is empty */

struct json_input {
    const char *name; /* of the file or the text: messages begin with it */
    struct bytes text;
    size_t max_bytes;
    bool given; /* by the caller: an error is IMREC_ERR_ARGUMENT. Of a file it is
                 * IMREC_ERR_CORRUPT, with the offset, or IMREC_ERR_LIMIT where it is too long. */
};

/* The object or array that the whole text is; the message has line and column. */
IMREC_NODISCARD enum imrec_status
json_read(const struct json_input *in, struct json_value **out, struct imrec_error *err);
/* The value, of any kind, that begins at *at, of a text too large to be one tree; *at moves to its
 * end. max_bytes are of that value, the message has the byte where it begins. */
IMREC_NODISCARD enum imrec_status json_read_next(const struct json_input *in, size_t *at,
                                                 struct json_value **out, struct imrec_error *err);
void json_read_free(struct json_value *tree); /* the tree of either function, with all its values */

enum json_kind {
    JSON_KIND_NONE, /* of NULL */
    JSON_KIND_OBJECT,
    JSON_KIND_ARRAY,
    JSON_KIND_TEXT,
    JSON_KIND_NUMBER,
    JSON_KIND_BOOL,
    JSON_KIND_NULL,
};
enum json_kind json_read_kind(const struct json_value *v);

/* Members of an object or elements of an array; 0 of anything else. */
size_t json_read_count(const struct json_value *v);
/* NULL: there is none. */
const struct json_value *json_read_member(const struct json_value *object, const char *key);
const struct json_value *json_read_element(const struct json_value *array, size_t i);
/* Goes through the members of an object; *at is NULL at first. NULL: there are no more. */
const struct json_value *json_read_next_member(const struct json_value *object, void **at);

const char *json_read_text(const struct json_value *v); /* UTF-8; NULL: it is no text */
/* False, and *out is unchanged: it is of another kind, or of i64 not written as a whole number. */
bool json_read_i64(const struct json_value *v, int64_t *out);
bool json_read_number(const struct json_value *v, double *out);
bool json_read_bool(const struct json_value *v, bool *out);
#endif
