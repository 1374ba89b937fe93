/* codec/codec.c */
#include "imrec/imrec.h"
