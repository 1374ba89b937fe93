/* im2rec/list_files.c */
#include "im2rec/list_files.h"

#include "base/error.h"
#include "formats/set/image_list.h"
#include "formats/set/set_names.h"
#include "im2rec/item/skip_report.h"
#include "im2rec/set/set_files.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
    uint64_t begin, end;
};

struct lists {
    const struct scan *scan;
    const struct imrec_pack_options *o;
    char prefix[NAME_BYTES];
    struct imrec_pack_result *out;
    struct buf line;
    bool looking; /* whether a list is in the way, before the first one is written */
};

/* A ratio as it was written: 0.7 in 32 bits is a little less than 0.7, and 7 of 10 became 6. */
static double as_written(float ratio)
{
    char text[32];
    snprintf(text, sizeof(text), "%.7g", (double)ratio);
    return strtod(text, NULL);
}

static enum imrec_status
put_lines(struct lists *l, struct range r, struct sink *to, struct imrec_error *err)
{
    char path[IMAGE_PATH_MAX];
    for (uint64_t i = r.begin; i < r.end; i++) {
        const struct scan_file *f = l->scan->files[i];
        const float label = (float)l->scan->folders[f->folder].class_index;
        scan_path(l->scan, f, path);
        const struct image_list_entry e = {f->id, &label, 1, {(const uint8_t *)path, strlen(path)}};
        l->line.n = 0;
        IMREC_TRY(image_list_write(&l->line, &e, err));
        IMREC_TRY(sink_append(to, l->line.p, l->line.n, err));
    }
    return IMREC_OK;
}

static enum imrec_status write_list(struct lists *l, const char *chunk, const char *what,
                                    struct range r, struct imrec_error *err)
{
    char name[NAME_BYTES];
    struct sink *to;
    const int n = snprintf(name, sizeof(name), "%s%s%s.lst", l->prefix, chunk, what);
    if (n < 0 || (size_t)n >= sizeof(name))
        return IMREC_REFUSE(err, "the name of the list is longer than %d bytes", NAME_BYTES - 1);
    if (!l->o->force)
        IMREC_TRY(set_refuse_old(name, err));
    if (l->looking)
        return IMREC_OK;
    IMREC_TRY(sink_open(name, &to, err));
    const enum imrec_status st = put_lines(l, r, to, err);
    if (st != IMREC_OK) {
        sink_abort(to);
        return st;
    }
    l->out->lists++;
    return sink_commit(to, err);
}

static struct range piece(struct range r, uint64_t begin, uint64_t end)
{
    const uint64_t n = r.end - r.begin;
    return (struct range){r.begin + (begin < n ? begin : n), r.begin + (end < n ? end : n)};
}

/* As MXNet, cuts a chunk into test, train and val, in this order. */
static enum imrec_status write_chunk(struct lists *l, const char *chunk, struct range r,
                                     uint64_t chunk_size, struct imrec_error *err)
{
    const double train = as_written(l->o->train_ratio), test = as_written(l->o->test_ratio);
    const uint64_t a = (uint64_t)((double)chunk_size * test),
                   b = a + (uint64_t)((double)chunk_size * train);
    if (train == 1)
        return write_list(l, chunk, "", r, err);
    if (test > 0)
        IMREC_TRY(write_list(l, chunk, "_test", piece(r, 0, a), err));
    if (train + test < 1)
        IMREC_TRY(write_list(l, chunk, "_val", piece(r, b, r.end - r.begin), err));
    return write_list(l, chunk, "_train", piece(r, a, b), err);
}

static enum imrec_status write_chunks(struct lists *l, struct imrec_error *err)
{
    const uint64_t n = l->scan->file_count, chunks = (uint64_t)l->o->chunks;
    const uint64_t size = n / chunks + (n % chunks != 0);
    char chunk[32] = "";
    for (uint64_t i = 0; i < chunks; i++) {
        const uint64_t begin = i != 0 && size > n / i ? n : i * size;
        const struct range r = {begin, n - begin < size ? n : begin + size};
        if (chunks > 1)
            snprintf(chunk, sizeof(chunk), "_%" PRIu64, i);
        IMREC_TRY(write_chunk(l, chunk, r, size, err));
    }
    return IMREC_OK;
}

