/* tests/iter/predict.h - how fast a job of many ranks is, out of measured service times. */
#ifndef IMREC_TESTS_ITER_PREDICT_H
#define IMREC_TESTS_ITER_PREDICT_H

/* argv: "read" or "pack", and key=value ...; prints a table. Returns the exit status. */
int predict(int argc, char **argv);
#endif
