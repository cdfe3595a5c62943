/*
 * Functions that this code base does not use, because each has a safer twin here. Included by
 * force in front of every file of src/ (see CMakeLists.txt), so using one is a compile error.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef BERTH_OPENSSL /* its headers call parameters by names that are banned below */
#include <openssl/evp.h>
#endif

/* unbounded copies: struct buf, arena_printf */
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets stpcpy
/* hidden state: str_cut, codec/time.h */
#pragma GCC poison strtok gmtime localtime ctime asctime
/* errors that cannot be told from values: str_to_i64 */
#pragma GCC poison atoi atol atoll atof
/* randomness that is neither seeded by the caller nor secret: map_random_seed */
#pragma GCC poison rand srand random srandom

#endif
