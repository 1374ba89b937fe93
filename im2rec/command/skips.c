/* im2rec/command/skips.c */
#include "im2rec/command/skips.h"

#include "cli/human.h"
#include "im2rec/item/skip_report.h"

#include <inttypes.h>
#include <string.h>

/* Text out of files, so that it does nothing to a terminal. */
static void put_text(FILE *out, const char *text)
{
    struct buf safe = BUF_INIT(16 * sizeof(((struct imrec_pack_skip *)0)->path));
    const struct bytes b = {(const uint8_t *)text, strlen(text)};
    if (report_text(&safe, b, NULL) == IMREC_OK && safe.n != 0)
        fwrite(safe.p, 1, safe.n, out);
    buf_free(&safe);
}

static void put_one(FILE *out, const char *name, const struct imrec_pack_skip *s)
{
    fprintf(out, "%s: skipped", name);
    if (s->path[0] != '\0') { /* else the reason names list and line */
        fputc(' ', out);
        if (s->line != 0)
            fprintf(out, "line %" PRIu64 ", ", s->line);
        put_text(out, s->path);
    }
    fputs(": ", out);
    put_text(out, s->reason);
    fputc('\n', out);
}

void skips_print(FILE *out, const char *name, const struct imrec_pack_result *r, const char *report)
{
    char n[HUMAN_BYTES], all[HUMAN_THINGS];
    if (r->skipped == 0)
        return;
    for (uint32_t i = 0; i < r->first_skip_count; i++)
        put_one(out, name, &r->first_skips[i]);
    fprintf(out, "%s: %s of %s skipped:", name, human_count(r->skipped, n),
            human_things(r->total, "image", all));
    for (uint32_t i = 0; i < r->reason_count; i++)
        fprintf(out, "%s %s %s", i != 0 ? "," : "", human_count(r->reasons[i].count, n),
                r->reasons[i].name);
    if (report[0] != '\0')
        fprintf(out, "; %s has all of them", report);
    else if (r->skipped > r->first_skip_count)
        fputs("; --report FILE writes all of them", out);
    fputc('\n', out);
}
