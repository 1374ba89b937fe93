/* formats/json_write.h - JSON into a buffer, value by value.
 *
 *     struct json_writer w = {.out = &buf, .err = err};
 *     json_write_object(&w, NULL, JSON_SPACED);     {
 *     json_write_u64(&w, "records", 12);            "records": 12
 *     json_write_array(&w, "shards", JSON_TIGHT);   , "shards": [
 *     json_write_text(&w, NULL, "a.rec");           "a.rec"
 *     json_write_end(&w);                           ]
 *     json_write_end(&w);                           }
 *
 * `key` is NULL inside an array and for the outermost value. w.status is the first failure.
 * Programs that write to a stream as they go use cli/json.h. */
#ifndef IMREC_FORMATS_JSON_WRITE_H
#define IMREC_FORMATS_JSON_WRITE_H

#include "base/buf.h"

enum json_layout {
    JSON_TIGHT,  /* {"a":1,"b":2} */
    JSON_SPACED, /* {"a": 1, "b": 2} */
    JSON_LINES,  /* a line each, two blanks deeper than its parent */
};
enum { JSON_WRITE_DEPTH = 8 };

struct json_writer {
    struct buf *out;
    struct imrec_error *err;
    bool shown;               /* texts do nothing to a terminal: json_write_escaped() */
    enum imrec_status status; /* the first failure; nothing is written after it */
    int depth;
    struct json_nest {
        enum json_layout layout;
        char closing;
        bool begun; /* it has a member */
    } nest[JSON_WRITE_DEPTH];
};

void json_write_object(struct json_writer *w, const char *key, enum json_layout layout);
void json_write_array(struct json_writer *w, const char *key, enum json_layout layout);
void json_write_end(struct json_writer *w); /* of the innermost object or array */
void json_write_text(struct json_writer *w, const char *key, const char *text);
void json_write_bytes(struct json_writer *w, const char *key, struct bytes text);
void json_write_u64(struct json_writer *w, const char *key, uint64_t v);
void json_write_i64(struct json_writer *w, const char *key, int64_t v);
void json_write_bool(struct json_writer *w, const char *key, bool v);
void json_write_null(struct json_writer *w, const char *key);

/* Text as it is between quotes. Bytes that are not UTF-8 become \udc80..\udcff, as with Python's
 * surrogateescape: no name is lost. `shown`: what base/shown.h makes visible is escaped too; else
 * only what JSON requires. */
IMREC_NODISCARD enum imrec_status
json_write_escaped(struct buf *out, struct bytes text, bool shown, struct imrec_error *err);
#endif
