/* im2rec/command/main.c - the command: operands and flags in, progress and a summary out. */
#include "base/alloc.h"
#include "base/buf.h"
#include "cli/options.h"
#include "cli/page.h"
#include "cli/program_flags.h"
#include "cli/report.h"
#include "im2rec/command/classic.h"
#include "im2rec/command/mpi_run.h"
#include "im2rec/command/pairs.h"
#include "im2rec/command/planned.h"
#include "im2rec/command/prefix.h"
#include "im2rec/command/shown_run.h"
#include "im2rec/command/skips.h"
#include "im2rec/command/summary.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/list/archive_names.h"
#include "imrec/imrec.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <stdio.h>
#include <string.h>

#define NAME "im2rec"

/* ---- operands --------------------------------------------------------------------------- */

struct command {
    struct im2rec_flags flags;
    struct imrec_pack_task task;
    char *out;      /* with the suffix that MXNet appends, or NULL */
    char *archives; /* the operands A.tar B.tar ... as one text, or NULL */
    struct classic classic;
    struct prefix_lists lists; /* of the operands PREFIX ROOT */
    struct pairs pairs;
    struct planned_share share; /* of --work */
};

static int append_suffix(struct command *c, const char *suffix)
{
    const size_t n = strlen(c->task.out), k = strlen(suffix) + 1;
    c->out = imrec_realloc(NULL, n + k, 1);
    if (c->out == NULL)
        return cli_refuse(stderr, NAME, "no memory");
    memcpy(c->out, c->task.out, n);
    memcpy(c->out + n, suffix, k);
    c->task.out = c->out;
    c->task.exact_name = true;
    return EXIT_OK;
}

static enum imrec_status set_pair(struct command *c, const char *pair, struct imrec_error *err)
{
    const size_t n = strcspn(pair, "=");
    if (param_find(pack_params, pair, n) == NULL &&
        param_find(cli_page_im2rec.table, pair, n) != NULL)
        return param_set(cli_page_im2rec.table, &c->flags, pair, n, pair + n + 1, err);
    return classic_set(&c->classic, &c->flags.pack, pair, err);
}

static int read_pairs(struct command *c, int argc, char **argv)
{
    struct classic *classic = &c->classic;
    struct imrec_error err;
    char suffix[32];
    for (int i = 0; i < argc; i++) {
        if (!cli_is_pair(argv[i]))
            return cli_refuse(stderr, NAME, "unexpected operand '%s'", argv[i]);
        if (set_pair(c, argv[i], &err) != IMREC_OK)
            return cli_refuse(stderr, NAME, "%s", err.message);
        if (c->lists.classes != NULL && c->flags.pack.classes[0] == '\0')
            c->flags.pack.classes = c->lists.classes;
    }
    if (classic_end(classic, &c->flags.pack, suffix, &err) != IMREC_OK)
        return cli_refuse(stderr, NAME, "%s", err.message);
    return suffix[0] != '\0' ? append_suffix(c, suffix) : EXIT_OK;
}

/* An option in the place of a name: what is to be packed exists, and such a file does not. */
static int refuse_pair(struct command *c, const char *operand)
{
    bool there = false;
    struct imrec_error err;
    if (!cli_is_pair(operand) || sink_exists(operand, &there, &err) != IMREC_OK || there)
        return EXIT_OK;
    if (set_pair(c, operand, &err) != IMREC_OK)
        return cli_refuse(stderr, NAME, "%s", err.message);
    return cli_refuse(stderr, NAME, "'%s' must come after OUT.rec", operand);
}

/* A.tar [B.tar ...] OUT.rec. *used: operands that were taken; 0: the first one is no archive. */
static int take_archives(struct command *c, int argc, char **argv, int *used)
{
    struct buf all = BUF_INIT((size_t)1 << 26);
    struct imrec_error err = {0};
    enum imrec_status st = IMREC_OK;
    int n = 0;
    while (n < argc && archives_are(argv[n]))
        n++;
    *used = n != 0 ? n + 1 : 0;
    if (n == 0)
        return EXIT_OK;
    if (n == argc || cli_is_pair(argv[n]))
        return cli_refuse(stderr, NAME, "wanted are A.tar [B.tar ...] OUT.rec");
    for (int i = 0; st == IMREC_OK && i < n; i++) {
        st = buf_append(&all, argv[i], strlen(argv[i]) + 1, &err);
        if (st == IMREC_OK)
            all.p[all.n - 1] = i + 1 < n ? ';' : '\0';
    }
    c->archives = (char *)all.p;
    c->task.root = c->archives;
    c->task.out = source_path(argv[n]);
    return st == IMREC_OK ? EXIT_OK : cli_refuse(stderr, NAME, "%s", err.message);
}

static int read_operands(struct command *c, int argc, char **argv)
{
    int used;
    if (planned_takes_no_names(&c->flags))
        return planned_operand(&c->flags, argc, argv, &c->share);
    int status = take_archives(c, argc, argv, &used);
    if (status != EXIT_OK || used != 0)
        return status == EXIT_OK ? read_pairs(c, argc - used, argv + used) : status;
    if (argc < 2)
        return cli_refuse(stderr, NAME,
                          "wanted are FOLDER OUT.rec, LIST.lst ROOT OUT.rec, or A.tar OUT.rec");
    const bool has_list = argc > 2 && !cli_is_pair(argv[2]);
    for (int i = 0; has_list && i < 2; i++)
        if ((status = refuse_pair(c, argv[i])) != EXIT_OK)
            return status;
    c->task.list = has_list ? argv[0] : NULL;
    c->task.root = source_path(argv[has_list]); /* folders are looked into before they are packed */
    c->task.out = source_path(argv[1 + has_list]);
    if (!has_list && prefix_comes_first(c->task.root, c->task.out)) {
        struct imrec_error err;
        const char *prefix = c->task.root;
        c->task.root = c->task.out;
        c->task.out = prefix;
        if (!c->flags.pack.list && prefix_find(prefix, &c->lists, &err) != IMREC_OK)
            return cli_refuse(stderr, NAME, "%s", err.message);
        if (c->lists.classes != NULL && c->flags.pack.classes[0] == '\0')
            c->flags.pack.classes = c->lists.classes;
    }
    return read_pairs(c, argc - 2 - has_list, argv + 2 + has_list);
}

