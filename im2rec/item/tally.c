/* im2rec/item/tally.c */
#include "im2rec/item/tally.h"

#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/item/skip_report.h"

#include <stdio.h>
#include <string.h>

#define SIZES 65536u /* the last counter holds everything from there on */

enum imrec_status tally_init(struct tally *t, uint64_t classes, struct imrec_error *err)
{
    *t = (struct tally){.class_count = classes};
    t->sizes = imrec_zalloc(SIZES, 2 * sizeof(*t->sizes));
    t->classes = imrec_zalloc((size_t)classes + 1, sizeof(*t->classes));
    if (t->sizes == NULL || t->classes == NULL) {
        tally_free(t);
        return IMREC_NO_MEMORY(err, "no memory for counting");
    }
    return IMREC_OK;
}

void tally_free(struct tally *t)
{
    IMREC_FREE(t->sizes, t->classes);
    *t = (struct tally){0};
}

static void count_kind(struct tally *t, const char *kind, bool encoded)
{
    uint32_t i = 0;
    while (i < t->kind_count && strcmp(t->kinds[i].name, kind) != 0)
        i++;
    if (i == IMREC_PACK_KINDS)
        return;
    if (i == t->kind_count) {
        snprintf(t->kinds[i].name, sizeof(t->kinds[i].name), "%s", kind);
        t->kind_count++;
    }
    t->kinds[i].count++;
    t->encoded[i] += encoded;
}

static void count_size(uint64_t *sizes, uint32_t px)
{
    sizes[px < SIZES ? px : SIZES - 1]++;
}

void tally_add(struct tally *t, const struct outcome *o)
{
    t->reasons[o->reason]++;
    if (o->reason != REASON_NONE) {
        t->skipped++;
        return;
    }
    t->packed++;
    t->mended += o->warnings != 0;
    t->warnings += o->warnings;
    t->file_bytes += o->file_bytes;
    t->unlabelled += o->unlabelled;
    t->rewritten += o->rewritten;
    if (o->kind[0] != '\0')
        count_kind(t, o->kind, o->encoded);
    if (o->width != 0) {
        count_size(t->sizes, o->width);
        count_size(t->sizes + SIZES, o->height);
    }
    if (o->class_index >= 0 && (uint64_t)o->class_index < t->class_count)
        t->classes[o->class_index]++;
}

void tally_note_skip(struct tally *t, struct bytes report_line)
{
    if (t->first_count < IMREC_PACK_SKIPS && report_read(report_line, &t->first[t->first_count]))
        t->first_count++;
}

static struct imrec_pack_range range_of(const uint64_t *sizes)
{
    struct imrec_pack_range r = {0};
    uint64_t total = 0, seen = 0;
    for (uint32_t i = 0; i < SIZES; i++)
        total += sizes[i];
    for (uint32_t i = 0; i < SIZES; i++) {
        if (sizes[i] == 0)
            continue;
        if (seen == 0)
            r.least = i;
        if (seen <= (total - 1) / 2)
            r.median = i;
        r.most = i;
        seen += sizes[i];
    }
    return r;
}

/* By count, most first; equal ones by name, so that the order says nothing of the run. */
static void sort_counts(struct imrec_pack_count *c, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0; k--) {
            const bool up = c[k].count > c[k - 1].count ||
                            (c[k].count == c[k - 1].count && strcmp(c[k].name, c[k - 1].name) < 0);
            if (!up)
                break;
            const struct imrec_pack_count keep = c[k];
            c[k] = c[k - 1];
            c[k - 1] = keep;
        }
}

static void classes_of(const struct tally *t, struct imrec_pack_result *out)
{
    out->classes = t->class_count;
    for (uint64_t i = 0; i < t->class_count; i++) {
        const uint64_t n = t->classes[i];
        if (i == 0 || n < out->class_least)
            out->class_least = n;
        if (n > out->class_most)
            out->class_most = n;
    }
}

void tally_result(const struct tally *t, struct imrec_pack_result *out)
{
    out->packed = t->packed;
    out->skipped = t->skipped;
    out->mended = t->mended;
    out->warnings = t->warnings;
    out->file_bytes = t->file_bytes;
    out->unlabelled = t->unlabelled;
    out->rewritten = t->rewritten;
    out->width = range_of(t->sizes);
    out->height = range_of(t->sizes + SIZES);
    classes_of(t, out);
    memcpy(out->kinds, t->kinds, sizeof(out->kinds));
    out->kind_count = t->kind_count;
    sort_counts(out->kinds, out->kind_count);
    out->encoded_count = 0;
    for (uint32_t i = 0; i < t->kind_count; i++)
        if (t->encoded[i] != 0) {
            out->encoded[out->encoded_count] = t->kinds[i];
            out->encoded[out->encoded_count++].count = t->encoded[i];
        }
    sort_counts(out->encoded, out->encoded_count);
    out->reason_count = 0;
    for (int r = 1; r < REASON_COUNT; r++)
        if (t->reasons[r] != 0) {
            struct imrec_pack_count *c = &out->reasons[out->reason_count++];
            snprintf(c->name, sizeof(c->name), "%s", reason_word((enum reason)r));
            c->count = t->reasons[r];
        }
    sort_counts(out->reasons, out->reason_count);
    memcpy(out->first_skips, t->first, sizeof(out->first_skips));
    out->first_skip_count = t->first_count;
}
