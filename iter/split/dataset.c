/* iter/split/dataset.c */
#include "imrec/imrec.h"
