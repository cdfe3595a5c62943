/* To be written. */
#include "cel/cel_int.h"

const struct cel_library cel__lib_authz = {CEL_LIB_AUTHZ, NULL, 0};
