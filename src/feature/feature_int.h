/*
 * Inside of feature: release numbers as flags spell them, after apimachinery's util/version.
 */
#ifndef FEATURE_FEATURE_INT_H
#define FEATURE_FEATURE_INT_H

#include "feature/feature.h"

/* A parsed version; views into the text it came from. */
struct feature__version {
    uint64_t major, minor, patch;
    struct str numbers; /* dot-separated */
    struct str suffix;  /* "-pre+build" if the text is a semantic version, else empty */
};

/* Reads "v1.34", "1.34.0-rc.1", "1.34 whatever": two or more numbers and anything behind them. */
int feature__version_parse(struct str text, struct feature__version *out, struct err *err);

/* Appends the version in upstream's String() form. */
void feature__version_write(struct buf *out, const struct feature__version *v);

/* -1, 0, 1 */
int feature__version_cmp(struct feature_version a, struct feature_version b);

/* The minor version before; x.0 stays. */
struct feature_version feature__version_before(struct feature_version v);

#endif
