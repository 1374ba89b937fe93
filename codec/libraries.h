/* codec/libraries.h - what decodes and encodes in this build, and which version of it. */
#ifndef IMREC_CODEC_LIBRARIES_H
#define IMREC_CODEC_LIBRARIES_H

#include <stdbool.h>

struct codec_library {
    const char *name;    /* "libjpeg-turbo" */
    const char *formats; /* what it is for: "JPEG" */
    const char *package; /* what Debian and Ubuntu call its headers: "libjpeg-dev" */
    const char *version; /* of the one that is loaded, or was built with; NULL: built without */
};

#define CODEC_LIBRARIES 6
/* All that a build can have, in out[0..CODEC_LIBRARIES). The texts live as long as the program. */
void codec_libraries(struct codec_library out[CODEC_LIBRARIES]);
#endif
