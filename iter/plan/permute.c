/* iter/plan/permute.c */
#include "imrec/imrec.h"
