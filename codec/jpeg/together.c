/*
 * codec/jpeg/together.c - images with the same Huffman tables decoded side by side.
 *
 * A lane follows a stream: an image's bits, or those of one restart interval. It decodes a strip of
 * MCUs of it to coefficients, which become samples at once, while they are in the cache; then comes
 * the next strip. When a stream ends, the lane takes the next one, be it another image's. An
 * image's samples are kept, all that are wanted, until it is complete.
 */
#include "codec/jpeg/together.h"

#include "base/alloc.h"
#include "codec/jpeg/entropy.h"
#include "codec/jpeg/lane_blocks.h"

#include <string.h>

enum {
    BLOCK_SIZE = BLOCK * BLOCK,
    STRIP_BLOCKS = 96, /* of a lane, at once: the second cache has those of all lanes */
    STRIP_ROOM = STRIP_BLOCKS * BLOCK_SIZE + LANE_SLACK,
    MOST_INTERVALS = 64,    /* of an image, wanted or not */
    MOST_BYTES = 1 << 18,   /* of an image, compressed */
    MOST_SAMPLES = 1 << 19, /* and of what is wanted of it */
    TRIED = 16,             /* images in a row that do not suit; then others are not looked at */
    NOT_TRIED = 48,
};

/* An image that is being decoded. */
struct member {
    bool used, bad;
    uint64_t id; /* the source's */
    struct bytes image;
    struct frame frame;
    struct baseline_request request;
    struct jpeg_planes planes;
    struct scratch bits;
    size_t bits_used;
    struct intervals v;
    uint32_t row, interval; /* of the next stream: interval of the row */
    uint32_t streams;       /* that are in lanes */
};

/* What a lane is at. */
struct stream {
    struct lane_piece piece; /* the strip's */
    struct member *of;       /* NULL: nothing */
    struct strip strip;
    uint32_t left; /* MCUs after the strip */
    bool is_whole; /* it ends with its interval's last MCU */
    int32_t dc[MOST_COMPONENTS];
};

struct together {
    const struct lane_kernels *lanes;
    struct lane_tables tables;
    struct frame last; /* the image before */
    struct scratch memory;
    struct stream stream[LANE_MOST];
    struct member member[LANE_MOST];
    struct member *giving;      /* streams are taken of it; NULL: of the next image */
    const struct member *ready; /* for done() */
    uint64_t count;             /* together_count() */
    uint32_t failures;          /* images in a row that did not suit */
    uint32_t pause;             /* images that will not be looked at */

    const struct together_source *source; /* of this call */
    bool begins;                          /* no lane has begun: tables may be changed */
};

static bool g_always; /* together_use_always() */

/* ---- life ------------------------------------------------------------------------------- */

void together_use_always(bool yes)
{
    g_always = yes;
}

bool together_suits(void)
{
    return lane_kernels[cpu_level()].is_faster || g_always;
}

struct together *together_new(void)
{
    struct together *t = imrec_zalloc(1, sizeof(*t));
    if (t == NULL)
        return NULL;
    t->lanes = &lane_kernels[cpu_level()];
    for (uint32_t i = 0; i < LANE_MOST; i++)
        t->member[i].planes.kernels = &baseline_kernels[cpu_level()];
    return t;
}

void together_drop(struct together *t)
{
    if (t == NULL || t->source != NULL) /* in use */
        return;
    scratch_drop(&t->memory);
    for (uint32_t i = 0; i < LANE_MOST; i++) {
        scratch_drop(&t->member[i].planes.samples);
        scratch_drop(&t->member[i].bits);
    }
}

void together_free(struct together *t)
{
    together_drop(t);
    imrec_free(t);
}

size_t together_memory(const struct together *t)
{
    if (t == NULL)
        return 0;
    size_t bytes = sizeof(*t) + t->memory.bytes;
    for (uint32_t i = 0; i < LANE_MOST; i++)
        bytes += t->member[i].planes.samples.bytes + t->member[i].bits.bytes;
    return bytes;
}

