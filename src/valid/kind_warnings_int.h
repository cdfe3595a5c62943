/* What kinds with rules in several rooms warn of: see kind_warnings.c. */
#ifndef VALID_KIND_WARNINGS_INT_H
#define VALID_KIND_WARNINGS_INT_H

#include "valid/valid_int.h"

/* Each for the row of its kind. */
valid_warn_fn valid__warn_runtime_class, valid__warn_node, valid__warn_storage_class,
    valid__warn_storage_capacity, valid__warn_volume, valid__warn_claim, valid__warn_csi_driver;

#endif
