/* To be written. */
#include "cel/cel_int.h"

const struct cel_library cel__lib_sets = {CEL_LIB_SETS, NULL, 0};
