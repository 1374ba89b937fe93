/* tools/commands/command.h - the toolbox: one file a subcommand, each with its page, table and
 * run(). */
#ifndef IMREC_TOOLS_COMMANDS_COMMAND_H
#define IMREC_TOOLS_COMMANDS_COMMAND_H

#include "cli/human.h"
#include "cli/json.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/show.h"
#include "imrec/imrec.h"

#include <inttypes.h>

struct command {
    const struct cli_page *page;
    size_t options_size; /* of the struct that the page's table fills */
    int fewest, most;    /* operands */
    int (*run)(const void *options, int n, char **operand); /* returns the exit status */
};

/* A command's `struct options` and its `table`, of the rows that ROWS(X) lists; the command of
 * `fewest` to `most` operands (most < 0: any number), which is the file's run(); and its page:
 * COMMAND(info, ROWS, 1, -1) = {PAGE_OF("info", exits), .summary = ...}; */
#define PARAM_STRUCT struct options
#define COMMAND(word, ROWS, fewest, most)                                                          \
    struct options {                                                                               \
        ROWS(IMREC_FIELD)                                                                          \
    };                                                                                             \
    static const struct param table[] = {ROWS(PARAM_ROW){0}};                                      \
    static int run(const struct options *o, int n, char **operand);                                \
    static int run_any(const void *o, int n, char **operand)                                       \
    {                                                                                              \
        return run(o, n, operand);                                                                 \
    }                                                                                              \
    static const struct cli_page page;                                                             \
    const struct command command_##word = {&page, sizeof(struct options), fewest, most, run_any};  \
    static const struct cli_page page
#define PAGE_OF(word, says) .name = "imrec " word, .table = table, .exits = says

extern const struct cli_page imrec_page;             /* of the program itself */
extern const struct command *const imrec_commands[]; /* NULL at the end */
extern const struct param imrec_iter_table[];
extern const struct cli_keys imrec_iter_keys[]; /* key=value, for pages */

extern const struct command command_info, command_ls, command_cat, command_export, command_verify,
    command_repair, command_index, command_view, command_batches, command_bench, command_convert,
    command_minibatches, command_merge, command_split, command_sample, command_relabel,
    command_tile, command_cache, command_doctor, command_top;

#define IMREC_EXITS "0 fine, 1 failed or damage found, 2 wrong usage, 3 done with something skipped"

/* Whether this is what a file is; one that cannot be read is nothing. */
bool command_file_is(const char *uri, enum imrec_file_kind kind);

/* Files of CNTK's binary format: whether all are, whether as a set they hold images, and what
 * info and verify say of them: text, or members of the JSON object (findings: of the array) that
 * is open. EXIT_OK, or EXIT_FAILED after a line on stderr. */
bool cbf_are(char *const *files, int n);
bool cbf_has_images(const char *uri);
int cbf_info(const char *name, char *const *files, int n, struct json *j);
int cbf_show(const char *name, const char *file, bool title, struct json *j); /* of one */
struct cbf_sum {
    uint64_t sequences, chunks, findings, lost;
};
int cbf_check(const char *name, char *const *files, int n, struct json *j, struct cbf_sum *sum);

/* Rows that most tables share. */
#define ROW_JSON(X) X(bool, json, "0", 0, 1, "", "output", "one JSON object on stdout")
#define ROW_ON_ERROR(X)                                                                            \
    X(enum imrec_on_error, on_error, "stop", 0, 1, "stop|skip", "checks",                          \
      "on damage: stop, or skip, report and continue")
#define ROW_QUIET(X) X(bool, quiet, "0", 0, 1, "", "output", "no progress")
#define ROW_MISSING(X)                                                                             \
    X(bool, allow_missing, "0", 0, 1, "", "shards",                                                \
      "read an incomplete set without its missing shards, with a warning")

/* What is read: the rows of imrec/reader_options.h; and the options that *o holds, a struct with
 * these rows, as the iterator's. */
#define READER_VALUE(ctype, name, ...) .name = o->name,
#define READER_OF_O                                                                                \
    {                                                                                              \
        .struct_size = sizeof(struct imrec_reader_options), IMREC_READER_PARAMS(READER_VALUE)      \
    }