enum {
    STRIP_BYTES = LANE_MOST * STRIP_ROOM * sizeof(int16_t),
    BITS_BYTES = MOST_BYTES + MOST_INTERVALS * LANE_PADDING,
};

uint64_t together_claim(void)
{
    return sizeof(struct together) + STRIP_BYTES + SCRATCH_ALIGNMENT +
           LANE_MOST * ((uint64_t)BITS_BYTES + MOST_SAMPLES);
}

/* ---- streams of an image -------------------------------------------------------------------- */

static void ignore_row(void *context, uint32_t y, const uint8_t *row)
{
    (void)context, (void)y, (void)row;
}

static uint8_t *bits_of(const struct member *m)
{
    return m->bits.p + m->bits_used;
}

/* Makes an interval a lane's stream: `mcus` from column `x` of row `y` on. */
static bool begin_stream(struct member *m, struct stream *s, uint32_t y, uint32_t x, uint32_t mcus)
{
    size_t bytes;
    const bool is_whole = mcus == intervals_mcus(&m->v);
    if (!intervals_unstuff(&m->v, bits_of(m), &bytes, LANE_PADDING))
        return false;
    *s = (struct stream){.piece = {.bits = bits_of(m),
                                   .bytes = (uint32_t)bytes,
                                   .out = s->piece.out,
                                   .mcu = lane_mcu_of(&m->frame)},
                         .of = m,
                         .strip = {.row = y, .first = x},
                         .left = mcus,
                         .is_whole = is_whole};
    m->bits_used += bytes + LANE_PADDING;
    m->streams++;
    return true;
}

/* The next interval that something is wanted of; false: there is none, or it is not in order. */
static bool next_interval(struct member *m, struct stream *s)
{
    const uint32_t restart = m->frame.restart, all = m->planes.g.across / restart;
    for (; m->row < m->planes.g.rows; m->row++, m->interval = 0) {
        const struct span columns = wanted_columns(&m->frame, &m->planes, m->row);
        const struct span wanted = wanted_intervals(&m->frame, columns);
        for (; m->interval < all; m->interval++) {
            const uint32_t x = m->interval * restart;
            if (span_holds(wanted, m->interval)) {
                m->interval++;
                m->bad |= !begin_stream(m, s, m->row, x, at_most(columns.end - x, restart));
                return !m->bad;
            }
            /* nobody reads what comes after the last one */
            if (m->row + 1 < m->planes.g.rows || m->interval < wanted.from) {
                m->bad |= !intervals_pass(&m->v);
                if (m->bad)
                    return false;
            }
        }
    }
    return false;
}

/* All rows down to the last that is wanted. */
static bool only_stream(struct member *m, struct stream *s)
{
    if (m->row > 0)
        return false;
    m->row = m->planes.g.rows;
    m->bad |= !begin_stream(m, s, 0, 0, m->planes.g.rows * m->planes.g.across);
    return !m->bad;
}

static bool next_stream(struct member *m, struct stream *s)
{
    return m->frame.restart == 0 ? only_stream(m, s) : next_interval(m, s);
}

/* ---- images ------------------------------------------------------------------------------- */

static bool same_tables(const struct frame *a, const struct frame *b)
{
    if (a->components != b->components)
        return false;
    for (uint32_t i = 0; i < a->components && i < 2; i++)
        if (memcmp(&a->ac[a->ac_of[i]], &b->ac[b->ac_of[i]], sizeof(a->ac[0])) != 0 ||
            memcmp(&a->dc[a->dc_of[i]], &b->dc[b->dc_of[i]], sizeof(a->dc[0])) != 0)
            return false;
    return true;
}

/* Lanes have one set of tables. Others come in when two images in a row have them. */
static bool take_tables(struct together *t, const struct frame *f)
{
    if (lanes_have_tables(&t->tables, f))
        return true;
    if (t->begins && (g_always || same_tables(f, &t->last)))
        return lanes_make_tables(&t->tables, f);
    t->last = *f;
    return false;
}

