/* storage/mem.h - objects in memory under "mem://NAME": for tests, and for what a caller has
 * in memory already. Any thread. */
#ifndef IMREC_STORAGE_MEM_H
#define IMREC_STORAGE_MEM_H

#include "imrec/error.h"

/* Copies the bytes; an object of this name is replaced, sources open on it keep the old one. */
IMREC_NODISCARD enum imrec_status
mem_put(const char *name, const void *bytes, size_t n, struct imrec_error *err);
void mem_clear(void); /* forgets all objects; sources stay valid */
#endif
