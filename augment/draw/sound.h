/* augment/draw/sound.h - sounds: which part of one becomes a sample, how loud, and its values. */
#ifndef IMREC_AUGMENT_DRAW_SOUND_H
#define IMREC_AUGMENT_DRAW_SOUND_H

#include "augment/draw/draw.h"

struct sound {             /* borrowed */
    const uint8_t *frames; /* of `channels` little-endian 16-bit values; any alignment */
    uint32_t channels;
    uint64_t samples; /* frames */
};

/* What is random about a crop of `samples`; pure. */
struct imrec_draw
sound_draw(const struct augment_options *o, struct sample_key key, uint64_t samples);

/* Crops, takes the mean off, makes louder and normalizes into a slot of float32; around the sound
 * is silence. As many channels as data_shape has, or one for all, or all for one. */
IMREC_NODISCARD enum imrec_status sound_to_slot(const struct augment_options *o,
                                                const struct sound *s, const struct imrec_draw *d,
                                                float *slot, struct imrec_error *err);
#endif
