/* storage/wire/object_check.c - whether an answer is what was asked for, of the version that was
 * opened. */
#include "storage/wire/object_read.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

static enum imrec_status
not_as_asked(const struct wire_object *o, const struct wire_job *job, struct imrec_error *err)
{
    const struct wire_range *r = &job->range;
    if (!r->given)
        return imrec_error_at(err, IMREC_ERR_IO, job->begin,
                              "%s: the server sends bytes of a range and does not say which "
                              "(Content-Range)",
                              o->shown);
    return imrec_error_at(err, IMREC_ERR_IO, job->begin,
                          "%s: the server sends bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64
                          ", not %" PRIu64 " to %" PRIu64 " of %" PRIu64 " as asked",
                          o->shown, r->begin, r->end - 1, r->total, job->begin, job->end - 1,
                          o->size);
}

enum imrec_status
object_changed(const struct wire_object *o, uint64_t offset, struct imrec_error *err)
{
    const enum imrec_status st = imrec_error_at(
        err, IMREC_ERR_IO, offset,
        "%s: it is another version than the one that was %s (%s%s%" PRIu64
        " bytes); nothing of the other is used",
        o->shown, o->listed ? "listed" : "opened", o->etag[0] != '\0' ? o->etag : o->modified,
        o->etag[0] != '\0' || o->modified[0] != '\0' ? ", " : "", o->size);
    imrec_error_errno(err, ESTALE);
    return st;
}

/* The list has said another size of the same version. */
static enum imrec_status
other_size(const struct wire_object *o, const struct wire_job *job, struct imrec_error *err)
{
    const enum imrec_status st = imrec_error_at(err, IMREC_ERR_IO, job->begin,
                                                "%s: has %" PRIu64 " bytes, and %" PRIu64
                                                " where it was listed; nothing of it is used",
                                                o->shown, job->range.total, o->size);
    imrec_error_errno(err, ESTALE);
    return st;
}

static bool is_same(const char *pinned, const char *now)
{
    return pinned[0] == '\0' || now[0] == '\0' || strcmp(pinned, now) == 0;
}

enum imrec_status object_refuse_encoding(const struct wire_object *o, const struct wire_job *job,
                                         struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, job->begin,
                          "%s: the server sends it in the encoding '%s'; identity is right, as "
                          "ranges of other bytes mean nothing",
                          o->shown, job->encoding);
}

bool object_is_encoded(const struct wire_job *job)
{
    return job->encoding[0] != '\0' && strcasecmp(job->encoding, "identity") != 0;
}

enum imrec_status
object_no_ranges(const struct wire_object *o, const struct wire_job *job, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, job->begin,
                          "%s: the server sends all of it when it is asked for a range of bytes; "
                          "one that serves ranges is needed for more than %d bytes",
                          o->shown, OBJECT_HEAD_BYTES);
}

enum imrec_status object_check(const struct wire_object *o, const struct wire_job *job,
                               const struct wire_retry *retry, struct imrec_error *err)
{
    const bool resized =
        job->range.given && job->range.total != UINT64_MAX && job->range.total != o->size;
    const bool same = is_same(o->etag, job->etag) && is_same(o->modified, job->modified);
    if (o->listed && resized && same && (job->status == 206 || job->status == 416))
        return other_size(o, job, err);
    if (job->status == 412 || job->status == 416)
        return object_changed(o, job->begin, err);
    if (job->status == 200)
        return object_no_ranges(o, job, err);
    if (job->status != 206 || job->outcome != WIRE_ANSWERED)
        return wire_error(job, o->shown, job->begin, retry, err);
    if (object_is_encoded(job))
        return object_refuse_encoding(o, job, err);
    if (!same || resized)
        return object_changed(o, job->begin, err);
    if (!job->range.given || job->range.begin != job->begin || job->range.end != job->end ||
        job->got != job->end - job->begin)
        return not_as_asked(o, job, err);
    return IMREC_OK;
}
