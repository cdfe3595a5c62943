/* To be written. */
#include "cel/cel_int.h"

const struct cel_library cel__lib_lists = {CEL_LIB_LISTS, NULL, 0};
