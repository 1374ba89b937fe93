/* storage/source.c */
#include "imrec/imrec.h"
