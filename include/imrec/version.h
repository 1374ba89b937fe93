/* imrec/version.h - the version of libimrec that these headers belong to. */
#ifndef IMREC_VERSION_H
#define IMREC_VERSION_H

#define IMREC_VERSION_STRING "0.1.0" /* CMake and the wheel read this line */

#endif
