/* dataset/dataset_card.c - what is in a data set, from record and image headers alone. */
#include "base/alloc.h"
#include "base/error.h"
#include "container/metadata.h"
#include "dataset/card_stats.h"
#include "dataset/dataset_walk.h"
#include "dataset/record_reader.h"
#include "imrec/codec.h"
#include "imrec/dataset.h"
#include "imrec/sound.h"

#include <stdlib.h>
#include <string.h>

enum measure { LABELS, BYTES, WIDTH, HEIGHT, CHANNELS, RATE, MILLISECONDS, IDENTITY, MEASURES };

struct counting {
    struct imrec_dataset_card *card;
    struct histogram of[MEASURES];
    struct label_count by_label;
};

static void count_kind(struct imrec_dataset_card *c, const char *format, const char *kind)
{
    const uint32_t room = sizeof(c->kinds) / sizeof(c->kinds[0]);
    uint32_t i = 0;
    while (i < c->kind_count &&
           (strcmp(c->kinds[i].format, format) != 0 || strcmp(c->kinds[i].kind, kind) != 0))
        i++;
    if (i == room) { /* more kinds than any decoder tells apart: the last stands for them */
        i--;
        c->kinds[i].kind = "other";
    } else if (i == c->kind_count) {
        c->kinds[c->kind_count++] = (struct imrec_kind_count){format, kind, 0};
    }
    c->kinds[i].records++;
}

static void count_sound(struct counting *n, const struct imrec_sound_info *s)
{
    count_kind(n->card, "wav", "");
    n->card->sounds++;
    histogram_add(&n->of[CHANNELS], s->channels);
    histogram_add(&n->of[RATE], s->sample_rate);
    histogram_add(&n->of[MILLISECONDS],
                  s->sample_rate > 0 ? (uint64_t)(1e3 * (double)s->samples / s->sample_rate) : 0);
}

static void count_image(struct counting *n, const struct imrec_record *r)
{
    struct imrec_image_info info;
    struct imrec_sound_info sound;
    n->card->masks += r->mask != NULL;
    if (imrec_sound_info(r->image, r->image_size, &sound, NULL) == IMREC_OK) {
        count_sound(n, &sound);
        return;
    }
    if (imrec_image_info(r->image, r->image_size, &info, NULL) != IMREC_OK) {
        n->card->unreadable++;
        count_kind(n->card, "unknown", "");
        return;
    }
    count_kind(n->card, info.format, info.kind);
    histogram_add(&n->of[WIDTH], info.width);
    histogram_add(&n->of[HEIGHT], info.height);
    n->card->grey += info.channels < 3;
    n->card->cmyk += info.cmyk;
    n->card->gzip += info.gzip;
    n->card->rotated += info.orientation > 1;
    n->card->restarts += info.restarts;
}

static enum imrec_status
count_record(struct counting *n, const struct imrec_record *r, struct imrec_error *err)
{
    n->card->records++;
    n->card->shards[r->shard].records++;
    n->card->metadata += r->metadata != IMREC_NO_METADATA;
    if (!r->is_image || r->metadata != IMREC_NO_METADATA)
        return IMREC_OK;
    n->card->images++;
    histogram_add(&n->of[BYTES], r->image_size);
    histogram_add(&n->of[LABELS], r->label_count);
    count_image(n, r);
    return r->label_count > 0 ? label_count_add(&n->by_label, r->labels[0], err) : IMREC_OK;
}

static int by_frequency(const void *a, const void *b)
{
    const struct imrec_kind_count *x = a, *y = b;
    if (x->records != y->records)
        return x->records < y->records ? 1 : -1;
    const int c = strcmp(x->format, y->format);
    return c != 0 ? c : strcmp(x->kind, y->kind);
}

static void conclude(struct counting *n)
{
    struct imrec_dataset_card *c = n->card;
    c->labels_per_image = histogram_range(&n->of[LABELS]);
    c->image_bytes = histogram_range(&n->of[BYTES]);
    c->width = histogram_range(&n->of[WIDTH]);
    c->height = histogram_range(&n->of[HEIGHT]);
    c->channels = histogram_range(&n->of[CHANNELS]);
    c->sample_rate = histogram_range(&n->of[RATE]);
    c->milliseconds = histogram_range(&n->of[MILLISECONDS]);
    c->images_per_identity = histogram_range(&n->of[IDENTITY]);
    c->labels_cut = n->by_label.full;
    if (!c->labels_cut)
        c->labels = label_count_take(&n->by_label, &c->label_count);
    qsort(c->kinds, c->kind_count, sizeof(c->kinds[0]), by_frequency);
}

