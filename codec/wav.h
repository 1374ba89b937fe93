/* codec/wav.h - WAV files of 16-bit PCM, little-endian:
 *     "RIFF" | u32 size | "WAVE" | chunks: 4 letters, u32 length, bytes, padded to even
 *     "fmt ": u16 tag (1; 0xfffe: in the GUID's first two bytes) | u16 channels | u32 rate |
 *             u32 bytes a second | u16 bytes a frame | u16 bits
 *     "data": frames of channels x i16 */
#ifndef IMREC_CODEC_WAV_H
#define IMREC_CODEC_WAV_H

#include "base/bytes.h"
#include "imrec/sound.h"

enum { WAV_CHANNELS = 64 };

struct wav {
    struct imrec_sound_info info;
    const uint8_t *frames; /* in the file, any alignment */
};

bool wav_is(struct bytes file); /* by its first 12 bytes */
IMREC_NODISCARD enum imrec_status
wav_parse(struct bytes file, struct wav *out, struct imrec_error *err);
#endif
