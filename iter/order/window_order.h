/* iter/order/window_order.h - in which order the records of a shuffled window are given. */
#ifndef IMREC_ITER_ORDER_WINDOW_ORDER_H
#define IMREC_ITER_ORDER_WINDOW_ORDER_H

#include "base/rng.h"
#include "container/container.h"

#include <stdint.h>

/* Orders the `n` records of a window, which are cell by cell, by `key` and the identity of the
 * records. `whole`: the window has all records, and every order is equally likely. Else the records
 * of a cell, in random order, are spread evenly over the window: near records of a shard sorted by
 * class are alike, and a batch of 128 out of a 64 MiB window (256 cells of 6 records) would meet
 * 82 % of the classes that it could, if chance alone put them; so it meets 96 %. Where cells are
 * few, a cell's records keep equal distances. In place. */
void order_window(struct record_ref *r, uint64_t n, struct rng_key key, uint64_t cell_bytes,
                  bool whole);
#endif
