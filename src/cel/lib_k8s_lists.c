/* The list functions that Kubernetes adds. */
#include "cel/cel_int.h"

const struct cel_library cel__lib_k8s_lists = {CEL_LIB_K8S_LISTS, NULL, 0};
const struct cel_library cel__lib_includes = {CEL_LIB_INCLUDES, NULL, 0};
