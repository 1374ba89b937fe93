/* minibatch/convert/ctf_header.c */
#include "minibatch/convert/ctf_header.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"
#include "minibatch/config.h"
#include "minibatch/corpus/corpus_streams.h"
#include "storage/source.h"

#include <inttypes.h>
#include <string.h>

#define HEADER_MAX ((size_t)16 << 20)

static bool is_word(struct bytes b, const char *word)
{
    return b.n == strlen(word) && memcmp(b.p, word, b.n) == 0;
}

/* A word as a string in the text itself: a separator follows it. */
static const char *keep(struct ctf_header *h, struct bytes word)
{
    h->text[word.p - h->text + (ptrdiff_t)word.n] = '\0';
    return (const char *)word.p;
}

static bool element_of(struct bytes word, enum stream_element *out)
{
    *out = is_word(word, "double") ? STREAM_DOUBLE : STREAM_FLOAT;
    return *out == STREAM_DOUBLE || is_word(word, "float");
}

static enum imrec_status read_line(struct ctf_header *h, const char *name, uint64_t number,
                                   struct bytes line, struct stream_info *out,
                                   struct imrec_error *err)
{
    struct bytes word[5];
    uint64_t dim = 0;
    enum stream_element element = out->element;
    for (int i = 0; i < 5; i++)
        word[i] = text_word(&line);
    if (word[3].n == 0 || text_trim(line).n != 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s, line %" PRIu64 ": wanted are four words, <name> <alias> "
                          "<dense|sparse> <dim>, and float or double as a fifth",
                          name, number);
    const bool sparse = is_word(word[2], "sparse");
    if (!sparse && !is_word(word[2], "dense"))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s, line %" PRIu64 ": storage is %s, it must be dense or sparse", name,
                          number, text_quote(word[2]).s);
    if (!text_to_u64(word[3], &dim) || dim == 0 || dim > INT32_MAX)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s, line %" PRIu64 ": dim is %s, it must be 1 to 2147483647", name,
                          number, text_quote(word[3]).s);
    if (word[4].n > 0 && !element_of(word[4], &element))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s, line %" PRIu64 ": the type is %s, it must be float or double", name,
                          number, text_quote(word[4]).s);
    *out = (struct stream_info){.name = keep(h, word[0]),
                                .alias = keep(h, word[1]),
                                .storage = sparse ? STREAM_SPARSE : STREAM_DENSE,
                                .element = element,
                                .dim = (uint32_t)dim};
    return IMREC_OK;
}

static enum imrec_status check_twins(const struct ctf_header *h, const char *name,
                                     const struct stream_info *s, struct imrec_error *err)
{
    for (uint32_t i = 0; i < h->streams; i++)
        if (strcmp(h->stream[i].name, s->name) == 0 || strcmp(h->stream[i].alias, s->alias) == 0)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "%s: two inputs are named '%.64s' or have the alias '%.64s'", name,
                              s->name, s->alias);
    return IMREC_OK;
}

static enum imrec_status add_stream(struct ctf_header *h, const struct stream_info *s,
                                    const char *name, struct imrec_error *err)
{
    if (!IMREC_GROW(h->stream, h->room, h->streams + 1u))
        return IMREC_NO_MEMORY(err, "no memory for %s", name);
    h->stream[h->streams++] = *s;
    return IMREC_OK;
}

