/* tools/top/imrec_top.c - a live view of loaders that run, by what metrics= reports of them. */
#include "base/clock.h"
#include "tools/commands/command.h"
#include "tools/top/top_fetch.h"
#include "tools/top/top_view.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TOP_PARAMS(X)                                                                              \
    X(float, interval, "2", 0.1, 3600, "S", "view", "seconds from one look to the next")           \
    X(int64_t, count, "0", 0, INT64_MAX, "N", "view", "looks, then it ends; 0: until Ctrl-C")      \
    X(bool, once, "0", 0, 1, "", "view", "one table, as soon as there are rates")                  \
    ROW_JSON(X)
COMMAND(top, TOP_PARAMS, 1, -1) = {
    PAGE_OF("top", "0 done, 1 no source could be read, 2 wrong usage, 3 some could not be read"),
    .summary = "watch running loaders: images/s, where the time goes, waits, errors",
    .usage = {"[OPTIONS] FILE|unix:PATH|HOST:PORT..."},
    .text =
        "Each operand is what the loader of a rank was given as metrics=. On a terminal the table\n"
        "is renewed in place; otherwise one follows the other, with --json one object a line.\n\n"
        "waits: share of the time that the training loop waited for a batch. I/O: that the reader\n"
        "waited for bytes. workers' time: D decoding, A augmenting, '.' other work and waiting.\n"
        "limit: what would have to be faster: 'training' (batches are ready before they are\n"
        "wanted), 'CPUs', 'storage'; or 'no batches', where none was delivered, or 'no news', "
        "where\n"
        "a file is no longer renewed.\n\n"
        "A file is renewed every 5 seconds by its loader: rates come after the second time.",
    .examples = "  imrec batches train.rec --count 100 --out out metrics=127.0.0.1:9400 &\n"
                "  imrec top 127.0.0.1:9400\n"
                "  imrec top --once --json node1:9400 node1:9401 unix:/run/imrec.sock\n",
};

#define RENEWED_NS ((uint64_t)7000000000) /* a file is, within this time, while its loader runs */
#define STEP_MS    50                     /* between two looks at a signal */

static volatile sig_atomic_t g_ends; /* Ctrl-C: the view is over, and the cursor comes back */

static void end(int signal)
{
    (void)signal;
    g_ends = 1;
}

static void wait_until(uint64_t ns)
{
    while (!g_ends && clock_ns() < ns)
        clock_sleep_ms(STEP_MS);
}

static int columns_of(FILE *out)
{
    struct winsize size;
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static void show(const struct top_board *b, const struct options *o, bool terminal)
{
    struct json j;
    if (o->json) {
        if (o->once)
            json_begin(&j, stdout);
        else
            json_begin_line(&j, stdout);
        top_show_json(b, &j);
        json_close(&j);
    } else {
        if (terminal)
            fputs("\033[H", stdout);
        top_show(b, stdout, terminal, terminal ? columns_of(stdout) : 0);
        fputs(terminal ? "\033[J" : o->once ? "" : "\n", stdout);
    }
    (void)fflush(stdout);
}

static int status_of(size_t good, size_t all)
{
    return good == all ? EXIT_OK : good == 0 ? EXIT_FAILED : EXIT_PARTIAL;
}

static bool has_files(const struct top_board *b)
{
    for (size_t i = 0; i < b->source_count; i++)
        if (top_is_file(b->sources[i]))
            return true;
    return false;
}

static int run_once(struct top_board *b, const struct options *o)
{
    const uint64_t step = (uint64_t)((double)o->interval * 1e9), begin = clock_ns();
    const uint64_t longest = has_files(b) && step < RENEWED_NS ? RENEWED_NS : step;
    size_t good = top_board_read(b);
    for (uint64_t next = begin + step; good > 0 && !g_ends && next <= begin + longest;
         next += step) {
        wait_until(next);
        good = top_board_read(b);
        if (top_board_is_known(b))
            break;
    }
    show(b, o, false);
    return status_of(good, b->source_count);
}

static int run_live(struct top_board *b, const struct options *o)
{
    const bool terminal = !o->json && cli_is_terminal(stdout);
    const uint64_t step = (uint64_t)((double)o->interval * 1e9);
    size_t good = 0;
    if (terminal)
        fputs("\033[?25l\033[2J", stdout); /* no cursor, nothing on the screen */
    for (int64_t i = 0; !g_ends && (o->count == 0 || i < o->count); i++) {
        const uint64_t begin = clock_ns();
        good = top_board_read(b);
        show(b, o, terminal);
        if (ferror(stdout))
            break;
        if (o->count == 0 || i + 1 < o->count)
            wait_until(begin + step);
    }
    if (terminal)
        fputs("\033[?25h", stdout);
    return status_of(good, b->source_count);
}

static int run(const struct options *o, int n, char **operand)
{
    struct top_board b;
    struct sigaction ends = {.sa_handler = end};
    sigaction(SIGINT, &ends, NULL);
    sigaction(SIGTERM, &ends, NULL);
    top_board_init(&b, operand, (size_t)n);
    const int status = o->once ? run_once(&b, o) : run_live(&b, o);
    top_board_free(&b);
    return status;
}