static bool is_right_size(const struct together_image *i, const struct member *m)
{
    const struct frame *f = &m->frame;
    const struct imrec_rect r = i->region;
    const uint64_t pixels = (uint64_t)r.width * r.height;
    const uint32_t width = divide_up(i->width, i->denominator),
                   height = divide_up(i->height, i->denominator);
    if (r.x > width || r.width > width - r.x || r.y > height || r.height > height - r.y)
        return false;
    return f->width == i->width && f->height == i->height && i->image.n <= MOST_BYTES &&
           pixels <= MOST_SAMPLES;
}

static bool has_right_intervals(const struct member *m)
{
    const struct geometry *g = &m->planes.g;
    const uint32_t restart = m->frame.restart;
    const uint64_t all = (uint64_t)g->across * g->down;
    return all > 0 &&
           (restart == 0 || (g->across % restart == 0 && all / restart <= MOST_INTERVALS));
}

/* False: it is to be decoded alone. */
static bool begin_image(struct together *t, const struct together_image *i, struct member *m)
{
    if (i->image.n == 0 || !frame_read(&m->frame, i->image) || m->frame.has_scans ||
        !lanes_suit(&m->frame) || !is_right_size(i, m) || !take_tables(t, &m->frame))
        return false;
    m->request = (struct baseline_request){.region = i->region,
                                           .channels = i->channels,
                                           .denominator = i->denominator,
                                           .sink = ignore_row};
    if ((i->channels != 1 && i->channels != 3) ||
        !planes_begin_all(&m->planes, &m->frame, &m->request, MOST_SAMPLES) ||
        !has_right_intervals(m) ||
        !scratch_reserve(&m->bits, i->image.n + MOST_INTERVALS * LANE_PADDING))
        return false;
    m->image = i->image;
    m->v = planes_intervals(&m->planes, i->image);
    m->bits_used = 0;
    m->row = m->interval = m->streams = 0;
    m->bad = false;
    return true;
}

static struct member *free_member(struct together *t)
{
    for (uint32_t i = 0; i < LANE_MOST; i++)
        if (!t->member[i].used)
            return &t->member[i];
    return NULL;
}

static void tell(struct together *t, uint64_t id, const struct member *ready)
{
    t->ready = ready;
    t->source->done(t->source->context, id);
    t->ready = NULL;
}

/* Whether images are looked at at all. */
static bool is_tried(struct together *t)
{
    if (t->pause > 0 && !g_always) {
        t->pause--;
        return false;
    }
    return true;
}

static void count(struct together *t, bool suits)
{
    t->failures = suits ? 0 : t->failures + 1;
    if (t->failures == TRIED) {
        t->failures = 0;
        t->pause = NOT_TRIED;
    }
}

/* Makes the next image that suits the one that gives streams. False: there are no more now. */
static bool next_image(struct together *t)
{
    struct together_image image;
    struct member *m = free_member(t);
    for (bool look; m != NULL; tell(t, image.id, NULL)) {
        look = is_tried(t);
        if (!t->source->next(t->source->context, look, &image))
            return false;
        const bool suits = look && begin_image(t, &image, m);
        if (look)
            count(t, suits);
        if (!suits)
            continue;
        m->used = true;
        m->id = image.id;
        t->giving = m;
        return true;
    }
    return false;
}

