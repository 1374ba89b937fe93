/* augment/resize/resample_axis.c - the tables of the packer's resampling: which pixels make a place
 * of the result, and by which weights. The cubic of Keys (1981), a = -1/2, or a triangle; shrinking
 * widens it by the factor, so that nothing aliases. */
#include "augment/resize/resample_passes.h"

#include "base/bytes.h"
#include "base/math.h"

#include <math.h>
#include <string.h>

enum { LINE = 64, KIND_Y = 1, KIND_X = 2, KIND_FILTER = 32 };

static double cubic(double x)
{
    x = fabs(x);
    if (x < 1)
        return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

static double triangle(double x)
{
    return fmax(0, 1 - fabs(x));
}

static double filter(const struct resample_axis *a, double x)
{
    return a->filter == RESAMPLE_CUBIC ? cubic(x) : triangle(x);
}

/* Of the filter, in pixels of the coarser image. */
static double support(const struct resample_axis *a)
{
    return a->filter == RESAMPLE_CUBIC ? 2 : 1;
}

static double scale_of(const struct resample_axis *a)
{
    const double size = resize_part_size(a->part, a->from);
    return size > a->whole ? size / a->whole : 1;
}

/* Most pixels that make a place. */
static uint32_t most_taps(const struct resample_axis *a)
{
    const double most = ceil(2 * support(a) * scale_of(a));
    return most < a->from ? (uint32_t)most : a->from;
}

/* ---- weights ------------------------------------------------------------------------------ */

struct span {
    uint32_t first, n;
};

/* Pixels whose middle lies under the filter. */
static struct span span_of(const struct resample_axis *a, double centre, double radius)
{
    const double low = floor(centre - radius + 0.5), high = ceil(centre + radius - 0.5);
    const uint32_t first = low > 0 ? (uint32_t)low : 0;
    return (struct span){first, (high < a->from ? (uint32_t)high : a->from) - first};
}

/* Real weights -> whole numbers that sum up to RESAMPLE_ONE: differences of rounded sums, so that
 * a filter of thousands of taps keeps its shape. */
static void quantize(double *weights, uint32_t n, double sum)
{
    double part = 0, before = 0;
    for (uint32_t k = 0; k < n; k++) {
        part += weights[k];
        const double now = rint(part / sum * RESAMPLE_ONE);
        weights[k] = now - before;
        before = now;
    }
}

/* The place's pixels; weights[] (for two more than most_taps()) gets their weights. */
static struct span weigh(const struct resample_axis *a, uint32_t at, double *weights)
{
    const double scale = scale_of(a), middle = at + (a->begin + 0.5);
    const double by = resize_part_size(a->part, a->from) / a->whole;
    const double centre = resize_part_begin(a->part) + middle * by;
    struct span s = span_of(a, centre, support(a) * scale);
    double sum = 0;
    for (uint32_t k = 0; k < s.n; k++)
        sum += weights[k] = filter(a, (s.first + k + 0.5 - centre) / scale);
    quantize(weights, s.n, sum);
    const uint32_t most = most_taps(a); /* rounding may see one on the very edge: it is 0 */
    while (s.n > most && weights[0] == 0) {
        memmove(weights, weights + 1, --s.n * sizeof(*weights));
        s.first++;
    }
    s.n = s.n < most ? s.n : most;
    return s;
}

static void fill_place(const struct resample_axis *a, uint32_t at, double *real)
{
    const struct span s = weigh(a, at, real);
    uint32_t first = s.first;
    if (a->count != NULL) {
        first -= first % RESAMPLE_PAIR;
        const uint32_t n = s.first - first + s.n;
        a->count[at] = n + n % RESAMPLE_PAIR;
    } else if (first > a->from - s.n || a->from - first < a->taps) { /* whole groups in the row */
        first = a->from > a->taps ? a->from - a->taps : 0;
    }
    int16_t *weights = a->weights + (size_t)at * a->taps;
    memset(weights, 0, a->taps * sizeof(*weights));
    for (uint32_t k = 0; k < s.n; k++)
        weights[s.first - first + k] = (int16_t)real[k];
    a->first[at] = first;
}

/* ---- blocks ------------------------------------------------------------------------------- */

struct block {
    uint32_t begin, end; /* values */
    uint32_t low, high;  /* smallest and largest first pixel */
};

static struct block block_of(const struct resample_axis *a, uint32_t b)
{
    const uint32_t values = a->to * a->channels, begin = b * RESAMPLE_BLOCK;
    const uint32_t end = values - begin < RESAMPLE_BLOCK ? values : begin + RESAMPLE_BLOCK;
    struct block k = {.begin = begin, .end = end, .low = UINT32_MAX};
    for (uint32_t at = begin / a->channels; at * a->channels < end; at++) {
        const uint32_t first = a->first[at];
        k.low = first < k.low ? first : k.low;
        k.high = first > k.high ? first : k.high;
    }
    return k;
}

/* Four weights -> their high parts and their low parts. */
static void split(const int16_t *weights, int8_t high[4], int8_t low[4])
{
    for (int k = 0; k < RESAMPLE_GROUP; k++) {
        high[k] = (int8_t)((weights[k] + 128) >> 8);
        low[k] = (int8_t)(weights[k] - 256 * high[k]);
    }
}

/* Lane i of the block: value `value` of the row. */
static void fill_lane(const struct resample_axis *a, const struct block *k, uint8_t *picks,
                      int8_t *parts, uint32_t value)
{
    const uint32_t at = value / a->channels, c = value % a->channels, lane = value - k->begin;
    const int16_t *weights = a->weights + (size_t)at * a->taps;
    for (uint32_t t = 0; t < RESAMPLE_GROUP; t++)
        picks[4 * lane + t] = (uint8_t)((a->first[at] - k->low + t) * a->channels + c);
    for (uint32_t g = 0; g < a->taps; g += RESAMPLE_GROUP, parts += 2 * RESAMPLE_WINDOW)
        split(weights + g, parts + 4 * (size_t)lane, parts + RESAMPLE_WINDOW + 4 * (size_t)lane);
}

static void fill_block(const struct resample_axis *a, const struct block *k, uint32_t b)
{
    const size_t part_bytes = (size_t)a->taps / RESAMPLE_GROUP * 2 * RESAMPLE_WINDOW;
    uint8_t *picks = a->picks + (size_t)b * RESAMPLE_WINDOW;
    int8_t *parts = a->parts + b * part_bytes;
    memset(picks, 0, RESAMPLE_WINDOW);
    memset(parts, 0, part_bytes);
    a->window[b] = k->low * a->channels;
    for (uint32_t v = k->begin; v < k->end; v++)
        fill_lane(a, k, picks, parts, v);
}

/* Sets `wide`; no blocks where four taps of one are spread over more than two windows. */
static void fill_blocks(struct resample_axis *a)
{
    uint64_t most = 0;
    for (uint32_t b = 0; b < a->blocks; b++) {
        const struct block k = block_of(a, b);
        const uint64_t bytes = ((uint64_t)k.high - k.low + RESAMPLE_GROUP) * a->channels;
        most = bytes > most ? bytes : most;
        if (bytes <= 2 * RESAMPLE_WINDOW)
            fill_block(a, &k, b);
    }
    a->wide = most > RESAMPLE_WINDOW;
    if (most > 2 * RESAMPLE_WINDOW)
        a->blocks = 0;
}

/* ---- memory ------------------------------------------------------------------------------- */

/* Cuts a piece of count * size bytes, in whole lines, off a plan. */
static bool cut(size_t *bytes, size_t count, size_t size, size_t *at)
{
    size_t piece;
    *at = *bytes;
    return mul_fits(count, size, &piece) && sum_fits(piece, LINE - 1, &piece) &&
           sum_fits(*bytes, piece / LINE * LINE, bytes);
}

/* The head of a table. */
struct head {
    uint32_t blocks;
    bool wide;
};

/* A table: where its pieces begin. */
struct plan {
    size_t bytes, head, first, count, weights, window, picks, parts;
};

static bool make_plan(const struct resample_axis *a, bool y, struct plan *p)
{
    const size_t part_bytes = (size_t)a->taps / RESAMPLE_GROUP * 2 * RESAMPLE_WINDOW;
    *p = (struct plan){0};
    return cut(&p->bytes, 1, sizeof(struct head), &p->head) &&
           cut(&p->bytes, a->to, sizeof(*a->first), &p->first) &&
           cut(&p->bytes, y ? a->to : 0, sizeof(*a->count), &p->count) &&
           cut(&p->bytes, (size_t)a->to * a->taps, sizeof(*a->weights), &p->weights) &&
           cut(&p->bytes, a->blocks, sizeof(*a->window), &p->window) &&
           cut(&p->bytes, a->blocks, RESAMPLE_WINDOW, &p->picks) &&
           cut(&p->bytes, a->blocks, part_bytes, &p->parts);
}

static void place_pieces(struct resample_axis *a, const struct plan *p, bool y, uint8_t *memory)
{
    a->first = (uint32_t *)(void *)(memory + p->first);
    a->count = y ? (uint32_t *)(void *)(memory + p->count) : NULL;
    a->weights = (int16_t *)(void *)(memory + p->weights);
    a->window = (uint32_t *)(void *)(memory + p->window);
    a->picks = memory + p->picks;
    a->parts = (int8_t *)(void *)(memory + p->parts);
}

/* Tables that are there already, or new ones. */
static bool find_or_make(struct resample_axis *a, uint32_t kind, struct resize_scratch *s)
{
    const bool y = kind == KIND_Y;
    struct plan p;
    bool fresh;
    double *real = scratch_room(s, ROOM_WEIGHT, (size_t)most_taps(a) + 4, sizeof(*real));
    if (real == NULL || !make_plan(a, y, &p))
        return false;
    const struct scratch_key key = {.from = a->from,
                                    .to = a->whole,
                                    .kind = kind + KIND_FILTER * a->filter,
                                    .begin = a->begin,
                                    .count = a->to,
                                    .part = a->part};
    uint8_t *memory = scratch_table(s, key, p.bytes, &fresh);
    if (memory == NULL)
        return false;
    place_pieces(a, &p, y, memory);
    struct head *head = (struct head *)(void *)(memory + p.head);
    if (fresh) {
        for (uint32_t at = 0; at < a->to; at++)
            fill_place(a, at, real);
        fill_blocks(a);
        *head = (struct head){.blocks = a->blocks, .wide = a->wide};
    }
    a->blocks = head->blocks;
    a->wide = head->wide;
    return true;
}

static void set_x(struct resample_axis *a, bool blocks)
{
    a->taps = align_up(most_taps(a), RESAMPLE_GROUP);
    if (blocks)
        a->blocks = ceil_div(a->to * a->channels, RESAMPLE_BLOCK);
}

static void set_y(struct resample_axis *a)
{
    a->taps = (most_taps(a) / RESAMPLE_PAIR + 1) * RESAMPLE_PAIR;
}

bool resample_axis_x(struct resample_axis *a, bool blocks, struct resize_scratch *s)
{
    set_x(a, blocks);
    return find_or_make(a, KIND_X + 2 * a->channels + blocks, s);
}

bool resample_axis_y(struct resample_axis *a, struct resize_scratch *s)
{
    set_y(a);
    return find_or_make(a, KIND_Y, s);
}

uint64_t resample_axis_bytes(struct resample_axis *a, bool y)
{
    struct plan p;
    if (y)
        set_y(a);
    else
        set_x(a, true);
    const uint64_t real = ((uint64_t)most_taps(a) + 4) * sizeof(double);
    return make_plan(a, y, &p) ? p.bytes + real : UINT64_MAX / 4;
}