static enum imrec_status read_lines(struct ctf_header *h, const char *name, size_t n,
                                    enum stream_element element, struct imrec_error *err)
{
    struct text_lines lines;
    struct bytes line;
    text_lines_begin(&lines, (struct bytes){h->text, n}, 0, 0);
    while (text_lines_next(&lines, &line)) {
        struct stream_info s = {.element = element};
        line = text_trim(line);
        if (line.n == 0)
            continue;
        IMREC_TRY(read_line(h, name, lines.number, line, &s, err));
        IMREC_TRY(check_twins(h, name, &s, err));
        IMREC_TRY(add_stream(h, &s, name, err));
    }
    if (h->streams == 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%s names no input", name);
    return IMREC_OK;
}

/* ---- a configuration --------------------------------------------------------------------- */

/* Whether the first line that holds something is of no header file, and entries follow. */
static bool is_configuration(const struct ctf_header *h, size_t n)
{
    struct text_lines lines;
    struct bytes line = {h->text, 0};
    text_lines_begin(&lines, (struct bytes){h->text, n}, 0, 0);
    while (text_trim(line).n == 0)
        if (!text_lines_next(&lines, &line))
            return false;
    line = text_trim(line);
    for (int i = 0; i < 2; i++)
        (void)text_word(&line);
    const struct bytes storage = text_word(&line);
    return !is_word(storage, "dense") && !is_word(storage, "sparse") && memchr(h->text, '=', n);
}

static enum imrec_status parse(struct ctf_header *h, const struct imrec_convert_options *o,
                               size_t n, struct imrec_error *err)
{
    IMREC_TRY(imrec_minibatch_config_new(&h->config, err));
    h->config->any_file = true; /* it is o->input */
    if (o->action[0] != '\0')
        IMREC_TRY(config_choose_reader(h->config, o->action, err));
    return imrec_minibatch_config_parse(h->config, o->header, (const char *)h->text, n, err);
}

/* The inputs that a configuration describes, and how it reads them. */
static enum imrec_status read_configuration(struct ctf_header *h,
                                            const struct imrec_convert_options *o, size_t n,
                                            struct imrec_error *err)
{
    IMREC_TRY(parse(h, o, n, err));
    const struct imrec_minibatch_options *all = imrec_minibatch_config_options(h->config);
    const enum imrec_precision precision =
        o->precision == IMREC_PRECISION_DOUBLE ? o->precision : all->precision;
    if (all->deserializers != 1)
        return IMREC_REFUSE(err, "%s describes %" PRIu32 " files; inputs of one are wanted",
                            o->header, all->deserializers);
    const struct imrec_deserializer *d = all->deserializer;
    IMREC_TRY(corpus_check_text(d, err));
    for (uint32_t i = 0; i < d->streams; i++) {
        const struct stream_info info = corpus_described_stream(&d->stream[i], precision);
        IMREC_TRY(add_stream(h, &info, o->header, err));
    }
    h->skip_sequence_ids = d->skip_sequence_ids;
    h->ignore_unknown_inputs = d->ignore_unknown_inputs;
    h->frame_mode = d->frame_mode;
    h->max_errors = d->max_errors;
    return IMREC_OK;
}

/* ---- single inputs ----------------------------------------------------------------------- */

static struct stream_info *find_input(const struct ctf_header *h, struct bytes name)
{
    for (uint32_t i = 0; i < h->streams; i++)
        if (is_word(name, h->stream[i].name))
            return &h->stream[i];
    return NULL;
}

/* "x=double,y=float" */
static enum imrec_status
set_precisions(struct ctf_header *h, const struct imrec_convert_options *o, struct imrec_error *err)
{
    for (const char *p = o->precision_of; *p != '\0';) {
        const size_t n = strcspn(p, ","), name = strcspn(p, "=,");
        struct stream_info *s = find_input(h, (struct bytes){(const uint8_t *)p, name});
        if (name == n || s == NULL)
            return IMREC_REFUSE(err,
                                "precision_of: '%.*s' is not NAME=float or NAME=double of an "
                                "input of %s",
                                (int)(n < 80 ? n : 80), p, o->header);
        if (!element_of((struct bytes){(const uint8_t *)p + name + 1, n - name - 1}, &s->element))
            return IMREC_REFUSE(err, "precision_of: '%.*s' must say float or double",
                                (int)(n < 80 ? n : 80), p);
        p += n + (p[n] == ',');
    }
    return IMREC_OK;
}

static enum imrec_status
set_main(struct ctf_header *h, const char *name, const char *main_name, struct imrec_error *err)
{
    if (main_name[0] == '\0')
        return IMREC_OK;
    struct stream_info *found =
        find_input(h, (struct bytes){(const uint8_t *)main_name, strlen(main_name)});
    for (uint32_t i = 0; i < h->streams; i++)
        h->stream[i].defines_mb_size = &h->stream[i] == found;
    if (found != NULL)
        return IMREC_OK;
    return IMREC_REFUSE(err, "defines_mb_size names '%.64s', which is not an input of %s",
                        main_name, name);
}

enum imrec_status ctf_header_load(const struct imrec_convert_options *o, struct ctf_header *out,
                                  struct imrec_error *err)
{
    const enum stream_element element =
        o->precision == IMREC_PRECISION_DOUBLE ? STREAM_DOUBLE : STREAM_FLOAT;
    size_t n = 0;
    *out = (struct ctf_header){0};
    IMREC_TRY(source_load(o->header, HEADER_MAX, &out->text, &n, err));
    enum imrec_status st = is_configuration(out, n) ? read_configuration(out, o, n, err)
                                                    : read_lines(out, o->header, n, element, err);
    if (st == IMREC_OK && out->config == NULL && o->action[0] != '\0')
        st = IMREC_REFUSE(err, "action=%.60s chooses a reader of a configuration, and %s is none",
                          o->action, o->header);
    if (st == IMREC_OK)
        st = set_precisions(out, o, err);
    if (st == IMREC_OK)
        st = set_main(out, o->header, o->defines_mb_size, err);
    if (st != IMREC_OK)
        ctf_header_free(out);
    return st;
}

void ctf_header_free(struct ctf_header *h)
{
    imrec_minibatch_config_free(h->config);
    IMREC_FREE(h->stream, h->text);
    *h = (struct ctf_header){0};
}
