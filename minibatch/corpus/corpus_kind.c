/* minibatch/corpus/corpus_kind.c */
#include "minibatch/corpus/corpus_kind.h"

#include "base/error.h"
#include "container/walk/cbf_file.h"
#include "formats/ctf/ctf_look.h"
#include "formats/file_kind.h"
#include "formats/recordio/recordio.h"

/* `words` is NULL where nothing is sure: such a file may be damaged. */
static struct file_kind other_kind(struct bytes first, bool binary)
{
    if (first.n != 0 && recordio_sync(first.p, first.n) == 0)
        return (struct file_kind){FILE_KIND_SURE, "a RecordIO shard",
                                  "ImageRecordIter and imrec batches read it"};
    const struct file_kind k = file_kind_of(first);
    return file_kind_is_sure(&k) && (binary || !ctf_looks_so(first)) ? k : (struct file_kind){0};
}

enum imrec_status
corpus_kind_check(struct source *in, const char *name, bool binary, struct imrec_error *err)
{
    uint8_t bytes[FILE_KIND_BYTES];
    const struct bytes first = {bytes, in->size < sizeof(bytes) ? (size_t)in->size : sizeof(bytes)};
    struct file_kind k = {FILE_KIND_SURE, "CNTK's binary format",
                          "CNTKBinaryReader reads it, imrec convert makes text of it"};
    bool is_binary;
    IMREC_TRY(cbf_file_is(in, &is_binary, err));
    if (is_binary && binary)
        return IMREC_OK;
    IMREC_TRY(source_read(in, 0, bytes, first.n, err));
    if (!is_binary)
        k = other_kind(first, binary);
    if (k.words == NULL)
        return IMREC_OK;
    IMREC_REFUSE(err, "%.200s is %s, not CNTK%s%s%s", name, k.words,
                 binary ? "'s binary format" : " text", k.instead != NULL ? ": " : "",
                 k.instead != NULL ? k.instead : "");
    imrec_error_file(err, name);
    return IMREC_ERR_ARGUMENT;
}
