/* tools/view/imrec_view_grid.c - a page that documents the augmenters: of one image, draws of each.
 *
 * A draw is a function of (seed, sweep, record), so N draws are N sweeps, each left after its
 * first batch. Values are asked for as floats, so that what changes them shows as well. */
#include "tools/view/augmenters.h"
#include "tools/view/html.h"
#include "tools/view/imrec_view.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

struct grid {
    struct sheet *sheet;
    const char *name; /* of the command */
    uint64_t draws;
    struct imrec_iter_options base; /* labels are numbers, */
    struct imrec_iter_options
        marked; /* with boxes, masks and keypoints, as far as there are some */
};

/* ---- the table's rows ------------------------------------------------------------------- */

static void show_values(FILE *out, const struct param *p)
{
    char limits[60];
    param_limits(p, limits, sizeof(limits));
    if (p->type == PARAM_FLAG)
        fputs("0, 1", out);
    else if (p->type == PARAM_WORD || p->type == PARAM_TEXT || p->type == PARAM_SHAPE)
        html_text(out, p->unit);
    else
        fputs(limits, out);
}

static void show_row(FILE *out, const struct param *p)
{
    fprintf(out, "<tr><td><code>%s</code></td><td>", p->name);
    html_text(out, p->preset != NULL ? p->preset : "required");
    fputs("</td><td>", out);
    show_values(out, p);
    fputs("</td><td>", out);
    html_text(out, p->help);
    fputs("</td></tr>\n", out);
}

static void begin_table(FILE *out, const char *last)
{
    fprintf(out,
            "<div class=\"wide\"><table class=\"params\"><tr><th>parameter</th><th>default</th>"
            "<th>values</th><th>%s</th></tr>\n",
            last);
}

/* The rows of the parameters that the augmenter sets. */
static void show_rows(FILE *out, const struct augmenter *a)
{
    begin_table(out, "");
    for (const char *w = a->words; *w != '\0'; w += strcspn(w, " "), w += strspn(w, " ")) {
        const struct param *p = param_find(imrec_iter_table, w, strcspn(w, "="));
        if (p != NULL)
            show_row(out, p);
    }
    fputs("</table></div>\n", out);
}

static void show_hidden(FILE *out)
{
    fputs("<h2 id=\"not-shown\">What has no images of its own</h2>\n", out);
    begin_table(out, "</th><th>why");
    for (const struct augmenter_hidden *h = augmenters_hidden; h->param != NULL; h++) {
        const struct param *p = param_find(imrec_iter_table, h->param, strlen(h->param));
        fprintf(out, "<tr><td><code>%s</code></td><td>", p->name);
        html_text(out, p->preset);
        fputs("</td><td>", out);
        show_values(out, p);
        fprintf(out, "</td><td>%s</td><td>%s</td></tr>\n", p->help, h->why);
    }
    fputs("</table></div>\n", out);
}

/* ---- one augmenter's draws -------------------------------------------------------------- */

static bool is_normalized(const struct imrec_iter_options *o)
{
    return o->mean_r != 0 || o->mean_g != 0 || o->mean_b != 0 || o->std_r > 1 || o->std_g > 1 ||
           o->std_b > 1;
}

/* Values to bytes: as they are, or, where they were normalized, 128 + 50 of them. */
static struct imrec_image
image_of(const struct imrec_iter_options *o, const float *values, uint8_t *rgb)
{
    const struct imrec_shape *shape = &o->data_shape;
    const bool normal = is_normalized(o);
    struct imrec_image image = {.width = shape->width, .height = shape->height, .pixels = rgb};
    image.channels = shape->channels == 4 ? 3 : shape->channels;
    image.stride = (size_t)shape->width * image.channels;
    for (size_t i = 0; i < (size_t)shape->width * shape->height; i++)
        for (uint32_t c = 0; c < image.channels; c++) {
            const float v = values[i * shape->channels + c];
            const float byte = rintf(normal ? 128 + 50 * v : v);
            rgb[i * image.channels + c] = (uint8_t)(byte < 0 ? 0 : byte > 255 ? 255 : byte);
        }
    return image;
}

static bool cut_behind(FILE *out, long at)
{
    return at >= 0 && fflush(out) == 0 && fseek(out, at, SEEK_SET) == 0 &&
           ftruncate(fileno(out), at) == 0;
}

/* `g->draws` sweeps' first sample; where all look the same, the first one alone. `rgb` has room
 * for two images. */
static enum imrec_status show_draws(const struct grid *g, struct imrec_iter *it,
                                    const struct imrec_iter_options *o, uint8_t *rgb,
                                    struct imrec_error *err)
{
    struct sheet *s = g->sheet;
    const size_t bytes = (size_t)o->data_shape.height * o->data_shape.width * 3;
    struct imrec_batch b;
    bool same = true;
    long first_end = -1;
    for (uint64_t i = 0; i < g->draws; i++) {
        const enum imrec_status st = imrec_iter_next(it, &b, err);
        if (st != IMREC_OK && st != IMREC_ERR_DATA)
            return st;
        uint8_t *mine = i == 0 ? rgb : rgb + bytes;
        memset(mine, 0, bytes);
        const struct imrec_image image = image_of(o, b.data, mine);
        sheet_delivered(s, o, &b, 0, &image);
        same = same && memcmp(rgb, mine, bytes) == 0;
        if (i == 0)
            first_end = ftell(s->out);
        if (imrec_iter_rewind(it, err) != IMREC_OK)
            return err->status;
    }
    if (same && g->draws > 1 && s->failed == 0 && cut_behind(s->out, first_end))
        s->shown -= g->draws - 1;
    return IMREC_OK;
}