static enum imrec_status
write_classes(struct lists *l, const struct job *j, struct imrec_error *err)
{
    char name[NAME_BYTES];
    set_name(l->prefix, SET_CLASSES, name);
    if (!l->o->force)
        IMREC_TRY(set_refuse_old(name, err));
    return l->looking ? IMREC_OK : set_write_classes(name, j, true, err);
}

static enum imrec_status
write_report(const struct scan *s, const char *name, struct imrec_error *err)
{
    struct buf line = BUF_INIT((size_t)1 << 20);
    struct sink *to;
    IMREC_TRY(sink_open(name, &to, err));
    enum imrec_status st = IMREC_OK;
    for (size_t i = 0; i < s->skip_count && st == IMREC_OK; i++) {
        const struct report_line l =
            report_line_of(s->skips[i].path, s->skips[i].why, s->skips[i].reason);
        line.n = 0;
        st = report_write(&line, &l, err);
        if (st == IMREC_OK)
            st = buf_append(&line, "\n", 1, err);
        if (st == IMREC_OK)
            st = sink_append(to, line.p, line.n, err);
    }
    buf_free(&line);
    if (st != IMREC_OK) {
        sink_abort(to);
        return st;
    }
    return sink_commit(to, err);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), k = strlen(end);
    return n > k && strcmp(text + n - k, end) == 0;
}

static void note_skips(const struct scan *s, struct tally *t)
{
    struct buf line = BUF_INIT((size_t)1 << 20);
    for (size_t i = 0; i < s->skip_count && i < IMREC_PACK_SKIPS; i++) {
        const struct report_line l =
            report_line_of(s->skips[i].path, s->skips[i].why, s->skips[i].reason);
        line.n = 0;
        if (report_write(&line, &l, NULL) == IMREC_OK)
            tally_note_skip(t, (struct bytes){line.p, line.n});
    }
    buf_free(&line);
}

static void count(const struct job *j, struct imrec_pack_result *out)
{
    const struct scan *s = &j->scan;
    const struct class_list *classes = job_classes(j);
    struct tally t;
    if (tally_init(&t, classes != NULL ? classes->count : 0, NULL) != IMREC_OK)
        return; /* the lists are written: only the card stays empty */
    for (size_t i = 0; i < s->skip_count; i++)
        tally_add(&t, &(struct outcome){.reason = s->skips[i].reason});
    note_skips(s, &t);
    for (size_t i = 0; i < s->file_count; i++)
        tally_add(&t,
                  &(struct outcome){.class_index = s->folders[s->files[i]->folder].class_index});
    tally_result(&t, out);
    out->packed = 0;
    tally_free(&t);
}

enum imrec_status lists_write(const struct job *j, const struct imrec_pack_task *task,
                              const struct imrec_pack_options *o, struct imrec_pack_result *out,
                              struct imrec_error *err)
{
    struct lists l = {.scan = &j->scan, .o = o, .out = out, .line = BUF_INIT((size_t)1 << 20)};
    const size_t n = strlen(task->out);
    if (n + 64 > sizeof(l.prefix))
        return IMREC_REFUSE(err, "the name of the output is longer than %zu bytes",
                            sizeof(l.prefix) - 64);
    memcpy(l.prefix, task->out, n + 1);
    if (ends_with(l.prefix, ".lst") || ends_with(l.prefix, ".rec"))
        l.prefix[n - 4] = '\0';
    count(j, out);
    enum imrec_status st = IMREC_OK;
    if (j->scan.file_count == 0)
        st = job_nothing(j, task, o, err);
    for (int pass = 0; pass < 2; pass++) {
        l.looking = pass == 0;
        if (st == IMREC_OK)
            st = write_chunks(&l, err);
        if (st == IMREC_OK)
            st = write_classes(&l, j, err);
    }
    if (st == IMREC_OK && o->report[0] != '\0')
        st = write_report(&j->scan, o->report, err);
    buf_free(&l.line);
    return st;
}