/* No lane has a stream of it, and none will. */
static void end_image(struct together *t, struct member *m)
{
    tell(t, m->id, m->bad ? NULL : m);
    m->used = false;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* The next MCUs of the stream. */
static struct lane_piece *next_strip(struct stream *s)
{
    const struct member *m = s->of;
    const uint32_t blocks = mcu_blocks(&m->frame), across = m->planes.g.across;
    s->strip.first += s->strip.mcus;
    if (s->strip.first == across) {
        s->strip.first = 0;
        s->strip.row++;
    }
    s->strip.mcus = at_most(STRIP_BLOCKS / blocks, at_most(s->left, across - s->strip.first));
    s->left -= s->strip.mcus;
    s->piece.from = s->piece.taken;
    s->piece.blocks = s->strip.mcus * blocks;
    return &s->piece;
}

/* Whole bytes that nobody took are what libjpeg warns of. */
static bool ends_well(const struct stream *s)
{
    return s->left > 0 || !s->is_whole || (uint64_t)s->piece.bytes * 8 - s->piece.taken < 8;
}

/* Samples of what the lane has decoded. False: the image is bad. */
static bool finish_strip(struct stream *s)
{
    struct block_target target[LANE_MCU];
    struct member *m = s->of;
    lane_blocks_aim(&m->frame, &m->planes, s->strip.row, target);
    m->bad |= s->piece.bad || !ends_well(s) ||
              !lane_blocks_transform(&m->frame, &m->planes, target, &s->strip, s->dc, s->piece.out);
    if (!m->bad)
        return true;
    memset(s->piece.out, 0, STRIP_ROOM * sizeof(*s->piece.out));
    return false;
}

/* The image that streams come from has no more. */
static void end_giving(struct together *t)
{
    struct member *m = t->giving;
    t->giving = NULL;
    if (m->streams == 0)
        end_image(t, m);
}

static void end_stream(struct together *t, struct stream *s)
{
    struct member *m = s->of;
    s->of = NULL;
    if (--m->streams == 0 && m != t->giving)
        end_image(t, m);
}

static struct stream *free_stream(struct together *t)
{
    for (uint32_t i = 0; i < LANE_MOST; i++)
        if (t->stream[i].of == NULL)
            return &t->stream[i];
    return NULL;
}

static struct lane_piece *next_piece(void *context, struct lane_piece *done)
{
    struct together *t = context;
    struct stream *s = (struct stream *)(void *)done; /* its first member */
    if (s != NULL && finish_strip(s) && s->left > 0)
        return next_strip(s);
    if (s != NULL)
        end_stream(t, s);
    if ((s = free_stream(t)) == NULL)
        return NULL;
    while (t->giving != NULL || next_image(t)) {
        if (!t->giving->bad && next_stream(t->giving, s))
            return next_strip(s);
        end_giving(t);
    }
    return NULL;
}

/* ---- all ---------------------------------------------------------------------------------- */

static bool reserve(struct together *t)
{
    if (t->memory.p != NULL)
        return true;
    if (!scratch_reserve(&t->memory, STRIP_BYTES + SCRATCH_ALIGNMENT))
        return false;
    int16_t *all = scratch_aligned(&t->memory);
    memset(all, 0, STRIP_BYTES);
    for (uint32_t i = 0; i < LANE_MOST; i++)
        t->stream[i].piece.out = all + i * STRIP_ROOM;
    return true;
}

static void decode_alone(const struct together_source *source)
{
    struct together_image image;
    while (source->next(source->context, false, &image))
        source->done(source->context, image.id);
}

void together_decode(struct together *t, const struct together_source *source)
{
    const struct lane_source pieces = {next_piece, t};
    if (t == NULL || !reserve(t)) {
        decode_alone(source);
        return;
    }
    t->source = source;
    for (t->begins = true; next_image(t); t->begins = true) {
        t->begins = false;
        t->lanes->decode(&t->tables, &pieces);
    }
    t->source = NULL;
}

bool together_has(const struct together *t, struct bytes image,
                  const struct baseline_request *request)
{
    if (t == NULL || t->ready == NULL || request->sink == NULL)
        return false;
    const struct member *m = t->ready;
    return m->image.p == image.p && m->image.n == image.n &&
           memcmp(&m->request.region, &request->region, sizeof(request->region)) == 0 &&
           m->request.channels == request->channels &&
           m->request.denominator == request->denominator;
}

void together_give(struct together *t, const struct baseline_request *request)
{
    struct jpeg_planes *p = &t->member[t->ready - t->member].planes;
    p->request = request;
    p->next_row = request->region.y;
    t->count++;
    for (uint32_t y = 0; y < p->g.rows; y++)
        planes_give(p, y);
}

uint64_t together_count(const struct together *t)
{
    return t == NULL ? 0 : t->count;
}
