/* container/walk/cbf_file.c */
#include "container/walk/cbf_file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void cbf_file_blame(const char *name, enum imrec_status st, struct imrec_error *err)
{
    char why[sizeof(err->message)], said[sizeof(err->message)];
    if (err == NULL || (st != IMREC_ERR_CORRUPT && st != IMREC_ERR_UNSUPPORTED) ||
        err->offset == IMREC_NO_OFFSET)
        return;
    memcpy(why, err->message, sizeof(why));
    snprintf(said, sizeof(said), "%.200s: byte %" PRIu64 ": %.250s", name, err->offset, why);
    shown_copy(err->message, sizeof(err->message), said);
    imrec_error_file(err, name);
}

static enum imrec_status
has_magic(struct source *in, uint64_t at, bool *out, struct imrec_error *err)
{
    uint8_t magic[8];
    *out = false;
    if (in->size < sizeof(magic) || at > in->size - sizeof(magic))
        return IMREC_OK;
    IMREC_TRY(source_read(in, at, magic, sizeof(magic), err));
    *out = cbf_is_magic((struct bytes){magic, sizeof(magic)});
    return IMREC_OK;
}

enum imrec_status cbf_file_is(struct source *in, bool *out, struct imrec_error *err)
{
    uint8_t tail[CBF_TAIL_BYTES];
    uint64_t header = 0;
    IMREC_TRY(has_magic(in, 0, out, err));
    if (*out || in->size < sizeof(tail))
        return IMREC_OK;
    IMREC_TRY(source_read(in, in->size - sizeof(tail), tail, sizeof(tail), err));
    return cbf_header_offset(tail, in->size, &header, NULL) == IMREC_OK
               ? has_magic(in, header, out, err)
               : IMREC_OK;
}

static enum imrec_status find_header(struct source *in, uint64_t *offset, struct imrec_error *err)
{
    uint8_t prefix[CBF_PREFIX_BYTES], tail[CBF_TAIL_BYTES] = {0};
    const size_t n = in->size < sizeof(prefix) ? (size_t)in->size : sizeof(prefix);
    IMREC_TRY(source_read(in, 0, prefix, n, err));
    IMREC_TRY(cbf_check_prefix((struct bytes){prefix, n}, err));
    if (in->size >= sizeof(tail))
        IMREC_TRY(source_read(in, in->size - sizeof(tail), tail, sizeof(tail), err));
    return cbf_header_offset(tail, in->size, offset, err);
}

enum imrec_status cbf_file_header(struct source *in, const char *name, struct cbf_header *out,
                                  struct imrec_error *err)
{
    uint64_t offset = 0;
    *out = (struct cbf_header){0};
    enum imrec_status st = find_header(in, &offset, err);
    uint8_t *raw = NULL;
    const uint64_t n = in->size - offset;
    if (st == IMREC_OK && (n > SIZE_MAX || (raw = imrec_realloc(NULL, (size_t)n, 1)) == NULL))
        st = IMREC_NO_MEMORY(err, "no memory for the header of %s, %" PRIu64 " bytes", name, n);
    if (st == IMREC_OK)
        st = source_read(in, offset, raw, (size_t)n, err);
    if (st == IMREC_OK)
        st = cbf_header_parse((struct bytes){raw, (size_t)n}, offset, out, err);
    imrec_free(raw);
    cbf_file_blame(name, st, err);
    return st;
}

bool cbf_file_is_named(const char *uri)
{
    const size_t n = strlen(uri);
    return n > 4 && strcmp(uri + n - 4, ".cbf") == 0;
}
