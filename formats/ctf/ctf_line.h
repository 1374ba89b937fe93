/* formats/ctf/ctf_line.h - what a line of a text is made of: names, samples, comments. */
#ifndef IMREC_FORMATS_CTF_CTF_LINE_H
#define IMREC_FORMATS_CTF_CTF_LINE_H

#include "formats/text.h"

#include <string.h>

/* Another byte must come. */
static inline const uint8_t *ctf_behind_blanks(const uint8_t *p)
{
    while (text_is_blank(*p))
        p++;
    return p;
}

/* The first blank or pipe at or after p, or `end`. */
static inline const uint8_t *ctf_behind_name(const uint8_t *p, const uint8_t *end)
{
    while (p < end && !text_is_blank(*p) && *p != '|')
        p++;
    return p;
}

/* The first pipe at or after p, or `end`. */
static inline const uint8_t *ctf_next_pipe(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *pipe = p < end ? memchr(p, '|', (size_t)(end - p)) : NULL;
    return pipe != NULL ? pipe : end;
}

/* What follows the comment whose pipe is at p: a pipe that no '#' follows, or `end`. */
static inline const uint8_t *ctf_behind_comment(const uint8_t *p, const uint8_t *end)
{
    do
        p = ctf_next_pipe(p + 2, end);
    while (p + 1 < end && p[1] == '#');
    return p;
}
#endif
