/* im2rec/set/run_ends.c */
#include "im2rec/set/run_ends.h"

#include "base/error.h"
#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "'a.jpg': "; nothing of a line that has no path: the reason names list and line. */
static const char *named_as(struct bytes path, const char *before, char out[128])
{
    out[0] = '\0';
    if (path.n != 0)
        snprintf(out, 128, "%s%s: ", before, text_quote(path).s);
    return out;
}

enum imrec_status end_stopped_at(const struct report_line *l, struct imrec_error *err)
{
    char named[128];
    return imrec_fail(err, IMREC_ERR_DATA, "%s%s; on_error=skip packs the others",
                      named_as(l->path, "", named), l->why);
}

enum imrec_status end_none_packed(const struct tally *t, struct imrec_error *err)
{
    const struct imrec_pack_skip *first = &t->first[0];
    const struct bytes path = {(const uint8_t *)first->path, strlen(first->path)};
    char named[128];
    if (t->reasons[REASON_OUTSIDE] == t->skipped)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "none of %" PRIu64 " images could be packed: they lie in no class "
                          "folder, which class_from=flat allows",
                          t->skipped);
    return imrec_fail(err, IMREC_ERR_DATA,
                      "none of %" PRIu64 " images could be packed; the first%s%s", t->skipped,
                      path.n != 0 ? named_as(path, ", ", named) : ": ", first->reason);
}

enum imrec_status end_too_many(const struct tally *t, const char *max_skipped, uint64_t most,
                               const char *hint, const struct report_line *last,
                               struct imrec_error *err)
{
    char named[128] = "";
    if (last != NULL && last->path.n != 0)
        (void)named_as(last->path, "; the last, ", named);
    else if (last != NULL)
        snprintf(named, sizeof(named), "; the last: ");
    return imrec_fail(err, IMREC_ERR_DATA,
                      "%" PRIu64 " images are skipped, max_skipped=%.64s allows %" PRIu64
                      "%s%s%.200s",
                      t->skipped, max_skipped, most, hint, named, last != NULL ? last->why : "");
}
