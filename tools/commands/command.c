/* tools/commands/command.c - what the subcommands share. */
#include "tools/commands/command.h"
#include "cli/show.h"

#include "storage/source.h"
#include "tools/commands/command_fields.h"

#include <errno.h>
#include <string.h>

enum { POSITION_MAX_BYTES = 1 << 24 };

#undef PARAM_STRUCT
#define PARAM_STRUCT struct imrec_iter_options
const struct param imrec_iter_table[] = {IMREC_ITER_PARAMS(PARAM_ROW){0}};
const struct cli_keys imrec_iter_keys[] = {{"Iterator parameters", imrec_iter_table}, {0}};

int command_refuse_count(const struct cli_page *page, const char *wrong)
{
    return cli_refuse(stderr, page->name, "%s operands: %s %s", wrong, page->name, page->usage[0]);
}

bool command_is_local(const char *name, const char *output)
{
    struct imrec_error err;
    const bool local = source_check_local(output, &err) == IMREC_OK;
    if (!local)
        cli_fail(name, &err);
    return local;
}

static char *g_shards; /* what command_shards() has returned */

int command_run(const struct command *c, int argc, char **argv)
{
    struct imrec_error err;
    void *options = cli_realloc(NULL, 1, c->options_size);
    param_defaults(c->page->table, options);
    const int first = cli_parse(c->page->table, options, argc, argv, stderr);
    const int n = argc - first;
    int status = EXIT_OK;
    if (first == CLI_BAD)
        status = EXIT_USAGE;
    else if (first == CLI_HELP)
        cli_page_help(c->page, stdout);
    else if (first == CLI_VERSION)
        puts("imrec " IMREC_VERSION_STRING);
    else if (n < c->fewest || (c->most >= 0 && n > c->most))
        status = command_refuse_count(c->page, n < c->fewest ? "missing" : "too many");
    else if (param_check(c->page->table, options, &err) != IMREC_OK)
        status = cli_refuse(stderr, c->page->name, "%s", err.message);
    else
        status = c->run(options, n, argv + first);
    cli_free(options);
    cli_free(g_shards);
    return status;
}

bool command_file_is(const char *uri, enum imrec_file_kind kind)
{
    enum imrec_file_kind is;
    return imrec_file_kind(uri, &is, NULL, NULL) == IMREC_OK && is == kind;
}

const char *command_shards(const char *name, char *const *operands, int n, bool allow_missing,
                           const struct imrec_reader_options *reader)
{
    struct imrec_error err;
    char *list;
    g_shards = cli_join(operands, n, ';');
    if (!allow_missing)
        return g_shards;
    if (imrec_shards_expand_with(g_shards, reader, true, &list, &err) != IMREC_OK) {
        (void)cli_fail(name, &err);
        return NULL;
    }
    cli_free(g_shards);
    g_shards = cli_join(&list, 1, ';');
    imrec_shards_free(list);
    return g_shards;
}

void command_progress_start(struct command_progress *p, bool quiet)
{
    *p = (struct command_progress){0};
    progress_start(&p->line, quiet ? NULL : stderr, cli_is_terminal(stderr), "records", 0,
                   cli_now_ms());
}

bool command_progress_show(void *user, const struct imrec_progress *done)
{
    struct command_progress *p = user;
    p->counts = (struct progress_counts){
        .done = done->done, .bytes = done->bytes, .total_bytes = done->total_bytes};
    progress_update(&p->line, &p->counts, cli_now_ms());
    return true;
}

void command_progress_end(struct command_progress *p)
{
    if (p->line.out != NULL && p->line.shown_ms != p->line.start_ms) /* only where one was begun */
        progress_end(&p->line, &p->counts, cli_now_ms());
    p->line.out = NULL;
}

static void put_place(FILE *out, const struct imrec_finding *f)
{
    if (f->kind == IMREC_FOUND_FILE) /* which the reason names */
        return;
    if (f->end == f->begin + 1)
        fprintf(out, "byte %" PRIu64 ": ", f->begin);
    else if (f->end != 0)
        fprintf(out, "bytes %" PRIu64 " to %" PRIu64 ": ", f->begin, f->end - 1);
}

