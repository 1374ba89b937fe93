/* formats/recordio.c */
#include "imrec/imrec.h"
