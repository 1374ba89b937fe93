/* im2rec/command/summary.c - what im2rec says at its end. */
#include "im2rec/command/summary.h"

#include "cli/human.h"
#include "cli/json.h"
#include "cli/show.h"

#include <inttypes.h>

static double rate(const struct imrec_pack_result *r, double seconds)
{
    return (double)(r->packed + r->skipped - r->resumed) / (seconds > 1e-9 ? seconds : 1e-9);
}

/* ---- for people ------------------------------------------------------------------------- */

static void counts(FILE *out, const char *what, const struct imrec_pack_count *c, uint32_t n)
{
    char number[HUMAN_BYTES];
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "%-10s %10s  %s\n", i == 0 ? what : "", human_count(c[i].count, number),
                c[i].name);
}

static void sizes(FILE *out, const struct imrec_pack_result *r)
{
    if (r->height.most != 0)
        fprintf(out,
                "sizes      width %" PRIu32 " to %" PRIu32 " px, median %" PRIu32
                "; height %" PRIu32 " to %" PRIu32 " px, median %" PRIu32 "\n",
                r->width.least, r->width.most, r->width.median, r->height.least, r->height.most,
                r->height.median);
}

static void classes(FILE *out, const struct imrec_pack_result *r)
{
    char n[HUMAN_BYTES], least[HUMAN_BYTES], most[HUMAN_BYTES];
    if (r->classes != 0)
        fprintf(out, "classes    %10s  of %s to %s images\n", human_count(r->classes, n),
                human_count(r->class_least, least), human_count(r->class_most, most));
}

static void shards(FILE *out, const struct imrec_pack_result *r)
{
    char n[HUMAN_BYTES], bytes[HUMAN_BYTES], files[HUMAN_BYTES];
    if (r->shards != 0)
        fprintf(out, "shards     %10s  of together %s, out of files of %s\n",
                human_count(r->shards, n), human_size(r->bytes, bytes),
                human_size(r->file_bytes, files));
    if (r->lists != 0)
        fprintf(out, "lists      %10s\n", human_count(r->lists, n));
}

void summary_card(FILE *out, const char *name, const struct imrec_pack_result *r, double seconds)
{
    char n[HUMAN_THINGS], warnings[HUMAN_THINGS], time[HUMAN_BYTES];
    if (r->was_complete) {
        fprintf(out, "%s is complete already: %s; nothing was left to do\n", cli_show(name),
                human_things(r->packed, "image", n));
        return;
    }
    fprintf(out, "%s\n", cli_show(name));
    if (r->lists == 0) {
        fprintf(out, "packed     %10s  in %s, %.0f images/s\n", human_count(r->packed, n),
                human_seconds(seconds, time), rate(r, seconds));
        if (r->resumed != 0)
            fprintf(out, "           %10s  of them by earlier runs\n", human_count(r->resumed, n));
    } else {
        fprintf(out, "images   %10s\n", human_count(r->total - r->skipped, n));
    }
    shards(out, r);
    classes(out, r);
    sizes(out, r);
    counts(out, "kinds", r->kinds, r->kind_count);
    if (r->rewritten != 0)
        fprintf(out,
                "rewritten  %10s  JPEGs, without loss; the others have the bytes of their files\n",
                human_count(r->rewritten, n));
    if (r->mended != 0)
        fprintf(out, "mended     %10s  with %s of the decoder\n", human_count(r->mended, n),
                human_things(r->warnings, "warning", warnings));
    counts(out, "skipped", r->reasons, r->reason_count);
    if (r->other_files != 0)
        fprintf(out, "other      %10s  files whose names are not those of images\n",
                human_count(r->other_files, n));
}

/* ---- for programs ----------------------------------------------------------------------- */

static void
json_counts(struct json *j, const char *key, const struct imrec_pack_count *c, uint32_t n)
{
    json_object(j, key);
    for (uint32_t i = 0; i < n; i++)
        json_uint(j, c[i].name, c[i].count);
    json_end(j);
}

static void json_range(struct json *j, const char *key, const struct imrec_pack_range *r)
{
    json_object(j, key);
    JSON_UINTS(j, {"min", r->least}, {"median", r->median}, {"max", r->most});
    json_end(j);
}

void summary_json(FILE *out, const struct imrec_pack_result *r, double seconds)
{
    struct json j;
    json_begin(&j, out);
    JSON_UINTS(&j, {"packed", r->packed}, {"skipped", r->skipped});
    json_real(&j, "seconds", seconds);
    json_real(&j, "images_per_s", rate(r, seconds));
    JSON_UINTS(
        &j, {"bytes", r->bytes}, {"shards", r->shards}, {"lists", r->lists}, {"total", r->total},
        {"resumed", r->resumed}, {"mended", r->mended}, {"warnings", r->warnings},
        {"file_bytes", r->file_bytes}, {"rewritten", r->rewritten}, {"other_files", r->other_files},
        {"classes", r->classes}, {"class_min", r->class_least}, {"class_max", r->class_most});
    json_range(&j, "width_px", &r->width);
    json_range(&j, "height_px", &r->height);
    json_counts(&j, "kinds", r->kinds, r->kind_count);
    json_counts(&j, "skipped_by_reason", r->reasons, r->reason_count);
    json_bool(&j, "was_complete", r->was_complete);
    json_end(&j);
    json_close(&j);
}