void command_finding(FILE *out, struct json *j, const struct imrec_finding *f)
{
    if (j == NULL) {
        fprintf(out, "%s: ", cli_show(f->uri));
        put_place(out, f);
        fprintf(out, "%s: %s", imrec_finding_name(f->kind), cli_show(f->reason));
        if (f->id != 0)
            fprintf(out, " (id %" PRIu64 ")", f->id);
        fputc('\n', out);
        return;
    }
    json_object(j, NULL);
    json_text(j, "kind", imrec_finding_name(f->kind));
    json_text(j, "shard", cli_uri(f->uri));
    JSON_UINTS(j, {"begin", f->begin}, {"end", f->end}, {"id", f->id});
    json_text(j, "reason", cli_uri(f->reason));
    json_end(j);
}

void command_found(void *user, const struct imrec_finding *f)
{
    const struct command_findings *to = user;
    if (!to->damage_is_told || f->kind != IMREC_FOUND_DAMAGE)
        command_finding(stdout, to->json, f);
}

void command_left_begin(struct command_left *l, const char *name, bool as_json)
{
    *l = (struct command_left){.name = name, .as_json = as_json};
}

static void open_left(struct command_left *l)
{
    if (!l->as_json || l->open)
        return;
    json_begin(&l->j, stdout);
    json_array(&l->j, "left_out");
    l->open = true;
}

void command_left_out(struct command_left *l, const struct imrec_finding *f)
{
    fprintf(stderr, "%s: skipped: ", l->name);
    command_finding(stderr, NULL, f);
    open_left(l);
    if (l->open)
        command_finding(stdout, &l->j, f);
}

struct json *command_left_end(struct command_left *l, bool done)
{
    if (done)
        open_left(l);
    if (!l->open)
        return NULL;
    json_end(&l->j);
    return &l->j;
}

static void json_image(struct json *j, const struct imrec_image_info *i)
{
    json_text(j, "format", i->format);
    if (i->kind[0] != '\0')
        json_text(j, "kind", i->kind);
    JSON_UINTS(j, {"width", i->width}, {"height", i->height}, {"channels", i->channels},
               {"bits", i->bits}, {"orientation", i->orientation});
}

static void json_sound(struct json *j, const struct imrec_sound_info *i)
{
    json_text(j, "format", "wav");
    JSON_UINTS(j, {"channels", i->channels}, {"sample_rate", i->sample_rate},
               {"samples", i->samples});
}

static void json_content(struct json *j, const struct imrec_record *r)
{
    struct imrec_image_info image;
    struct imrec_sound_info sound;
    if (imrec_image_info(r->image, r->image_size, &image, NULL) == IMREC_OK)
        json_image(j, &image);
    else if (imrec_sound_info(r->image, r->image_size, &sound, NULL) == IMREC_OK)
        json_sound(j, &sound);
}

void command_json_record(struct json *j, const struct imrec_record *r, unsigned more)
{
    json_object(j, NULL);
    json_text(j, "shard", cli_uri(r->uri));
    JSON_UINTS(j, {"offset", r->offset}, {"record_bytes", r->size});
    if (r->is_image) {
        json_uint(j, "id", r->id);
        if ((more & COMMAND_RECORD_ALL) != 0)
            json_uint(j, "id2", r->id2);
        json_array(j, "labels");
        for (uint32_t i = 0; i < r->label_count; i++)
            json_float(j, NULL, r->labels[i]);
        json_end(j);
        json_uint(j, "image_bytes", r->image_size);
        if (r->metadata != IMREC_NO_METADATA)
            json_text(j, "metadata", r->metadata == IMREC_HEADER ? "header" : "identity");
        if ((more & COMMAND_RECORD_ALL) != 0 && r->mask != NULL)
            json_uint(j, "mask_bytes", r->mask_size);
        json_content(j, r);
        if ((more & COMMAND_RECORD_FIELDS) != 0)
            command_json_fields(j, r);
    }
    json_end(j);
}

int command_read_id(const char *name, const char *text, uint64_t *id)
{
    const char *c = text;
    for (*id = 0; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(*id, (uint64_t)10, id) ||
            __builtin_add_overflow(*id, (uint64_t)(*c - '0'), id))
            break;
    return c != text && *c == '\0'
               ? EXIT_OK
               : cli_refuse(stderr, name, "ID must be a number, not '%.40s'", text);
}

