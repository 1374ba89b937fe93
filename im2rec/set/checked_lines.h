/* im2rec/set/checked_lines.h - lines of text that each begin with a check of what follows: the
 * journal of a run, the report of a task.
 *
 *     CHECK <blank> HEAD [<tab> REST] LF
 *
 * CHECK is eight hexadecimal digits: both halves of FNV-1a 64 of all that follows it in the line,
 * one XORed with the other. HEAD begins with a letter that says what the line is. */
#ifndef IMREC_IM2REC_SET_CHECKED_LINES_H
#define IMREC_IM2REC_SET_CHECKED_LINES_H

#include "base/buf.h"
#include "im2rec/item/tally.h"
#include "storage/source.h"

#define CHECKED_HEAD_BYTES 384 /* of a line's head, with a NUL */
#define CHECKED_LINES_MAX  ((size_t)1 << 30)

/* Appends a line; rest.n == 0: without a tab. */
IMREC_NODISCARD enum imrec_status
checked_line_put(struct buf *out, const char *head, struct bytes rest, struct imrec_error *err);
/* "letter number number ...", of n 64-bit numbers. */
IMREC_NODISCARD enum imrec_status checked_numbers_put(struct buf *out, char letter,
                                                      const void *numbers, size_t n,
                                                      struct imrec_error *err);
/* "p INDEX WIDTH HEIGHT WARNINGS CLASS FILE_BYTES KIND" or "s INDEX REASON" */
void checked_outcome_head(const struct outcome *o, char head[CHECKED_HEAD_BYTES]);

/* A line without its end: *out is what follows the check. False: the check is wrong. */
bool checked_line_read(struct bytes line, struct bytes *out);

/* Reads lines, one after the other. */
struct checked_lines { /* zeroed, but for the source, which is the caller's */
    struct source *source;
    struct buf held; /* not yet given out */
    uint64_t at;     /* of held.p[0] in the file */
    size_t given;
};
/* The next line that is complete and whose check is right, without it; IMREC_END: there is none. */
IMREC_NODISCARD enum imrec_status
checked_lines_next(struct checked_lines *l, struct bytes *out, struct imrec_error *err);
/* Where the next line begins. */
uint64_t checked_lines_offset(const struct checked_lines *l);
void checked_lines_rewind(struct checked_lines *l);
void checked_lines_free(struct checked_lines *l); /* not its source */

/* Cuts the rest off and gives the head as text. false: too long for any of ours. */
bool checked_head_of(struct bytes line, char head[CHECKED_HEAD_BYTES], struct bytes *rest);
/* The reverse of checked_numbers_put(): exactly n of them. */
bool checked_numbers_read(const char *head, char letter, void *numbers, size_t n);
/* The reverse of checked_outcome_head(). */
bool checked_outcome_read(const char *head, struct outcome *o);
#endif