static void count_identities(struct counting *n, const struct container *s)
{
    for (uint64_t i = 0; i < s->metadata_count; i++)
        if (!s->metadata[i].header) {
            n->card->identities++;
            histogram_add(&n->of[IDENTITY], s->metadata[i].images);
        }
}

static enum imrec_status
begin(struct counting *n, const struct dataset_walk *w, struct imrec_error *err)
{
    const struct dataset_files *f = &w->files;
    struct imrec_dataset_card *c = n->card;
    c->shards = imrec_zalloc(f->shards.count, sizeof(*c->shards));
    if (c->shards == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a list of %zu shards", f->shards.count);
    c->shard_count = f->shards.count;
    c->bytes = f->begin[f->shards.count];
    for (size_t i = 0; i < f->shards.count; i++) {
        struct imrec_shard_card *s = &c->shards[i];
        s->uri = imrec_joined(f->shards.uri[i], 0, f->shards.uri[i]);
        if (s->uri == NULL)
            return IMREC_NO_MEMORY(err, "no memory for the name of a shard");
        s->bytes = f->begin[i + 1] - f->begin[i];
        bool binary;
        IMREC_TRY(dataset_has(f->shards.uri[i], SET_INDEX, &s->indexed, err));
        IMREC_TRY(dataset_has(f->shards.uri[i], SET_BINARY_INDEX, &binary, err));
        IMREC_TRY(dataset_has(f->shards.uri[i], SET_CHECKSUMS, &s->checksummed, err));
        s->indexed = s->indexed || binary || w->kind->own_index;
        s->checksummed = s->checksummed && w->kind->side_files;
    }
    IMREC_TRY(dataset_has(f->shards.uri[0], SET_MANIFEST, &c->manifest, err));
    c->source = w->kind->name;
    for (int i = 0; i < MEASURES; i++)
        IMREC_TRY(histogram_init(&n->of[i], err));
    count_identities(n, &w->reader->container);
    return IMREC_OK;
}

enum imrec_status imrec_dataset_card(const char *uri, imrec_progress_fn *progress, void *user,
                                     struct imrec_dataset_card *out, struct imrec_error *err)
{
    return imrec_dataset_card_with(uri, NULL, progress, user, out, err);
}

enum imrec_status imrec_dataset_card_with(const char *uri, const struct imrec_reader_options *o,
                                          imrec_progress_fn *progress, void *user,
                                          struct imrec_dataset_card *out, struct imrec_error *err)
{
    struct dataset_walk walk;
    struct imrec_record record;
    struct counting n = {.card = out};
    struct container_options set = {.path_imgrec = uri, .num_parts = 1};
    *out = (struct imrec_dataset_card){0};
    IMREC_TRY(reader_options_take(o, &set, err));
    IMREC_TRY(dataset_walk_open(&set, progress, user, &walk, err));
    enum imrec_status st = begin(&n, &walk, err);
    while (st == IMREC_OK) {
        st = dataset_walk_next(&walk, &record, err);
        if (st == IMREC_OK) {
            st = count_record(&n, &record, err);
        } else if (st == IMREC_ERR_DATA) {
            out->damaged_ranges++;
            st = IMREC_OK;
        }
    }
    if (st == IMREC_END)
        conclude(&n);
    for (int i = 0; i < MEASURES; i++)
        histogram_free(&n.of[i]);
    label_count_free(&n.by_label);
    dataset_walk_close(&walk);
    if (st == IMREC_END)
        return IMREC_OK;
    imrec_dataset_card_free(out);
    return st;
}

void imrec_dataset_card_free(struct imrec_dataset_card *c)
{
    for (uint64_t i = 0; i < c->shard_count; i++)
        imrec_free(c->shards[i].uri);
    IMREC_FREE(c->shards, c->labels);
    *c = (struct imrec_dataset_card){0};
}
