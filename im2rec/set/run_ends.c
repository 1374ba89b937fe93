/* im2rec/set/run_ends.c */
#include "im2rec/set/run_ends.h"

#include "base/error.h"
#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum imrec_status end_stopped_at(const struct report_line *l, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_DATA, "%s: %s; on_error=skip packs the others",
                      text_quote(l->path).s, l->why);
}

enum imrec_status end_none_packed(const struct tally *t, struct imrec_error *err)
{
    const struct imrec_pack_skip *first = &t->first[0];
    const struct bytes path = {(const uint8_t *)first->path, strlen(first->path)};
    if (t->reasons[REASON_OUTSIDE] == t->skipped)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "none of %" PRIu64 " images could be packed: they lie in no class "
                          "folder, which class_from=flat allows",
                          t->skipped);
    return imrec_fail(err, IMREC_ERR_DATA,
                      "none of %" PRIu64 " images could be packed; the first, %s: %s", t->skipped,
                      text_quote(path).s, first->reason);
}

enum imrec_status end_too_many(const struct tally *t, const char *max_skipped, uint64_t most,
                               const char *hint, const struct report_line *last,
                               struct imrec_error *err)
{
    char named[128] = "";
    if (last != NULL)
        snprintf(named, sizeof(named), "; the last, %s: ", text_quote(last->path).s);
    return imrec_fail(err, IMREC_ERR_DATA,
                      "%" PRIu64 " images are skipped, max_skipped=%.64s allows %" PRIu64
                      "%s%s%.200s",
                      t->skipped, max_skipped, most, hint, named, last != NULL ? last->why : "");
}
