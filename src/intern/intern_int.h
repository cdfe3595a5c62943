/* Inside of intern: what the set needs to know of an atom's version. */
#ifndef INTERN_INTERN_INT_H
#define INTERN_INTERN_INT_H

#include "intern/intern.h"

/* Bytes of the block behind a->version. */
size_t intern__version_bytes(const struct atom *a);

#endif
