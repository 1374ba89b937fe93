/* tools/ctf2bin.c - the command: flags in, progress and a summary out. */
#include "cli/human.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/page.h"
#include "cli/program_flags.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/show.h"
#include "imrec/version.h"

#include <signal.h>

#define NAME "ctf2bin"

static volatile sig_atomic_t g_interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    g_interrupted = 1;
}

static bool show(void *user, const struct imrec_progress *done)
{
    const struct progress_counts c = {.done = done->bytes >> 20,
                                      .total = done->total_bytes >> 20,
                                      .bytes = done->bytes,
                                      .total_bytes = done->total_bytes};
    progress_update(user, &c, cli_now_ms());
    return g_interrupted == 0;
}

static void print(const struct ctf2bin_flags *f, const struct imrec_convert_result *r)
{
    struct json j;
    char sequences[HUMAN_THINGS], chunks[HUMAN_THINGS], size[HUMAN_BYTES];
    if (!f->json) {
        printf("%s, %s, %s: %s\n", human_things(r->sequences, "sequence", sequences),
               human_things(r->chunks, "chunk", chunks), human_size(r->bytes, size),
               cli_show(f->convert.output));
        return;
    }
    json_begin(&j, stdout);
    json_text(&j, "output", f->convert.output);
    JSON_UINTS(&j, {"sequences", r->sequences}, {"samples", r->samples}, {"chunks", r->chunks},
               {"bytes_read", r->bytes_read}, {"bytes", r->bytes}, {"errors", r->errors});
    json_close(&j);
}

static int convert(const struct ctf2bin_flags *f)
{
    struct imrec_error err;
    struct imrec_convert_result r;
    struct progress progress;
    FILE *to = f->quiet ? NULL : stderr;
    progress_start(&progress, to, to != NULL && cli_is_terminal(to), "MiB", 0, cli_now_ms());
    const enum imrec_status st = imrec_ctf_to_cbf(&f->convert, show, &progress, &r, &err);
    const struct progress_counts all = {
        .done = r.bytes_read >> 20, .total = r.bytes_read >> 20, .bytes = r.bytes_read};
    if (st != IMREC_OK)
        return cli_fail(NAME, &err);
    progress_end(&progress, &all, cli_now_ms());
    if (f->json || !f->quiet)
        print(f, &r);
    return r.errors != 0 ? EXIT_PARTIAL : EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct ctf2bin_flags f = {.quiet = false};
    const struct imrec_convert_options *o = &f.convert;
    imrec_convert_options_init(&f.convert);
    const int first = cli_parse(cli_page_ctf2bin.table, &f, argc, argv, stderr);
    if (first == CLI_HELP) {
        cli_page_help(&cli_page_ctf2bin, stdout);
        return EXIT_OK;
    }
    if (first == CLI_VERSION) {
        puts(NAME " " IMREC_VERSION_STRING);
        return EXIT_OK;
    }
    if (first == CLI_BAD)
        return EXIT_USAGE;
    if (first < argc)
        return cli_refuse(stderr, NAME, "unexpected operand '%s'", argv[first]);
    if (o->input == NULL || o->header == NULL || o->output == NULL)
        return cli_refuse(stderr, NAME, "--input, --header and --output are needed");
    cli_log(NAME, IMREC_LOG_WARNING);
    (void)signal(SIGINT, interrupt);
    (void)signal(SIGTERM, interrupt);
    return convert(&f);
}

int main(int argc, char **argv)
{
    return cli_exit(NAME, run(argc, argv));
}
