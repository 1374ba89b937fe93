/* im2rec/pack.c */
#include "imrec/imrec.h"
