/* tools/top/top_view.h - the loaders that are watched, and how they are shown. */
#ifndef IMREC_TOOLS_TOP_TOP_VIEW_H
#define IMREC_TOOLS_TOP_TOP_VIEW_H

#include "cli/json.h"
#include "imrec/error.h"
#include "tools/top/top_rates.h"

struct top_loader {
    size_t source; /* its number in the board */
    bool here;     /* in the last text of its source */
    struct top_sample now;
    struct top_rates rates; /* since the sample before */
};

struct top_board {
    char *const *sources;
    size_t source_count;
    struct imrec_error *errors; /* of each source's last reading; status IMREC_OK: none */
    struct top_loader *loaders; /* in the order in which they came */
    size_t count;
};

void top_board_init(struct top_board *b, char *const *sources, size_t n);
void top_board_free(struct top_board *b);
/* Reads every source once. Returns how many could be read. */
size_t top_board_read(struct top_board *b);
/* Whether each loader that is there has two samples. */
bool top_board_is_known(const struct top_board *b);

/* Some lines of text; `columns` 0: as long as they are. On a terminal each line clears its rest. */
void top_show(const struct top_board *b, FILE *out, bool terminal, int columns);
void top_show_json(const struct top_board *b, struct json *j); /* members of the open object */
#endif
