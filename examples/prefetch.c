/*
 * examples/prefetch.c [ITEMS [THREADS]] - a source of one's own, made ahead by threads: tones of
 * a second each, computed by a callback and taken in order. Every hundredth item fails.
 */
#include <imrec/imrec.h>
#include <stdio.h>
#include <stdlib.h>

enum { RATE = 16000 };

struct tones {
    uint64_t count;
};

struct tone {
    float frequency; /* Hz */
    float samples[RATE];
};

/* Called by several threads at once, so it uses only the number. */
static enum imrec_status
make_tone(void *context, void *cell, uint64_t number, struct imrec_error *err)
{
    const struct tones *tones = context;
    struct tone *t = cell;
    if (number >= tones->count)
        return IMREC_END;
    if (number % 100 == 99) {
        snprintf(err->message, sizeof(err->message), "tone %llu is out of tune",
                 (unsigned long long)number);
        return IMREC_ERR_DATA;
    }
    float phase = 0;
    t->frequency = 100.0f + (float)(number % 1000);
    for (int i = 0; i < RATE; i++) {
        t->samples[i] = phase < 0.5f ? 4 * phase - 1 : 3 - 4 * phase; /* a triangle */
        phase += t->frequency / RATE;
        phase -= phase >= 1 ? 1.0f : 0.0f;
    }
    return IMREC_OK;
}

int main(int argc, char **argv)
{
    struct tones tones = {argc > 1 ? strtoull(argv[1], NULL, 10) : 1000};
    struct imrec_prefetch_options o;
    struct imrec_prefetch *p;
    struct imrec_prefetch_stats stats;
    struct imrec_error err;
    uint64_t number, next = 0;
    void *cell;

    imrec_prefetch_options_init(&o);
    o.produce = make_tone;
    o.context = &tones;
    o.cell_bytes = sizeof(struct tone);
    o.threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 2;
    enum imrec_status status = imrec_prefetch_open(&o, &p, &err);
    if (status != IMREC_OK) {
        fprintf(stderr, "prefetch: %s\n", err.message);
        return EXIT_FAILURE;
    }
    while ((status = imrec_prefetch_next(p, &cell, &number, &err)) != IMREC_END) {
        if (status == IMREC_ERR_DATA)
            fprintf(stderr, "prefetch: %s\n", err.message); /* continue with the next item */
        else if (status != IMREC_OK || number != next)
            break;
        next = number + 1;
    }
    imrec_prefetch_get_stats(p, &stats);
    printf("%llu items, %llu failed: %s\n", (unsigned long long)next,
           (unsigned long long)stats.failed, status == IMREC_END ? "in order" : "no order");
    imrec_prefetch_close(p);
    return status == IMREC_END ? EXIT_SUCCESS : EXIT_FAILURE;
}
