/* To be written. */
#include "cel/cel_int.h"

const struct cel_library cel__lib_strings = {CEL_LIB_STRINGS, NULL, 0};
