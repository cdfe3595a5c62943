/* Values of options that are more than words: durations, numbers, ports, with kube-apiserver's
 * errors. */
#ifndef CMD_FLAG_VALUES_H
#define CMD_FLAG_VALUES_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* A duration such as 1m30s in nanoseconds, which is not negative. */
int flag_duration(const char *name, struct str text, int64_t *out, struct err *err);

/* A number such as 20 or 0.5. */
int flag_number(const char *name, struct str text, double *out, struct err *err);

/* A port of TCP. */
int flag_port(const char *name, int64_t value, uint16_t *out, struct err *err);

#endif
