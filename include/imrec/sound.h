/* imrec/sound.h - properties of a record that is a sound. See docs/guide/sounds.md. */
#ifndef IMREC_SOUND_H
#define IMREC_SOUND_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The properties of a WAV file with 16-bit PCM. */
struct imrec_sound_info {
    uint32_t channels, sample_rate; /* Hz */
    uint64_t samples;               /* per channel */
};

/* Reads the header of a WAV file. IMREC_ERR_UNSUPPORTED: not WAV, or not 16-bit PCM.
 * IMREC_ERR_CORRUPT: its chunks are broken. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_sound_info(const void *bytes, size_t n,
                                                             struct imrec_sound_info *out,
                                                             struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
