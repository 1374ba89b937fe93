/* tests/support/http_proxy/head.h - the head of an HTTP message, taken apart and changed. */
#ifndef IMREC_TESTS_HTTP_PROXY_HEAD_H
#define IMREC_TESTS_HTTP_PROXY_HEAD_H

#include "tests/support/http_proxy/fifo.h"

#include <stdbool.h>

struct field {
    char *name, *value;
};
struct head {
    char *start[3]; /* method, target, version; or version, status, reason */
    struct field *fields;
    size_t count, room;
};

/* Bytes up to and with the blank line at the front of f; 0: it has not come yet. */
size_t head_size(const struct fifo *f);
bool head_parse(struct head *h, const char *p, size_t n); /* false: not HTTP; h is to be freed */
void head_start(struct head *h, const char *a, const char *b, const char *c);
void head_write(const struct head *h, struct fifo *out);
void head_free(struct head *h);

const char *head_get(const struct head *h, const char *name); /* NULL: it has none */
bool head_has_word(const struct head *h, const char *name, const char *word);
void head_add(struct head *h, const char *name, const char *value);
void head_set(struct head *h, const char *name, const char *value); /* replaces all of the name */
void head_remove(struct head *h, const char *name);
bool head_keeps_alive(const struct head *h, const char *version);
#endif
