/* codec/png_encode.h - the memory of an encoded PNG. */
#ifndef IMREC_CODEC_PNG_ENCODE_H
#define IMREC_CODEC_PNG_ENCODE_H

struct codec;
void png_encoded_free(struct codec *c);
#endif