/* Those of what reads a set, of what takes its time, of both. */
#define ROWS_SET(X)      ROW_MISSING(X) ROW_JSON(X)
#define ROWS_LONG(X)     ROW_JSON(X) ROW_QUIET(X)
#define ROWS_SET_LONG(X) ROW_MISSING(X) ROWS_LONG(X)

/* Operands that are shards as one text; `allow_missing`: those that are there, as `reader` (NULL:
 * the defaults) says which are meant. It is freed when the command is over. NULL after one line on
 * stderr. */
const char *command_shards(const char *name, char *const *operands, int n, bool allow_missing,
                           const struct imrec_reader_options *reader);

/* One line on stderr: why a set could not be opened. EXIT_FAILED, or EXIT_USAGE where it can be
 * without the options that were given. */
int command_not_opened(const char *name, const char *uri, const struct imrec_error *err);

/* Reads the flags (defaults first), counts operands and runs the command, or answers --help, or
 * says what is wrong with the usage. argv[0] is the page's name. Returns the exit status. */
int command_run(const struct command *c, int argc, char **argv);

/* Whether an output can be there: not in a store, whose objects other tools do not open. False
 * after one line on stderr. */
bool command_is_local(const char *name, const char *output);

/* "missing operands", with the usage. Returns EXIT_USAGE. */
int command_refuse_count(const struct cli_page *page, const char *wrong);

/* The library's progress calls on a progress line; `user` is a struct command_progress. */
struct command_progress {
    struct progress line;
    struct progress_counts counts;
};
void command_progress_start(struct command_progress *p, bool quiet);
bool command_progress_show(void *user, const struct imrec_progress *done);
void command_progress_end(struct command_progress *p);

/* Findings, one line each on `out` or as members of the JSON array that is open. */
void command_finding(FILE *out, struct json *j, const struct imrec_finding *f);
/* For the library to call: finding and progress, of which `user` is a struct command_findings. */
struct command_findings {
    struct command_progress progress; /* first: what its callback is given */
    struct json *json;
    bool damage_is_told; /* by the check of CBF files, byte by byte */
};
void command_found(void *user, const struct imrec_finding *f);

/* What a command leaves out: a line each on stderr and, with --json, a member of the array
 * "left_out", the first of the object. The object is begun with the first of them, or at the end,
 * so that a command which is refused prints none. */
struct command_left {
    const char *name;
    bool as_json, open;
    struct json j;
};
void command_left_begin(struct command_left *l, const char *name, bool as_json);
void command_left_out(struct command_left *l, const struct imrec_finding *f);
/* The array is over: returns the object for its other members, to be closed by the caller. NULL:
 * there is none. `done` begins it where nothing was skipped. */
struct json *command_left_end(struct command_left *l, bool done);

/* The record as a JSON object, with what its image, or sound, says of itself, and what `more` asks
 * for, too. */
enum {
    COMMAND_RECORD_ALL = 1, /* the second id and the mask */
    COMMAND_RECORD_FIELDS = 2,
};
void command_json_record(struct json *j, const struct imrec_record *r, unsigned more);

/* What a reader moved over the network and out of a cache, if it is anything: as a member of the
 * JSON object that is open, or (j NULL) as one line. */
void command_traffic(struct json *j, const struct imrec_traffic *t);

/* A decimal id without sign. EXIT_OK, or EXIT_USAGE after one line on stderr. */
int command_read_id(const char *name, const char *text, uint64_t *id);

/* Options of an iterator over `uri`: 3 x 224 x 224, batches of `batch_size`, what `reader` says
 * (NULL: nothing), and what the key=value operands change. False after one line on stderr. */
bool command_iter_options(const char *name, const char *uri, int64_t batch_size,
                          const struct imrec_reader_options *reader, char *const *pairs, int n,
                          struct imrec_iter_options *o);

/* All of a file that holds a position; the caller cli_free()s it. NULL after one line on stderr. */
char *command_read_position(const char *name, const char *path);

/* Opens the iterator. EXIT_OK, or after one line on stderr EXIT_FAILED, or EXIT_USAGE where the
 * options do not go together. */
int command_iter_open(const char *name, const struct imrec_iter_options *o,
                      struct imrec_iter **out);
#endif
