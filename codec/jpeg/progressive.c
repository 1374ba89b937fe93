/*
 * codec/jpeg/progressive.c - Huffman-coded images of several scans: progressive ones (ITU-T T.81,
 * annex G), and sequential ones whose components have scans of their own.
 *
 * Scans add bits to coefficients, so all of these are kept: blocks in natural order, and for each a
 * mask of those that are not 0, by zigzag index. The mask tells a refining scan which coefficients
 * have a bit in it, and the inverse transform where a block ends.
 */
#include "codec/jpeg/progressive.h"

#include "base/alloc.h"
#include "codec/jpeg/entropy.h"
#include "codec/jpeg/progressive_blocks.h"

#include <string.h>

enum { LOOK_MCUS = 4096 }; /* between two looks whether somebody asks to stop */

static bool run_scalar(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end)
{
    return take_run(s, g, from, end);
}

static progressive_run_fn *run_best(void)
{
#if defined(__x86_64__)
    if (cpu_level() == CPU_AVX512)
        return progressive_run_avx512;
    if (cpu_uses_bmi2())
        return progressive_run_bmi2;
#endif
    return run_scalar;
}

/* ---- life ------------------------------------------------------------------------------- */

struct progressive *progressive_new(void)
{
    struct progressive *d = imrec_zalloc(1, sizeof(*d));
    if (d != NULL)
        d->run = run_best();
    return d;
}

void progressive_drop(struct progressive *d)
{
    if (d == NULL)
        return;
    scratch_drop(&d->memory);
    scratch_drop(&d->bits);
}

void progressive_free(struct progressive *d)
{
    progressive_drop(d);
    imrec_free(d);
}

size_t progressive_memory(const struct progressive *d)
{
    return d == NULL ? 0 : sizeof(*d) + d->memory.bytes + d->bits.bytes;
}

uint64_t progressive_claim(size_t bytes, uint64_t coefficients)
{
    const uint64_t masks = coefficients / 16 + SCRATCH_ALIGNMENT; /* 8 bytes of 128 */
    const uint64_t all = coefficients + masks;
    const uint64_t kept = all < SCRATCH_KEPT_BYTES ? all : SCRATCH_KEPT_BYTES;
    return sizeof(struct progressive) + bytes + ENTROPY_PADDING + masks + kept;
}

static struct span blocks_in(struct span mcus, uint32_t each)
{
    return (struct span){mcus.from * each, mcus.end * each};
}

/* Coefficients and masks of all components, of zeros. */
static bool reserve(struct progressive *d, const struct frame *f, const struct geometry *g)
{
    size_t blocks = 0;
    for (uint32_t i = 0; i < f->components; i++) {
        struct component *c = &d->component[i];
        const struct plane *plane = &g->plane[i];
        c->across = g->across * plane->h;
        c->down = g->down * plane->v;
        c->real_across = divide_up(plane->width, plane->block);
        c->real_down = divide_up(plane->all, plane->block);
        c->columns = blocks_in(plane->mcus, plane->h);
        c->rows = blocks_in(plane->needed, plane->v);
        memset(c->known, UNKNOWN, sizeof(c->known));
        blocks += (size_t)c->across * c->down;
    }
    const size_t bytes = blocks * (BLOCK_SIZE * sizeof(int16_t) + sizeof(uint64_t));
    if (!scratch_reserve(&d->memory, bytes + SCRATCH_ALIGNMENT))
        return false;
    uint8_t *at = scratch_aligned(&d->memory);
    memset(at, 0, bytes);
    for (uint32_t i = 0; i < f->components; i++) {
        struct component *c = &d->component[i];
        c->block = (int16_t *)(void *)at;
        at += (size_t)c->across * c->down * BLOCK_SIZE * sizeof(int16_t);
    }
    for (uint32_t i = 0; i < f->components; i++) {
        struct component *c = &d->component[i];
        c->mask = (uint64_t *)(void *)at;
        at += (size_t)c->across * c->down * sizeof(uint64_t);
    }
    return true;
}

/* ---- scans -------------------------------------------------------------------------------------
 */

/* Of a spec that is known to be a code: the entries of others would not end with the table. */
static void make_lookup(struct lookup *t, const struct huffman_spec *spec)
{
    uint32_t at = 0, n = 0;
    for (uint32_t length = 1; length <= LOOK_BITS; length++)
        for (uint32_t i = 0; i < spec->counts[length]; i++, n++)
            for (uint32_t end = at + ((1u << LOOK_BITS) >> length); at < end; at++)
                t->entry[at] = lookup_entry(length, spec->symbols[n]);
    memset(t->entry + at, 0, ((1u << LOOK_BITS) - at) * sizeof(t->entry[0]));
}

static bool make_tables(struct scanning *s)
{
    const struct frame_scan *scan = s->s;
    const struct frame *f = s->f;
    if (scan->from > 0) {
        const struct huffman_spec *spec = &f->ac[scan->ac_of[0]];
        if (!huffman_make_ac_code(&s->d->ac.code, spec))
            return false;
        make_lookup(&s->d->ac, spec);
        return true;
    }
    for (uint32_t i = 0; i < scan->components && scan->end > 0; i++)
        if (!codes_make(s->codes, f, scan->dc_of[i], scan->ac_of[i]))
            return false;
    for (uint32_t i = 0; i < scan->components && scan->end == 0 && scan->high == 0; i++) {
        const struct huffman_spec *spec = &f->dc[scan->dc_of[i]];
        if (!huffman_make_dc_code(&s->d->dc[i].code, spec))
            return false;
        make_lookup(&s->d->dc[i], spec);
    }
    return true;
}

