/* imrec/sound.h - what a record that is a sound says of itself. docs/guide/sounds.md */
#ifndef IMREC_SOUND_H
#define IMREC_SOUND_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a WAV file with 16-bit PCM. */
struct imrec_sound_info {
    uint32_t channels, sample_rate; /* Hz */
    uint64_t samples;               /* of each channel */
};

/* IMREC_ERR_UNSUPPORTED: no WAV, or not of 16-bit PCM; IMREC_ERR_CORRUPT: its chunks are broken. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_sound_info(const void *bytes, size_t n,
                                                             struct imrec_sound_info *out,
                                                             struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
