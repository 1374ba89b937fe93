/* cli/progress.h - how far a long job is, for people: on stderr, never on stdout. */
#ifndef IMREC_CLI_PROGRESS_H
#define IMREC_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress_counts {
    uint64_t done, total; /* of what `noun` says; total 0: not known */
    uint64_t skipped;     /* of done */
    uint64_t bytes;       /* read or written; 0: not shown */
    uint64_t total_bytes; /* gives the remaining work where total is 0 */
};

/* On a terminal one line repainted at most 10 times a second, else a line every 10 s. */
struct progress {
    FILE *out;        /* NULL: quiet */
    const char *noun; /* "images", "records" */
    bool terminal;
    int64_t start_ms, shown_ms;  /* of the caller's monotonic clock: cli_now_ms() */
    uint64_t first;              /* done at the start (a resumed job): not counted in rates */
    bool shown;                  /* a line has been written */
    struct progress_counts last; /* of progress_update() */
};

int64_t cli_now_ms(void);
bool cli_is_terminal(FILE *f);

void progress_start(struct progress *p, FILE *out, bool terminal, const char *noun,
                    uint64_t first_done, int64_t now_ms);
/* Cheap: call it often. */
void progress_update(struct progress *p, const struct progress_counts *c, int64_t now_ms);
/* Ends a part of the job that another follows: with its last counts, and in silence where the
 * part was too short for a line. */
void progress_part(struct progress *p, int64_t now_ms);
void progress_end(struct progress *p, const struct progress_counts *c, int64_t now_ms);
#endif
