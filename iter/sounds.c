/* iter/sounds.c - records that are sounds: one of them into the slots of a sample. */
#include "augment/draw/sound.h"
#include "base/clock.h"
#include "base/error.h"
#include "codec/wav.h"
#include "iter/state.h"

enum imrec_status iter_make_sound(struct imrec_iter *it, struct worker *w, struct bytes file,
                                  uint32_t n, struct imrec_error *err)
{
    const uint64_t begin = clock_ns();
    const int64_t rate = it->options.sample_rate;
    struct wav wav;
    IMREC_TRY(wav_parse(file, &wav, err));
    if (rate != 0 && rate != (int64_t)wav.info.sample_rate)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "the sound has %u samples a second, sample_rate is %lld",
                          wav.info.sample_rate, (long long)rate);
    const struct sound s = {wav.frames, wav.info.channels, wav.info.samples};
    for (uint32_t i = 0; i < n; i++) {
        struct sampler_view *v = &w->views[i];
        const struct augment_options *o = &it->views.kinds[v->kind].o;
        v->draw = sound_draw(o, v->sample.key, s.samples);
        IMREC_TRY(sound_to_slot(o, &s, &v->draw, v->slot, err));
    }
    w->sampler.decode_ns = 0;
    w->sampler.augment_ns = clock_ns() - begin;
    return IMREC_OK;
}
