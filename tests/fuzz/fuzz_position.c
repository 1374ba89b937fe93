/* tests/fuzz/fuzz_position.c - arbitrary text as a position: refused with a sentence, or a place
 * in range that writes and reads the same. */
#include "base/alloc.h"
#include "iter/position.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Of one partition that takes its own positions, or of equal ones: the text's length says. */
    const struct position_order order = {
        .data = 1, .seed = 3, .shuffle = 1, .num_parts = 2, .equal_batches = size % 2};
    enum { WINDOWS = 10 };
    struct place place, again;
    bool own;
    struct imrec_error err = {0};
    char *text = malloc(size + 1), *back;
    memcpy(text, data, size);
    text[size] = '\0';
    if (position_read(text, &order, WINDOWS, &place, &own, &err) != IMREC_OK) {
        must(err.message[0] != '\0');
    } else {
        must((place.window < WINDOWS || !own) && place.before <= place.run.sample);
        must(own || order.equal_batches != 0);
        place.window = own ? place.window : 0;
        must(position_write(&order, &place, &back, NULL) == IMREC_OK);
        must(position_read(back, &order, WINDOWS, &again, &own, NULL) == IMREC_OK);
        must(place.run.sweep == again.run.sweep);
        must(place.run.sample == again.run.sample && place.window == again.window);
        must(place.run.repeating == again.run.repeating && place.before == again.before);
        imrec_free(back);
    }
    free(text);
    return 0;
}
