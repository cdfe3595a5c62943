/* What must hold for every input: the fuzzer stops at the first that breaks it. */
#ifndef TEST_FUZZ_CHECK_H
#define TEST_FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                    \
    do {                                                               \
        if (!(what)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
            abort();                                                   \
        }                                                              \
    } while (0)

#endif
