/* cli/json.h - writes one JSON value to a stream; the same bytes in every locale.
 *
 *     struct json j;
 *     json_begin(&j, stdout);          {
 *     json_uint(&j, "packed", 12);       "packed": 12,
 *     json_array(&j, "shards");          "shards": [
 *     json_text(&j, NULL, "a.rec");        "a.rec"
 *     json_end(&j);                      ]
 *     json_end(&j);                    }
 *     json_close(&j);                  newline
 *
 * `key` is NULL inside an array and for the outermost value. formats/json_write.h is the library's:
 * into a buffer, with errors, and with bytes that are no UTF-8 kept apart; programs write as they
 * go, and promise U+FFFD for such bytes (docs/guide/toolbox.md). */
#ifndef IMREC_CLI_JSON_H
#define IMREC_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 16 };

struct json {
    FILE *out;
    bool compact; /* all in one line */
    int depth;
    char closing[JSON_DEPTH];
    bool begun[JSON_DEPTH]; /* this level has a member */
};

void json_open(struct json *j, FILE *out);  /* a value, or what the calls after it begin */
void json_begin(struct json *j, FILE *out); /* an object */
void json_begin_line(struct json *j, FILE *out);
/* An object, and in it the array `list` (NULL: none), where it is wanted; NULL: it is not. */
struct json *json_begin_if(bool wanted, struct json *j, const char *list);
/* These three, and json_close(), do nothing where j is NULL. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j); /* of the innermost object or array */
/* Bytes that are no UTF-8 become U+FFFD; what base/shown.h makes visible is escaped. */
void json_text(struct json *j, const char *key, const char *text);
void json_uint(struct json *j, const char *key, uint64_t v);
struct json_number {
    const char *key;
    uint64_t v;
};
void json_uints(struct json *j, const struct json_number *numbers, size_t n);
/* JSON_UINTS(&j, {"kept", kept}, {"lost", lost}): a member each. */
#define JSON_UINTS(j, ...)                                                                         \
    json_uints(j, (const struct json_number[]){__VA_ARGS__},                                       \
               sizeof((const struct json_number[]){__VA_ARGS__}) / sizeof(struct json_number))
void json_int(struct json *j, const char *key, int64_t v);
void json_real(struct json *j, const char *key, double v);    /* the fewest digits; not finite:
                                                                 "NaN", "Infinity", "-Infinity" */
void json_rounded(struct json *j, const char *key, double v); /* to 6 digits: measurements */
struct json_measure {
    const char *key;
    double v;
};
void json_measures(struct json *j, const struct json_measure *measures, size_t n);
/* JSON_ROUNDED(&j, {"ratio", a / b}, {"seconds", s}): a member each. */
#define JSON_ROUNDED(j, ...)                                                                       \
    json_measures(j, (const struct json_measure[]){__VA_ARGS__},                                   \
                  sizeof((const struct json_measure[]){__VA_ARGS__}) /                             \
                      sizeof(struct json_measure))
void json_float(struct json *j, const char *key, float v);
void json_bool(struct json *j, const char *key, bool v);
void json_raw(struct json *j, const char *key, const char *json); /* a value that is JSON */
void json_close(struct json *j); /* ends what is open, and the line */
#endif
