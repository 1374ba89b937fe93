/* codec/wav.c - WAV files of 16-bit PCM, little-endian. */
#include "codec/wav.h"

#include "base/error.h"

#include <string.h>

enum { RIFF_BYTES = 12, CHUNK_BYTES = 8, FORMAT_BYTES = 16, EXTENSIBLE_BYTES = 40 };
enum { TAG_PCM = 1, TAG_EXTENSIBLE = 0xfffe, FRAME_VALUE = 2 };

bool wav_is(struct bytes file)
{
    return file.n >= RIFF_BYTES && memcmp(file.p, "RIFF", 4) == 0 &&
           memcmp(file.p + 8, "WAVE", 4) == 0;
}

/* The chunk of that name; its length is checked. *at: where its bytes begin in the file. */
static enum imrec_status
find_chunk(struct bytes file, const char *name, struct bytes *out, struct imrec_error *err)
{
    for (size_t at = RIFF_BYTES; file.n - at >= CHUNK_BYTES;) {
        const uint32_t n = load_le32(file.p + at + 4);
        const bool found = memcmp(file.p + at, name, 4) == 0;
        const size_t begin = at + CHUNK_BYTES;
        if (n > file.n - begin) /* a cut after the data loses nothing */
            return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                                  "WAV: the chunk at byte %zu has %u bytes, the file ends after "
                                  "%zu of them",
                                  at, n, file.n - begin);
        *out = (struct bytes){file.p + begin, n};
        if (found)
            return IMREC_OK;
        at = begin + n;
        at += at < file.n ? n % 2 : 0;
    }
    return imrec_fail(err, IMREC_ERR_CORRUPT, "WAV: it has no chunk '%s'", name);
}

static enum imrec_status
read_format(struct bytes chunk, struct imrec_sound_info *out, struct imrec_error *err)
{
    if (chunk.n < FORMAT_BYTES)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "WAV: the chunk 'fmt ' has %zu bytes, it must have at least %d", chunk.n,
                          FORMAT_BYTES);
    uint32_t tag = load_le16(chunk.p);
    if (tag == TAG_EXTENSIBLE && chunk.n >= EXTENSIBLE_BYTES)
        tag = load_le16(chunk.p + 24);
    const uint32_t channels = load_le16(chunk.p + 2), frame = load_le16(chunk.p + 12);
    const uint32_t bits = load_le16(chunk.p + 14);
    if (tag != TAG_PCM || bits != 16)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "WAV: its samples have format %u and %u bits; 16-bit PCM (format 1) "
                          "is read",
                          tag, bits);
    if (channels == 0 || channels > WAV_CHANNELS || frame != channels * FRAME_VALUE)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "WAV: it has %u channels in frames of %u bytes; 1 to %d channels of "
                          "2 bytes each are right",
                          channels, frame, WAV_CHANNELS);
    out->channels = channels;
    out->sample_rate = load_le32(chunk.p + 4);
    return IMREC_OK;
}

enum imrec_status wav_parse(struct bytes file, struct wav *out, struct imrec_error *err)
{
    struct bytes format, data;
    *out = (struct wav){.frames = NULL};
    if (!wav_is(file))
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "no WAV file: it does not begin with RIFF and WAVE");
    IMREC_TRY(find_chunk(file, "fmt ", &format, err));
    IMREC_TRY(read_format(format, &out->info, err));
    IMREC_TRY(find_chunk(file, "data", &data, err));
    const uint32_t frame = out->info.channels * FRAME_VALUE;
    if (data.n == 0 || data.n % frame != 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "WAV: its data have %zu bytes, which are not frames of %u bytes", data.n,
                          frame);
    out->frames = data.p;
    out->info.samples = data.n / frame;
    return IMREC_OK;
}

enum imrec_status
imrec_sound_info(const void *bytes, size_t n, struct imrec_sound_info *out, struct imrec_error *err)
{
    struct wav w;
    IMREC_TRY(wav_parse((struct bytes){bytes, n}, &w, err));
    *out = w.info;
    return IMREC_OK;
}
