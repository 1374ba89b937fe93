/* tests/support/http_proxy/conditions.h - ranges, and conditions on ETags. */
#ifndef IMREC_TESTS_HTTP_PROXY_CONDITIONS_H
#define IMREC_TESTS_HTTP_PROXY_CONDITIONS_H

#include "tests/support/http_proxy/head.h"

#include <stdint.h>

enum range { RANGE_NONE, RANGE_GOOD, RANGE_BAD };

/* Of an object of `size` bytes. RANGE_NONE: the whole of it, as for several ranges and what is no
 * range. */
enum range range_read(const char *text, uint64_t size, uint64_t *first, uint64_t *count);
/* The status that ends the request (412, 304), or 0. tag NULL: there is no such object. */
int conditions_check(const struct head *request, const char *tag);
/* If-Range, where there is one, names the tag or the date. */
bool conditions_allow_range(const struct head *request, const char *tag, const char *modified);
#endif
