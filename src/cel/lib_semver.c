/* To be written. */
#include "cel/cel_int.h"

const struct cel_library cel__lib_semver = {CEL_LIB_SEMVER, NULL, 0};
