# The summary for people, without what depends on the machine, and the one for programs.
make_images .
im2rec --resize 32 --no-shuffle source out.rec 2>/dev/null | sed 's/  in .*//; s/together .*//'
im2rec --force --json source out.rec 2>/dev/null |
    sed 's/\("seconds"\|"images_per_s"\|"bytes"\|"file_bytes"\): [0-9.e+]*/\1: N/'
im2rec --version
