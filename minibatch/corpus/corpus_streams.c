/* minibatch/corpus/corpus_streams.c - the streams of a deserializer. */
#include "minibatch/corpus/corpus_streams.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/ctf/reader_config.h"

#include <inttypes.h>
#include <string.h>

int corpus_type(const char *name)
{
    static const struct {
        const char *name;
        int type;
    } types[] = {
        {"", CORPUS_BY_BYTES},
        {"CNTKTextFormatReader", CORPUS_TEXT},
        {"CNTKTextFormatDeserializer", CORPUS_TEXT},
        {"text", CORPUS_TEXT},
        {"CNTKBinaryReader", CORPUS_BINARY},
        {"CNTKBinaryFormatDeserializer", CORPUS_BINARY},
        {"CNTKBinaryDeserializer", CORPUS_BINARY},
        {"binary", CORPUS_BINARY},
    };
    for (size_t i = 0; name != NULL && i < sizeof(types) / sizeof(types[0]); i++)
        if (config_same_name(types[i].name, name))
            return types[i].type;
    return name == NULL ? CORPUS_BY_BYTES : -1;
}

#define BAD(...) IMREC_REFUSE(err, __VA_ARGS__)

static const char *alias_of(const struct imrec_stream *s)
{
    return s->alias != NULL && s->alias[0] != '\0' ? s->alias : s->name;
}

/* ---- descriptions ------------------------------------------------------------------------ */

static enum imrec_status check_names(const struct imrec_deserializer *d, struct imrec_error *err)
{
    for (uint32_t i = 0; i < d->streams; i++) {
        const struct imrec_stream *s = &d->stream[i];
        if (s->name == NULL || s->name[0] == '\0')
            return BAD("the name of input %" PRIu32 " is empty", i);
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(s->name, d->stream[k].name) == 0)
                return BAD("input '%.60s' is described twice", s->name);
            if (strcmp(alias_of(s), alias_of(&d->stream[k])) == 0)
                return BAD("alias '%.60s' is that of input '%.60s' and of input '%.60s'; each "
                           "input needs its own",
                           alias_of(s), d->stream[k].name, s->name);
        }
    }
    return IMREC_OK;
}

static enum imrec_status check_text_stream(const struct imrec_stream *s, struct imrec_error *err)
{
    const char *alias = alias_of(s);
    if (!s->storage_given)
        return BAD("format of input '%.60s' is missing: dense or sparse", s->name);
    if (s->dim == 0)
        return BAD(
            "dim of input '%.60s' is missing: the number of values of a dense sample, or the "
            "bound of sparse indices",
            s->name);
    if (s->dim > INT32_MAX)
        return BAD("dim of input '%.60s' is %" PRIu32 "; it must be in [1, %d]", s->name, s->dim,
                   INT32_MAX);
    if (strpbrk(alias, " \t\r\n|") != NULL || alias[0] == '#')
        return BAD(
            "alias '%.60s' of input '%.60s' cannot be a name in a text: a name has no blank and "
            "no pipe, and does not begin with '#'",
            alias, s->name);
    return IMREC_OK;
}

static enum stream_element element_of(const struct imrec_stream *s, enum imrec_precision others)
{
    return (s->precision_given ? s->precision : others) == IMREC_PRECISION_DOUBLE ? STREAM_DOUBLE
                                                                                  : STREAM_FLOAT;
}

struct stream_info
corpus_described_stream(const struct imrec_stream *s, enum imrec_precision others)
{
    return (struct stream_info){
        .name = s->name,
        .alias = alias_of(s),
        .storage = s->storage == IMREC_SPARSE ? STREAM_SPARSE : STREAM_DENSE,
        .element = element_of(s, others),
        .dim = s->dim,
        .defines_mb_size = s->defines_mb_size,
    };
}

enum imrec_status corpus_check_text(const struct imrec_deserializer *d, struct imrec_error *err)
{
    if (d->streams == 0)
        return BAD("%.200s: input is missing: a text's streams must be described, as by "
                   "input.features.format=dense input.features.dim=784",
                   d->file != NULL ? d->file : "a reader");
    for (uint32_t i = 0; i < d->streams; i++)
        IMREC_TRY(check_text_stream(&d->stream[i], err));
    return check_names(d, err);
}

/* ---- headers ----------------------------------------------------------------------------- */

static struct stream_info *find_alias(struct corpus *c, const char *alias)
{
    for (uint32_t i = 0; i < c->streams; i++)
        if (strcmp(c->stream[i].alias, alias) == 0)
            return &c->stream[i];
    return NULL;
}

