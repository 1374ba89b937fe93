/* storage/wire/answer_head.c - the lines of an answer's head. */
#include "storage/wire/answer_head.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void text_of(const char *value, size_t n, char *to, size_t room)
{
    if (n < room) { /* one that is too long is no header of ours */
        memcpy(to, value, n);
        to[n] = '\0';
    }
}

static void range_of(const char *value, size_t n, struct wire_range *out)
{
    char text[96] = "", end;
    uint64_t first, last;
    text_of(value, n, text, sizeof(text));
    *out = (struct wire_range){.total = UINT64_MAX};
    if (sscanf(text, "bytes %" SCNu64 "-%" SCNu64 "/%" SCNu64 "%c", &first, &last, &out->total,
               &end) == 3 ||
        sscanf(text, "bytes %" SCNu64 "-%" SCNu64 "/*%c", &first, &last, &end) == 2) {
        out->given = first <= last && last < UINT64_MAX;
        out->begin = first;
        out->end = last + 1;
    } else {
        out->given = sscanf(text, "bytes */%" SCNu64 "%c", &out->total, &end) == 1;
    }
}

static bool is_name(const char *line, size_t n, const char *name)
{
    return n == strlen(name) && strncasecmp(line, name, n) == 0;
}

static void status_line(struct wire_job *job, const char *line, size_t n)
{
    const char *space = memchr(line, ' ', n);
    char number[4] = "";
    if (space != NULL)
        memcpy(number, space + 1,
               (size_t)(line + n - space - 1) < 3 ? (size_t)(line + n - space - 1) : 3);
    job->status = atoi(number);
    job->range = (struct wire_range){0};
    job->length = UINT64_MAX;
    job->etag[0] = job->modified[0] = job->encoding[0] = '\0';
    job->location[0] = job->region[0] = job->said[0] = '\0';
    job->retry_after = 0;
}

static void header(struct wire_job *job, const char *name, size_t n, const char *v, size_t bytes)
{
    char number[24] = "";
    if (is_name(name, n, "etag"))
        text_of(v, bytes, job->etag, sizeof(job->etag));
    else if (is_name(name, n, "last-modified"))
        text_of(v, bytes, job->modified, sizeof(job->modified));
    else if (is_name(name, n, "content-range"))
        range_of(v, bytes, &job->range);
    else if (is_name(name, n, "content-encoding"))
        text_of(v, bytes, job->encoding, sizeof(job->encoding));
    else if (is_name(name, n, "location"))
        text_of(v, bytes, job->location, sizeof(job->location));
    else if (is_name(name, n, "x-amz-bucket-region"))
        text_of(v, bytes, job->region, sizeof(job->region));
    else if (is_name(name, n, "content-length")) {
        text_of(v, bytes, number, sizeof(number));
        job->length =
            number[0] >= '0' && number[0] <= '9' ? strtoull(number, NULL, 10) : UINT64_MAX;
    }
}

bool wire_take_header(struct wire_job *job, const char *line, size_t n)
{
    while (n > 0 && strchr(" \t\r\n", line[n - 1]) != NULL)
        n--;
    if (n >= 5 && strncasecmp(line, "HTTP/", 5) == 0) {
        status_line(job, line, n);
        return true;
    }
    const char *colon = n != 0 ? memchr(line, ':', n) : NULL;
    if (colon == NULL)
        return false;
    const char *value = colon + 1;
    while (value < line + n && (*value == ' ' || *value == '\t'))
        value++;
    header(job, line, (size_t)(colon - line), value, (size_t)(line + n - value));
    return false;
}
