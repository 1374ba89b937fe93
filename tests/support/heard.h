/* tests/support/heard.h - what the library has said. */
#ifndef IMREC_TESTS_HEARD_H
#define IMREC_TESTS_HEARD_H

#include "imrec/error.h"

#include <stdio.h>
#include <string.h>

enum { HEARD_LINES = 400 };

static struct {
    char line[HEARD_LINES][512];
    uint32_t n; /* of all */
} heard;

static inline void heard_line(void *user, enum imrec_log_level level, const char *line)
{
    (void)user;
    (void)level;
    if (heard.n < HEARD_LINES)
        snprintf(heard.line[heard.n], sizeof(heard.line[0]), "%s", line);
    heard.n++;
}

/* Warnings alone, from here on. */
static inline void heard_begin(void)
{
    memset(&heard, 0, sizeof(heard));
    imrec_set_log(heard_line, NULL, IMREC_LOG_WARNING);
}

static inline void heard_end(void)
{
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
}

/* Lines with these words. */
static inline uint32_t heard_count(const char *words)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < heard.n && i < HEARD_LINES; i++)
        n += strstr(heard.line[i], words) != NULL;
    return n;
}
#endif
