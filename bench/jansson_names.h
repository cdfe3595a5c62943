/* jansson.h beside our json.h: the names that both have are given another spelling in jansson's. */
#ifndef BENCH_JANSSON_NAMES_H
#define BENCH_JANSSON_NAMES_H

#define JSON_OBJECT JANSSON_OBJECT
#define JSON_ARRAY  JANSSON_ARRAY
#define JSON_STRING JANSSON_STRING
#define JSON_NULL   JANSSON_NULL
#define json_equal  jansson_equal
#include <jansson.h>
#undef JSON_OBJECT
#undef JSON_ARRAY
#undef JSON_STRING
#undef JSON_NULL
#undef json_equal

#endif
