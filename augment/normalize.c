/* augment/normalize.c */
#include "imrec/imrec.h"
