/* container/user_source.h - files of a user's own format: its callbacks list their records and
 * parse each; plan and loader treat them as indexed ones. */
#ifndef IMREC_CONTAINER_USER_SOURCE_H
#define IMREC_CONTAINER_USER_SOURCE_H

#include "base/plugin.h"
#include "container/partition.h"
#include "container/record_ref.h"
#include "formats/recordio/image_record.h"
#include "formats/set/image_list.h"
#include "imrec/source.h"

struct plugged {
    struct plugin plugin;
    struct imrec_source format;
    void **state; /* [shards], what index left */
    uint32_t states;
};

/* A worker's memory for what a record is made into. */
struct plugged_room {
    uint8_t *p;
    size_t n, limit;
    float *labels;
    union list_label *typed; /* NULL: labels are float32 */
    enum imrec_label_dtype type;
    uint32_t label_room;
};

struct plugged_sample {
    struct image_record record;    /* without an image where there are pixels */
    struct imrec_image pixels;     /* pixels NULL: there are none */
    const union list_label *typed; /* its labels as the source wrote them; NULL: as float32 */
};

/* What source=`word` means. */
IMREC_NODISCARD enum imrec_status
plugged_find(const char *word, struct plugged **out, struct imrec_error *err);
/* Lists all records of all shards into s->records, and cuts the partition out. */
IMREC_NODISCARD enum imrec_status plugged_open(struct split *s, struct imrec_error *err);
void plugged_close(struct plugged *p); /* NULL is fine */

/* Any thread; `room` is its own. What is found is checked to lie within the record or the room. */
IMREC_NODISCARD enum imrec_status
plugged_parse(const struct split *s, const struct record_ref *ref, struct plugged_room *room,
              struct plugged_sample *out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status plugged_room_init(struct plugged_room *room, uint32_t labels,
                                                    enum imrec_label_dtype type, int64_t max_pixels,
                                                    struct imrec_error *err);
void plugged_room_free(struct plugged_room *room); /* zeroed memory is fine */
#endif