/* MCUs of a scan of the image's first MCU rows. */
static uint32_t mcus_of(const struct scanning *s, const struct geometry *g, uint32_t rows)
{
    const uint32_t i = s->s->component[0];
    const struct component *alone = &s->d->component[i];
    if (s->s->components > 1)
        return g->across * rows;
    return alone->real_across * at_most(alone->real_down, rows * g->plane[i].v);
}

/* The MCUs [from, end), which are all of one interval. */
static bool take_interval(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end,
                          const struct stop *stop)
{
    memset(s->prediction, 0, sizeof(s->prediction));
    s->bands = 0;
    for (uint32_t next; from < end; from = next) {
        next = from + at_most(LOOK_MCUS, end - from);
        if (stop_asked(stop) || !s->d->run(s, g, from, next))
            return false;
    }
    return true;
}

/* All intervals of a scan, down to the last MCU row that is wanted; *left moves to the marker after
 * the last. */
static bool
take_scan(struct scanning *s, const struct geometry *g, struct bytes *left, const struct stop *stop)
{
    const uint32_t all = mcus_of(s, g, g->down), wanted = mcus_of(s, g, g->rows);
    struct intervals v = {
        .left = *left, .mcus_left = all, .restart = s->f->restart, .to_segment = true};
    for (uint32_t from = 0, end; from < wanted; from = end) {
        size_t n;
        if (!intervals_unstuff(&v, s->d->bits.p, &n, ENTROPY_PADDING))
            return false;
        s->b = (struct scan_bits){.p = s->d->bits.p};
        s->end = s->d->bits.p + n;
        end = all - v.mcus_left;
        if (!take_interval(s, g, from, at_most(end, wanted), stop) ||
            (end <= wanted && bits_left(&s->b, s->end) >= 8))
            return false;
    }
    while (v.mcus_left > 0)
        if (!intervals_pass(&v))
            return false;
    *left = v.left;
    return true;
}

/* Which bits are known after a scan; false where libjpeg warns: the first bits come once, and each
 * of the others in its turn, AC after DC. */
static bool note(struct progressive *d, const struct frame_scan *s)
{
    for (uint32_t i = 0; i < s->components; i++) {
        uint8_t *known = d->component[s->component[i]].known;
        if (s->from > 0 && known[0] == UNKNOWN)
            return false;
        for (uint32_t k = s->from; k <= s->end; k++) {
            if (s->high != (known[k] == UNKNOWN ? 0u : known[k]) ||
                (s->high == 0 && known[k] != UNKNOWN))
                return false;
            known[k] = (uint8_t)s->low;
        }
    }
    return true;
}

static bool all_known(const struct progressive *d, const struct frame *f)
{
    static const uint8_t nothing[BLOCK_SIZE];
    for (uint32_t i = 0; i < f->components; i++)
        if (memcmp(d->component[i].known, nothing, BLOCK_SIZE) != 0)
            return false;
    return true;
}

static bool take_scans(struct progressive *d, struct codes *codes, struct frame *f,
                       const struct geometry *g, struct bytes image, const struct stop *stop)
{
    for (bool is_end = false; !is_end;) {
        struct scanning s = {.d = d, .codes = codes, .f = f, .s = &f->scan};
        struct bytes left = {image.p + f->entropy, image.n - f->entropy};
        if (!note(d, &f->scan) || !make_tables(&s) || !take_scan(&s, g, &left, stop) ||
            !frame_next_scan(f, image, image.n - left.n, &is_end))
            return false;
    }
    return all_known(d, f);
}

/* ---- rows --------------------------------------------------------------------------------------
 */

static void transform_row(const struct progressive *d, const struct frame *f,
                          const struct jpeg_planes *p, uint32_t component, uint32_t row)
{
    const struct component *c = &d->component[component];
    const struct plane *plane = &p->g.plane[component];
    for (uint32_t x = plane->mcus.from * plane->h; x < plane->mcus.end * plane->h; x++) {
        const size_t block = (size_t)row * c->across + x;
        const uint64_t mask = c->mask[block];
        p->idct[component](c->block + block * BLOCK_SIZE, f->quant[f->quant_of[component]],
                           mask == 0 ? 0 : 63 - (uint32_t)__builtin_clzll(mask),
                           plane_block(&p->g, component, row, x), plane->stride);
    }
}

static void give_rows(const struct progressive *d, const struct frame *f, struct jpeg_planes *p)
{
    for (uint32_t y = 0; y < p->g.rows; y++) {
        for (uint32_t i = 0; i < f->components; i++)
            for (uint32_t k = 0, v = p->g.plane[i].v; k < v && span_holds(p->g.plane[i].needed, y);
                 k++)
                transform_row(d, f, p, i, y * v + k);
        planes_give(p, y);
    }
}

enum baseline_result progressive_decode(struct progressive *d, struct codes *codes, struct frame *f,
                                        struct jpeg_planes *p, struct bytes image)
{
    enum baseline_result result = BASELINE_NO_MEMORY;
    if (reserve(d, f, &p->g) && scratch_reserve(&d->bits, image.n + ENTROPY_PADDING))
        result = take_scans(d, codes, f, &p->g, image, p->request->stop) ? BASELINE_DONE
                                                                         : BASELINE_DECLINED;
    if (result == BASELINE_DONE && p->request->sink != NULL)
        give_rows(d, f, p);
    scratch_trim(&d->memory);
    scratch_trim(&d->bits);
    return result;
}
