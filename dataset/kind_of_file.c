/* dataset/kind_of_file.c - imrec_file_kind(). */
#include "imrec/file_kind.h"

#include "base/error.h"
#include "container/walk/cbf_file.h"
#include "formats/ctf/ctf_look.h"
#include "formats/file_kind.h"
#include "formats/recordio/recordio.h"
#include "formats/tar/tar_header.h"
#include "formats/tfrecord/tfrecord_frame.h"

enum { BEGIN_BYTES = 4096 };

static const char *const own_words[] = {[IMREC_FILE_RECORDIO] = "a RecordIO shard",
                                        [IMREC_FILE_CBF] = "a CBF file",
                                        [IMREC_FILE_CTF] = "CNTK text",
                                        [IMREC_FILE_WEBDATASET] = "a tar archive",
                                        [IMREC_FILE_TFRECORD] = "a TFRecord file"};

/* The bytes count, and only then the name: a damaged CBF file may have no magic left. */
static enum imrec_file_kind kind_of(struct bytes begin, bool cbf, const char *uri)
{
    if (cbf)
        return IMREC_FILE_CBF;
    if (begin.n != 0 && recordio_sync(begin.p, begin.n) == 0)
        return IMREC_FILE_RECORDIO;
    if (ctf_looks_so(begin))
        return IMREC_FILE_CTF;
    if (cbf_file_is_named(uri))
        return IMREC_FILE_CBF;
    if (tfrecord_is_head(begin))
        return IMREC_FILE_TFRECORD;
    return tar_is_magic(begin) ? IMREC_FILE_WEBDATASET : IMREC_FILE_UNKNOWN;
}

static enum imrec_status look(struct source *in, const char *uri, enum imrec_file_kind *out,
                              const char **words, struct imrec_error *err)
{
    uint8_t bytes[BEGIN_BYTES];
    struct bytes begin = {bytes, in->size < sizeof(bytes) ? (size_t)in->size : sizeof(bytes)};
    bool cbf;
    IMREC_TRY(cbf_file_is(in, &cbf, err));
    IMREC_TRY(source_read(in, 0, bytes, begin.n, err));
    *out = kind_of(begin, cbf, uri);
    *words = own_words[*out];
    if (*out != IMREC_FILE_UNKNOWN)
        return IMREC_OK;
    if (begin.n > FILE_KIND_BYTES)
        begin.n = FILE_KIND_BYTES;
    const struct file_kind other = file_kind_of(begin);
    if (file_kind_is_sure(&other)) {
        *out = IMREC_FILE_OTHER;
        *words = other.words;
    }
    return IMREC_OK;
}

enum imrec_status imrec_file_kind(const char *uri, enum imrec_file_kind *out, const char **words,
                                  struct imrec_error *err)
{
    struct source *in;
    const char *ignored;
    *out = IMREC_FILE_UNKNOWN;
    IMREC_TRY(source_open(uri, &in, err));
    const enum imrec_status st = look(in, uri, out, words != NULL ? words : &ignored, err);
    source_close(in);
    return st;
}
