/* Values of options. */
#include "cmd/flag_values.h"

#include <math.h>

#include "base/arena.h"
#include "codec/json.h"
#include "codec/time.h"

int flag_duration(const char *name, struct str text, int64_t *out, struct err *err) {
    if (time_parse_duration(text, out, err) < 0)
        return err_wrap(err, "invalid argument \"%.*s\" for \"--%s\" flag", STR_ARG(text), name);
    if (*out < 0)
        return err_set(err, ERR_USAGE, "--%s can not be a negative value", name);
    return 0;
}

int flag_number(const char *name, struct str text, double *out, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct json tree;
    struct err why;
    if (json_parse(&a, text, NULL, &tree, &why) < 0 ||
        (tree.kind != JSON_INT && tree.kind != JSON_FLOAT) || !isfinite(json_double(&tree)))
        return err_set(err, ERR_USAGE, "invalid argument \"%.*s\" for \"--%s\" flag: not a number",
                       STR_ARG(text), name);
    *out = json_double(&tree);
    return 0;
}

int flag_port(const char *name, int64_t value, uint16_t *out, struct err *err) {
    if (value < 0 || value > UINT16_MAX)
        return err_set(err, ERR_USAGE, "--%s must be between 0 and 65535", name);
    *out = (uint16_t)value;
    return 0;
}
