/* tests/support/http_proxy/rules.h - which requests go wrong, and how. */
#ifndef IMREC_TESTS_HTTP_PROXY_RULES_H
#define IMREC_TESTS_HTTP_PROXY_RULES_H

#include "tests/support/http_proxy/fifo.h"

#include <stdbool.h>
#include <stdint.h>

enum { HEADERS = 8 };

/* What is done to one exchange. Numbers are -1 and texts NULL where nothing is asked for; texts
 * live as long as the program. */
struct actions {
    bool reset, hang_head, garbage, redirect_loop; /* instead of an answer */
    int64_t status, retry_after;
    const char *redirect;
    bool ignore_range, no_content_range, changed, close, chunked; /* a changed answer */
    const char *wrong_range;                                      /* "", "start" or "total" */
    int64_t corrupt;                                              /* byte, or CORRUPT_MIDDLE */
    int64_t huge_header;                                          /* bytes */
    const char *header[HEADERS];                                  /* "Name:Value" */
    int64_t reset_after, short_after, stall_ms, slow, delay_ms;   /* on its way */
};
enum { NOT_ASKED = -1, STALL_FOR_EVER = -2, CORRUPT_MIDDLE = -2 };

struct rule;
struct rules {
    struct rule *first;
    struct rule *replaced; /* kept: answers under way name their texts */
};

/* Adds a rule; its text is of words, key=value, with "..." around blanks. NULL, or what is wrong.
 */
const char *rules_add(struct rules *r, const char *text);
/* A rule in each line that is not empty: they replace all, or none where one is wrong. */
const char *rules_replace(struct rules *r, const char *lines);
struct actions rules_pick(struct rules *r, const char *method, const char *target);
void rules_report(const struct rules *r, struct fifo *json);
void rules_reset(struct rules *r); /* counts as if no request had come */
void rules_free(struct rules *r);
void json_text(struct fifo *json, const char *text); /* with its quotes */
#endif
