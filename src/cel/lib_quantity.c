/* To be written. */
#include "cel/cel_int.h"

const struct cel_library cel__lib_quantity = {CEL_LIB_QUANTITY, NULL, 0};
