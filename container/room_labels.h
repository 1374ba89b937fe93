/* container/room_labels.h - numbers that a kind found into the labels of a parse_room, exactly or
 * not at all; and fields into its fields. */
#ifndef IMREC_CONTAINER_ROOM_LABELS_H
#define IMREC_CONTAINER_ROOM_LABELS_H

#include "container/container.h"
#include "formats/recordio/record_fields.h"

struct label_number {
    bool whole; /* it is `i`, else `f` */
    int64_t i;
    double f;
};

/* Label i of the sample; beyond the room's it is only checked. False: the type that labels have in
 * this room has no such number (float32 and float64 not every whole one, int64 no fraction), or it
 * is not finite. */
bool room_labels_put(struct parse_room *room, uint32_t i, const struct label_number *v);
/* The record has `count`, which were put. */
void room_labels_end(struct parse_room *room, uint32_t count, struct record *out);
/* All numbers of a text, between blanks, commas and line ends. `name`: of the text, for messages.
 */
IMREC_NODISCARD enum imrec_status room_labels_text(struct parse_room *room, struct bytes text,
                                                   const char *name, struct record *out,
                                                   struct imrec_error *err);
/* The number, the truth value or the array of numbers at `path`, "object.classes.0", of a JSON
 * text. */
IMREC_NODISCARD enum imrec_status room_labels_json(struct parse_room *room, struct bytes text,
                                                   const char *name, const char *path,
                                                   struct record *out, struct imrec_error *err);
/* As many zeros as there is room for: of samples that have no labels, and need none. */
void room_labels_none(struct parse_room *room, struct record *out);
/* The fields of a payload, all of which are there. */
IMREC_NODISCARD enum imrec_status room_fields(const struct record_payload *payload,
                                              struct parse_room *room, struct record *out,
                                              struct imrec_error *err);
#endif