/* "mix=a.rec:0.7,b.rec:0.3" in place of the shards. */
static bool is_mix(const char *uri)
{
    return strncmp(uri, "mix=", 4) == 0;
}

#define TAKE_VALUE(ctype, name, ...) o->name = reader->name;

bool command_iter_options(const char *name, const char *uri, int64_t batch_size,
                          const struct imrec_reader_options *reader, char *const *pairs, int n,
                          struct imrec_iter_options *o)
{
    struct imrec_error err;
    imrec_iter_options_init(o);
    if (reader != NULL) {
        IMREC_READER_PARAMS(TAKE_VALUE)
    }
    o->path_imgrec = is_mix(uri) ? "" : uri;
    o->data_shape = (struct imrec_shape){3, 224, 224};
    o->batch_size = batch_size;
    if (is_mix(uri))
        o->mix = uri + 4;
    for (int i = 0; i < n; i++) {
        if (!cli_is_pair(pairs[i])) {
            cli_refuse(stderr, name, "'%.80s' is not key=value", pairs[i]);
            return false;
        }
        if (imrec_iter_options_set(o, pairs[i], &err) != IMREC_OK) {
            cli_refuse(stderr, name, "%s", err.message);
            return false;
        }
        if (strncmp(pairs[i], "verbose=", 8) == 0 && o->verbose) /* asked for, not the default */
            cli_log(name, IMREC_LOG_TRACE);
    }
    return true;
}

char *command_read_position(const char *name, const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = cli_realloc(NULL, POSITION_MAX_BYTES + 1, 1);
    const size_t n = f != NULL ? fread(text, 1, POSITION_MAX_BYTES + 1, f) : 0;
    if (f != NULL && ferror(f) == 0 && n <= POSITION_MAX_BYTES) {
        text[n] = '\0';
    } else {
        cli_say(name, "cannot read %s: %s", path,
                n > POSITION_MAX_BYTES ? "too long for a position" : strerror(errno));
        cli_free(text);
        text = NULL;
    }
    if (f != NULL)
        (void)fclose(f);
    return text;
}

/* Whether the shards are there: what is wrong are the options. */
static bool opens(const char *uri)
{
    struct imrec_error err;
    struct imrec_reader *reader;
    if (imrec_reader_open(uri, 0, 1, &reader, &err) != IMREC_OK)
        return false;
    imrec_reader_close(reader);
    return true;
}

int command_not_opened(const char *name, const char *uri, const struct imrec_error *err)
{
    return err->status == IMREC_ERR_ARGUMENT && err->sys_errno == 0 && opens(uri)
               ? cli_refuse(stderr, name, "%s", err->message)
               : cli_fail(name, err);
}

int command_iter_open(const char *name, const struct imrec_iter_options *o, struct imrec_iter **out)
{
    struct imrec_error err;
    return imrec_iter_open(o, out, &err) == IMREC_OK
               ? EXIT_OK
               : command_not_opened(name, o->path_imgrec, &err);
}

void command_traffic(struct json *j, const struct imrec_traffic *t)
{
    char store[HUMAN_BYTES], cache[HUMAN_BYTES];
    char requests[HUMAN_THINGS], retries[HUMAN_THINGS], hedges[HUMAN_THINGS];
    if (t->requests == 0 && t->cache_bytes == 0)
        return;
    if (j != NULL) {
        json_object(j, "traffic");
        JSON_UINTS(j, {"store_bytes", t->store_bytes}, {"cache_bytes", t->cache_bytes},
                   {"requests", t->requests}, {"retries", t->retries}, {"hedges", t->hedges});
        json_rounded(j, "wait_s", 1e-9 * (double)t->wait_ns);
        json_end(j);
    } else {
        printf("%s from stores in %s (%s, %s; threads waited %.3g s), %s from the cache\n",
               human_size(t->store_bytes, store), human_things(t->requests, "request", requests),
               human_things(t->retries, "retry", retries), human_things(t->hedges, "hedge", hedges),
               1e-9 * (double)t->wait_ns, human_size(t->cache_bytes, cache));
    }
}