static enum imrec_status
rename_stream(struct corpus *c, const struct imrec_stream *s, struct imrec_error *err)
{
    static const char *const words[] = {"dense", "sparse"};
    struct stream_info *found = find_alias(c, alias_of(s));
    const char *file = c->file[0].name;
    if (found == NULL)
        return BAD("%.200s: there is no stream '%.60s', which input '%.60s' asks for; the first "
                   "one is '%.60s'",
                   file, alias_of(s), s->name, c->streams > 0 ? c->stream[0].alias : "");
    if (s->storage_given && (s->storage == IMREC_SPARSE) != (found->storage == STREAM_SPARSE))
        return BAD("%.200s: stream '%.60s' is %s, input '%.60s' says %s", file, found->alias,
                   words[found->storage], s->name, words[s->storage]);
    if (s->dim != 0 && s->dim != found->dim)
        return BAD("%.200s: stream '%.60s' has dim %" PRIu32 ", input '%.60s' says %" PRIu32, file,
                   found->alias, found->dim, s->name, s->dim);
    found->name = s->name;
    found->element = element_of(s, c->precision);
    found->defines_mb_size = s->defines_mb_size;
    return IMREC_OK;
}

static enum imrec_status take_binary(struct corpus *c, struct imrec_error *err)
{
    const struct cbf_header *h = &c->file[0].head;
    const enum stream_element element =
        c->precision == IMREC_PRECISION_DOUBLE ? STREAM_DOUBLE : STREAM_FLOAT;
    for (uint32_t i = 0; i < h->streams; i++) {
        c->stream[i] = h->stream[i];
        c->stream[i].element = element;
    }
    for (uint32_t i = 0; i < c->o.streams; i++)
        IMREC_TRY(rename_stream(c, &c->o.stream[i], err));
    for (uint32_t i = 0; i < c->streams; i++)
        for (uint32_t k = 0; k < i && c->streams <= 4096; k++)
            if (strcmp(c->stream[i].name, c->stream[k].name) == 0)
                return BAD("%.200s: two streams are called '%.60s'; rename one by an alias",
                           c->file[0].name, c->stream[i].name);
    return IMREC_OK;
}

enum imrec_status corpus_take_streams(struct corpus *c, struct imrec_error *err)
{
    const uint32_t n = c->text ? c->o.streams : c->file[0].head.streams;
    IMREC_TRY(check_names(&c->o, err));
    c->stream = imrec_zalloc(n > 0 ? n : 1, sizeof(*c->stream));
    if (c->stream == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %" PRIu32 " streams", n);
    c->streams = n;
    for (uint32_t i = 0; i < n && c->text; i++)
        c->stream[i] = corpus_described_stream(&c->o.stream[i], c->precision);
    IMREC_TRY(c->text ? corpus_check_text(&c->o, err) : take_binary(c, err));
    for (uint32_t i = 0; i < c->streams; i++) {
        if (!c->stream[i].defines_mb_size)
            continue;
        if (c->defining != UINT32_MAX)
            return BAD("definesMBSize is set for input '%.60s' and for input '%.60s'; one stream "
                       "only can define the minibatch size",
                       c->stream[c->defining].name, c->stream[i].name);
        c->defining = i;
    }
    return IMREC_OK;
}

enum imrec_status
corpus_same_streams(const struct corpus *c, const struct corpus_file *f, struct imrec_error *err)
{
    const struct corpus_file *first = &c->file[0];
    if (f->head.streams != first->head.streams)
        return BAD("%.200s has %" PRIu32 " streams, %.200s has %" PRIu32
                   "; files of one corpus need the same",
                   f->name, f->head.streams, first->name, first->head.streams);
    for (uint32_t i = 0; i < f->head.streams; i++) {
        const struct stream_info *a = &first->head.stream[i], *b = &f->head.stream[i];
        if (strcmp(a->alias, b->alias) != 0 || a->dim != b->dim || a->storage != b->storage)
            return BAD("stream %" PRIu32 " of %.160s is '%.60s' with dim %" PRIu32
                       ", of %.160s '%.60s' with dim %" PRIu32
                       "; files of one corpus need the same",
                       i, first->name, a->alias, a->dim, f->name, b->alias, b->dim);
    }
    return IMREC_OK;
}

struct imrec_stream corpus_listed_stream(const struct stream_info *s)
{
    return (struct imrec_stream){
        .name = s->name,
        .alias = s->alias,
        .storage = s->storage == STREAM_SPARSE ? IMREC_SPARSE : IMREC_DENSE,
        .dim = s->dim,
        .storage_given = true,
        .defines_mb_size = s->defines_mb_size,
        .precision = s->element == STREAM_DOUBLE ? IMREC_PRECISION_DOUBLE : IMREC_PRECISION_FLOAT,
        .precision_given = true,
    };
}
