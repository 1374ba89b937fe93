/* cli/progress.c - how far a long job is, for people. */
#include "cli/progress.h"

#include "base/clock.h"
#include "cli/human.h"

#include <unistd.h>

#define REPAINT_MS 100
#define LINE_MS    10000

int64_t cli_now_ms(void)
{
    return (int64_t)(clock_ns() / 1000000);
}

bool cli_is_terminal(FILE *f)
{
    return isatty(fileno(f)) != 0;
}

/* Seconds that are left at the speed so far; 0: not known. */
static double seconds_left(const struct progress *p, const struct progress_counts *c, double s)
{
    const double items = (double)(c->done - p->first);
    if (c->total > c->done && items > 0)
        return (double)(c->total - c->done) * s / items;
    if (c->total == 0 && c->total_bytes > c->bytes && c->bytes > 0)
        return (double)(c->total_bytes - c->bytes) * s / (double)c->bytes;
    return 0;
}

static void show(struct progress *p, const struct progress_counts *c, int64_t now_ms)
{
    char text[HUMAN_BYTES];
    const double s = now_ms > p->start_ms ? 1e-3 * (double)(now_ms - p->start_ms) : 1e-3;
    const double left = seconds_left(p, c, s);
    fprintf(p->out, "%s%s", p->terminal ? "\r" : "", human_count(c->done, text));
    if (c->total != 0)
        fprintf(p->out, " of %s", human_count(c->total, text));
    fprintf(p->out, " %s, %.0f/s", p->noun, (double)(c->done - p->first) / s);
    if (c->bytes != 0)
        fprintf(p->out, ", %.1f MB/s", 1e-6 * (double)c->bytes / s);
    if (c->skipped != 0)
        fprintf(p->out, ", %s skipped", human_count(c->skipped, text));
    if (left > 0)
        fprintf(p->out, ", %s left", human_seconds(left, text));
    fputs(p->terminal ? "\033[K" : "\n", p->out);
    fflush(p->out);
    p->shown_ms = now_ms;
    p->shown = true;
}

void progress_start(struct progress *p, FILE *out, bool terminal, const char *noun,
                    uint64_t first_done, int64_t now_ms)
{
    *p = (struct progress){.out = out,
                           .noun = noun,
                           .terminal = terminal,
                           .start_ms = now_ms,
                           .shown_ms = now_ms,
                           .first = first_done};
}

void progress_update(struct progress *p, const struct progress_counts *c, int64_t now_ms)
{
    p->last = *c;
    if (p->out != NULL && now_ms - p->shown_ms >= (p->terminal ? REPAINT_MS : LINE_MS))
        show(p, c, now_ms);
}

void progress_part(struct progress *p, int64_t now_ms)
{
    if (p->shown)
        progress_end(p, &p->last, now_ms);
}

void progress_end(struct progress *p, const struct progress_counts *c, int64_t now_ms)
{
    if (p->out == NULL)
        return;
    show(p, c, now_ms);
    if (p->terminal)
        fputc('\n', p->out);
}
