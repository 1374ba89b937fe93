/* tests/parallel/model/omp.h - in place of the compiler's. */
#ifndef IMREC_TESTS_MODEL_OMP_H
#define IMREC_TESTS_MODEL_OMP_H

void omp_set_dynamic(int on);
#endif