/* images/ and masks/ are pairs, unless words say what else they are. */
static int take_pairs(struct command *c)
{
    struct imrec_error err;
    if (c->task.root == NULL || c->archives != NULL || c->task.list != NULL ||
        c->lists.count != 0 || c->flags.pack.list || c->flags.pack.masks[0] != '\0' ||
        c->flags.pack.annotations[0] != '\0' || c->flags.pack.class_from != IMREC_CLASS_TOP)
        return EXIT_OK;
    if (pairs_find(c->task.root, &c->pairs, &err) != IMREC_OK)
        return cli_refuse(stderr, NAME, "%s", err.message);
    if (c->pairs.images != NULL) {
        c->task.root = c->pairs.images;
        c->flags.pack.masks = c->pairs.masks;
    }
    return EXIT_OK;
}

static int read_command(struct command *c, int argc, char **argv)
{
    struct imrec_pack_options checked;
    struct imrec_error err;
    param_defaults(cli_page_im2rec.table, &c->flags);
    imrec_pack_options_init(&c->flags.pack);
    if (classic_flags(&c->classic, &argc, argv, &err) != IMREC_OK)
        return cli_refuse(stderr, NAME, "%s", err.message);
    const int first = cli_parse(cli_page_im2rec.table, &c->flags, argc, argv, stderr);
    if (first < 0)
        return first;
    int status = read_operands(c, argc - first, argv + first);
    if (status == EXIT_OK)
        status = take_pairs(c);
    if (status != EXIT_OK)
        return status;
    if (pack_options_check(&c->flags.pack, &checked, &err) != IMREC_OK)
        return cli_refuse(stderr, NAME, "%s", err.message);
    return EXIT_OK;
}

/* ---- the run ---------------------------------------------------------------------------- */

static int run_one(struct command *c)
{
    struct imrec_pack_result r;
    struct imrec_error err;
    struct shown_run watch = {.out = c->flags.quiet ? NULL : stderr};
    const int64_t begin = cli_now_ms();
    c->task.progress = shown_run_progress;
    c->task.user = &watch;
    const enum imrec_status st = c->flags.append ? imrec_append(&c->task, &c->flags.pack, &r, &err)
                                                 : imrec_pack(&c->task, &c->flags.pack, &r, &err);
    const double seconds = (double)(cli_now_ms() - begin) / 1e3;
    shown_run_end(&watch, &r);
    if (!c->flags.quiet && !r.was_complete)
        skips_print(stderr, NAME, &r, c->flags.pack.report);
    if (st != IMREC_OK)
        return cli_fail(NAME, &err);
    if (c->flags.json)
        summary_json(stdout, &r, seconds);
    else if (!c->flags.quiet)
        summary_card(stdout, c->task.out, &r, seconds);
    return r.skipped != 0 && !r.was_complete ? EXIT_PARTIAL : EXIT_OK;
}

/* One list after the other; the worst outcome counts, and a failure ends it. */
static int run(struct command *c)
{
    int worst = EXIT_OK;
#ifdef IMREC_MPI
    if (c->flags.mpi)
        return c->lists.count > 1 || c->flags.append
                   ? cli_refuse(stderr, NAME, "--mpi packs one list, and appends to none")
                   : mpi_run(&c->flags, &c->task);
#endif
    if (c->flags.tasks != 0 && c->flags.plan[0] == '\0')
        return cli_refuse(stderr, NAME, "--tasks says how a plan is cut: it needs --plan or --mpi");
    if (planned_is(&c->flags))
        return c->lists.count > 1
                   ? cli_refuse(stderr, NAME, "a plan is of one list, and these are %zu",
                                c->lists.count)
                   : planned_run(&c->flags, &c->task, &c->share);
    if (c->lists.count == 0)
        return run_one(c);
    for (size_t i = 0; i < c->lists.count && worst != EXIT_FAILED; i++) {
        c->task.list = c->lists.list[i];
        c->task.out = c->lists.out[i];
        const int status = run_one(c);
        worst = status != EXIT_OK ? status : worst;
    }
    return worst;
}

int main(int argc, char **argv)
{
    struct command c;
#ifndef IMREC_MPI
    const int refused = mpi_become(argc, argv);
    if (refused != EXIT_OK)
        return refused;
#endif
    memset(&c, 0, sizeof(c));
    c.classic = CLASSIC_INIT;
    int status = read_command(&c, argc, argv);
    if (status == CLI_HELP) {
        cli_page_help(&cli_page_im2rec, stdout);
        status = EXIT_OK;
    } else if (status == CLI_VERSION) {
        puts(NAME " " IMREC_VERSION_STRING);
        status = EXIT_OK;
    } else if (status == CLI_BAD) {
        status = EXIT_USAGE;
    } else if (status == EXIT_OK) {
        cli_log(NAME, IMREC_LOG_WARNING);
        shown_run_listen();
        status = run(&c);
    }
    IMREC_FREE(c.out, c.archives);
    prefix_free(&c.lists);
    pairs_free(&c.pairs);
    return cli_exit(NAME, status);
}