/* What the page needs, whatever a recipe says. */
static void fit_options(struct imrec_iter_options *o)
{
    o->batch_size = 2; /* some augmenters mix a batch's samples */
    o->shuffle = false;
    o->shuffle_chunk_size = 0;
    o->dtype = IMREC_FLOAT32;
    o->layout = IMREC_NHWC;
    o->record_draws = true;
    o->last_batch = IMREC_LAST_PARTIAL;
    o->round_batch = -1;
    o->epoch_size = o->max_samples = 0;
}

static enum imrec_status open_augmenter(const struct augmenter *a,
                                        const struct imrec_iter_options *base,
                                        char words[AUGMENTER_WORDS], struct imrec_iter_options *o,
                                        struct imrec_iter **out, struct imrec_error *err)
{
    *o = *base;
    *out = NULL;
    enum imrec_status st = augmenter_apply(a, o, words, err);
    fit_options(o);
    return st == IMREC_OK ? imrec_iter_open(o, out, err) : st;
}

static void show_augmenter(const struct grid *g, const struct augmenter *a)
{
    struct sheet *s = g->sheet;
    char words[AUGMENTER_WORDS];
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_error err;
    fprintf(s->out, "<h2 id=\"%s\">%s</h2>\n<p><code>%s</code></p>\n", a->name, a->name, a->words);
    show_rows(s->out, a);
    fputs("<div class=\"sheet\">\n", s->out);
    enum imrec_status st = open_augmenter(a, &g->marked, words, &o, &it, &err);
    if (st == IMREC_ERR_ARGUMENT) /* some do not go with boxes, masks and keypoints */
        st = open_augmenter(a, &g->base, words, &o, &it, &err);
    if (st == IMREC_OK) {
        uint8_t *rgb = cli_realloc(NULL, (size_t)o.data_shape.height * o.data_shape.width, 6);
        st = show_draws(g, it, &o, rgb, &err);
        cli_free(rgb);
    }
    if (st != IMREC_OK) {
        sheet_no_image(s, err.message);
        fputs("<figcaption>", s->out);
        sheet_end_figure(s);
    }
    imrec_iter_close(it);
    fputs("</div>\n", s->out);
}

/* ---- the page --------------------------------------------------------------------------- */

/* What the first record has: boxes (docs/guide/detection.md) or other labels, a mask. Whether its
 * labels are boxes. */
static bool look_at_record(struct grid *g)
{
    struct imrec_iter_options *o = &g->base, *marked = &g->marked;
    struct imrec_error err;
    struct imrec_reader *reader;
    struct imrec_record r;
    bool boxes = false;
    enum imrec_status st;
    if (imrec_reader_open_files_with(o->path_imgrec, (uint64_t)o->part_index,
                                     (uint64_t)o->num_parts, &g->sheet->reader, &reader,
                                     &err) != IMREC_OK)
        return false;
    do
        st = imrec_reader_next(reader, &r, &err);
    while (st == IMREC_OK && r.metadata != IMREC_NO_METADATA);
    if (st == IMREC_OK && r.is_image) {
        boxes = imrec_labels_are_boxes(r.labels, r.label_count);
        marked->boxes |= boxes && !sheet_is_detection(marked);
        if (r.mask != NULL && marked->masks == IMREC_MASK_NONE)
            marked->masks = IMREC_MASK_UINT16;
        if (o->label_width == 1 && r.label_count > 0)
            o->label_width = r.label_count;
        if (!boxes)
            marked->label_width = o->label_width;
    }
    imrec_reader_close(reader);
    return boxes;
}

static bool is_shown(const struct augmenter *a, bool plain, bool boxes)
{
    return a->kind == AUGMENTER_BOXES ? boxes : plain;
}

static void show_contents(FILE *out, bool plain, bool boxes)
{
    fputs("<nav>", out);
    for (const struct augmenter *a = augmenters; a->name != NULL; a++)
        if (is_shown(a, plain, boxes))
            fprintf(out, "<a href=\"#%s\">%s</a> ", a->name, a->name);
    fputs("</nav>\n<p>Each augmenter alone, at its usual setting. Images that are the same in "
          "every sweep are shown once; normalized values are shown as 128 + 50 times the "
          "value.</p>\n",
          out);
}

int sheet_grid(struct sheet *s, const char *name, const char *uri, uint64_t draws,
               char *const *pairs, int n)
{
    struct imrec_error err;
    struct grid g = {.sheet = s, .draws = draws};
    const struct imrec_iter_options *o = &g.base;
    if (!command_iter_options(name, uri, 2, &s->reader, pairs, n, &g.base))
        return EXIT_USAGE;
    s->reader = (struct imrec_reader_options)READER_OF_O;
    sheet_unnormalized(&g.base);
    s->quality = 85;
    g.marked = g.base;
    g.base.boxes = false;
    g.base.masks = IMREC_MASK_NONE;
    g.base.keypoints = 0;
    const bool plain = !sheet_is_detection(&g.base);
    const bool boxes = look_at_record(&g) || !plain;
    s->unlabelled = boxes;
    show_contents(s->out, plain, boxes);
    fputs("<h2>The image</h2>\n<div class=\"sheet\">\n", s->out);
    if (sheet_partition(s, uri, (uint64_t)g.base.part_index, (uint64_t)g.base.num_parts, 1, &err) !=
        IMREC_OK)
        return cli_fail(name, &err);
    fputs("</div>\n", s->out);
    if (s->shown == 0)
        return cli_say(name, "no image in %s", uri);
    for (const struct augmenter *a = augmenters; a->name != NULL; a++)
        if (is_shown(a, plain, boxes))
            show_augmenter(&g, a);
    show_hidden(s->out);
    return EXIT_OK;
}
