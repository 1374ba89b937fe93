/* im2rec/command/shown_run.c */
#include "im2rec/command/shown_run.h"

#include "cli/report.h"
#include "cli/show.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t g_interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    g_interrupted = 1;
}

/* The first Ctrl-C ends the run in an orderly way, a second one at once. */
void shown_run_listen(void)
{
    struct sigaction a;
    memset(&a, 0, sizeof(a));
    a.sa_handler = interrupt;
    a.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigemptyset(&a.sa_mask);
    (void)sigaction(SIGINT, &a, NULL);
    (void)sigaction(SIGTERM, &a, NULL);
}

bool shown_run_interrupted(void)
{
    return g_interrupted != 0;
}

/* ---- progress --------------------------------------------------------------------------- */

bool shown_run_progress(void *user, const struct imrec_progress *p)
{
    struct shown_run *w = user;
    const int64_t now = cli_now_ms();
    const bool scanning = p->total == 0;
    const struct progress_counts counts = {.done = scanning ? p->found : p->done,
                                           .total = p->total,
                                           .skipped = p->skipped,
                                           .bytes = p->bytes};
    if (!w->begun || scanning != w->scanning) {
        if (w->begun)
            progress_part(&w->progress, now);
        progress_start(&w->progress, w->out, w->out != NULL && cli_is_terminal(w->out),
                       scanning ? "images found" : "images", p->resumed, now);
        w->begun = true;
        w->scanning = scanning;
    }
    progress_update(&w->progress, &counts, now);
    return g_interrupted == 0;
}

void shown_run_end(struct shown_run *w, const struct imrec_pack_result *r)
{
    const struct progress_counts counts = {.done = r->packed + r->skipped,
                                           .total = r->total,
                                           .skipped = r->skipped,
                                           .bytes = r->file_bytes};
    if (w->begun)
        progress_end(&w->progress, &counts, cli_now_ms());
}
