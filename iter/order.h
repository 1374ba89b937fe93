/* iter/order.h - in which order the records of a shuffled window are given. */
#ifndef IMREC_ITER_ORDER_H
#define IMREC_ITER_ORDER_H

#include "iter/split/loader.h"

/* Orders w->records, which stand cell by cell, by (seed, w->sweep) and what the records are.
 * `whole`: the window is all there is, and every order is equally likely. Else the records of a
 * cell, in random order, are spread evenly over the window: near records of a shard sorted by
 * class are alike, and a batch of 128 out of a 64 MiB window (256 cells of 6 records) would meet
 * 82 % of the classes that it could, if chance alone put them; so it meets 96 %. Where cells are
 * few, a cell's records keep equal distances. In place. */
void order_window(struct window *w, uint64_t seed, uint64_t cell_bytes, bool whole);
#endif
