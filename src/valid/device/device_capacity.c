/*
 * How much of a device there is, and how much of it may be asked for at a time.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/validation,
 * func validateMultiAllocatableDeviceCapacity, func validateSingleAllocatableDeviceCapacity,
 * func validateRequestPolicyValidValues, func validateRequestPolicyRange.
 */
#include "valid/device/device_int.h"
#include "valid/resource_int.h"

enum { MOST_VALUES = 10 };

typedef const struct quantity amount;

static struct value shown(struct valid *v, amount *q) {
    return VALUE_Q(valid__quantity_text(v->errs->a, q));
}

#define TEXT(q) STR_ARG(valid__quantity_text(v->errs->a, q))

static bool has_fractions(const struct valid *v) {
    return feature_enabled(v->gates, FEATURE_DRAFractionalCapacityRange);
}

/* ---- values ---- */

/* Two values are the same if they are so in whole numbers; with fractions, if they are written with
 * the same digits. */
static struct str value_key(struct valid *v, amount *q) {
    struct arena *a = v->errs->a;
    if (!has_fractions(v))
        return arena_printf(a, "%lld", (long long)quantity_value(q));
    if (q->dec)
        return valid__quantity_text(a, q);
    if (q->scale >= 0)
        return arena_printf(a, "%lld%.*s", (long long)q->value, q->value ? (int)q->scale : 0,
                            "000000000000000000000000000000000000000000000000");
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%0*lld", 1 - q->scale,
                     (long long)(q->value < 0 ? -q->value : q->value));
    return arena_printf(a, "%s%.*s.%s", q->value < 0 ? "-" : "", n + q->scale, digits,
                        digits + n + q->scale);
}

static void check_repeated(struct valid *v, const struct path *p, const struct api_amounts *list) {
    AUTO(seen_release) struct seen keys;
    seen_init(&keys);
    for (size_t i = 0; i < list->n; i++) {
        struct str key = value_key(v, &list->v[i]);
        if (!seen_add(&keys, key))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(key), NO_DETAIL);
    }
}

static void check_values(struct valid *v, const struct path *p, const struct api_amounts *list,
                         amount *const bounds[2]) {
    amount *def = bounds[0], *most = bounds[1];
    bool has_default = false;
    for (size_t i = 0; i + 1 < list->n; i++)
        if (quantity_cmp(&list->v[i], &list->v[i + 1]) > 0)
            valid__invalid(v, AT_INDEX(p, i + 1), shown(v, &list->v[i + 1]),
                           "values must be sorted in ascending order");
    if (list->n > MOST_VALUES) {
        valid__too_many(v, p, list->n, MOST_VALUES);
    } else {
        for (size_t i = 0; i < list->n; i++) {
            if (quantity_cmp(&list->v[i], most) > 0)
                valid__invalid(v, AT_INDEX(p, i), shown(v, &list->v[i]),
                               "option is larger than capacity value: %.*s", TEXT(most));
            has_default |= quantity_cmp(&list->v[i], def) == 0;
        }
        check_repeated(v, p, list);
    }
    if (!has_default)
        valid__invalid(v, p, shown(v, def),
                       "default value is not valid according to the requestPolicy");
}

/* ---- ranges ---- */

/* The four amounts of a range by their names; max and step may be NULL. */
struct range {
    amount *def, *min, *max, *step;
};
enum { RANGE_PARTS = 4 };

static void range_parts(const struct range *r, const char *names[RANGE_PARTS],
                        amount *parts[RANGE_PARTS]) {
    const char *const all[RANGE_PARTS] = {"default", "min", "max", "step"};
    amount *const values[RANGE_PARTS] = {r->def, r->min, r->max, r->step};
    for (size_t i = 0; i < RANGE_PARTS; i++) {
        names[i] = all[i];
        parts[i] = values[i];
    }
}

static bool is_fraction(struct arena *a, amount *q) {
    struct quantity whole = *q;
    if (q->dec)
        whole = quantity_copy(a, q);
    quantity_round_up(a, &whole, 0);
    return quantity_cmp(q, &whole) != 0;
}

static bool is_in_milli(struct valid *v, const struct range *r) {
    const char *names[RANGE_PARTS];
    amount *parts[RANGE_PARTS];
    range_parts(r, names, parts);
    for (size_t i = 0; has_fractions(v) && i < RANGE_PARTS; i++)
        if (parts[i] && is_fraction(v->errs->a, parts[i]))
            return true;
    return false;
}

/* Can all of them be counted in thousandths? */
static bool check_milli(struct valid *v, const struct path *p, const struct range *r) {
    const char *names[RANGE_PARTS];
    amount *parts[RANGE_PARTS];
    bool good = true;
    range_parts(r, names, parts);
    for (size_t i = 0; i < RANGE_PARTS; i++) {
        if (!parts[i])
            continue;
        struct quantity milli = quantity_of_milli(quantity_milli_value(parts[i]), parts[i]->format);
        if (quantity_cmp(parts[i], &milli) != 0) {
            good = false;
            valid__invalid(v, AT(p, names[i]), shown(v, parts[i]),
                           "value cannot be represented as a milli value");
        }
    }
    return good;
}

/* Can all of them be counted in whole numbers of 64 bits? */
static bool check_whole(struct valid *v, const struct path *p, const struct range *r) {
    const char *names[RANGE_PARTS];
    amount *parts[RANGE_PARTS];
    struct quantity most = quantity_of_i64(INT64_MAX, QUANTITY_DECIMAL_SI);
    bool good = true;
    range_parts(r, names, parts);
    for (size_t i = 0; i < RANGE_PARTS; i++) {
        bool is_negative = parts[i] && quantity_sign(parts[i]) < 0;
        bool is_large = parts[i] && !is_negative && quantity_cmp(parts[i], &most) > 0;
        if (is_negative)
            valid__invalid(v, AT(p, names[i]), shown(v, parts[i]),
                           "must be greater than or equal to 0");
        if (is_large)
            valid__invalid(v, AT(p, names[i]), shown(v, parts[i]),
                           "must not be larger than 9223372036854775807");
        good &= !is_negative && !is_large;
    }
    return good;
}

static int64_t count(amount *q, bool is_milli) {
    return is_milli ? quantity_milli_value(q) : quantity_value(q);
}

static void check_multiple(struct valid *v, const struct path *p, const struct range *r, amount *q,
                           bool is_milli) {
    int64_t step = count(r->step, is_milli);
    int64_t distance = (int64_t)((uint64_t)count(q, is_milli) - (uint64_t)count(r->min, is_milli));
    if (step && distance % step)
        valid__invalid(v, AT(p, "step"), shown(v, q),
                       "value is not a multiple of a given step (%.*s) from (%.*s)", TEXT(r->step),
                       TEXT(r->min));
}

static void check_step(struct valid *v, const struct path *p, const struct range *r, amount *most) {
    struct quantity added;
    bool is_milli = is_in_milli(v, r);
    if (quantity_sign(r->step) <= 0) {
        valid__invalid(v, AT(p, "step"), shown(v, r->step), "must be greater than zero");
        return;
    }
    if (quantity_add(v->errs->a, r->min, r->step, &added, NULL) == 0 &&
        quantity_cmp(&added, most) > 0)
        valid__invalid(v, AT(p, "step"), shown(v, r->step),
                       "one step %.*s is larger than capacity value: %.*s", TEXT(&added),
                       TEXT(most));
    if (!is_milli && !check_whole(v, p, r))
        return;
    check_multiple(v, p, r, r->def, is_milli);
    if (r->max)
        check_multiple(v, p, r, r->max, is_milli);
}

static void check_max(struct valid *v, const struct path *p, const struct range *r, amount *most) {
    if (quantity_cmp(r->min, r->max) > 0)
        valid__invalid(v, AT(p, "max"), shown(v, r->min), "min is larger than max: %.*s",
                       TEXT(r->max));
    if (quantity_cmp(r->max, most) > 0)
        valid__invalid(v, AT(p, "max"), shown(v, r->max), "max is larger than capacity value: %.*s",
                       TEXT(most));
    if (quantity_cmp(r->def, r->max) > 0)
        valid__invalid(v, AT(p, "default"), shown(v, r->def), "default is more than max: %.*s",
                       TEXT(r->max));
}

static void check_range(struct valid *v, const struct path *p, const struct range *r,
                        amount *most) {
    if (!r->min) {
        valid__required(v, AT(p, "min"), "required when validRange is defined");
        return;
    }
    if (quantity_cmp(r->min, most) > 0)
        valid__invalid(v, AT(p, "min"), shown(v, r->min), "min is larger than capacity value: %.*s",
                       TEXT(most));
    if (quantity_cmp(r->def, r->min) < 0)
        valid__invalid(v, AT(p, "default"), shown(v, r->def), "default is less than min: %.*s",
                       TEXT(r->min));
    if (r->max)
        check_max(v, p, r, most);
    if (is_in_milli(v, r) && !check_milli(v, p, r))
        return;
    if (r->step)
        check_step(v, p, r, most);
}

/* ---- policies ---- */

static void check_policy(struct valid *v, const struct path *p,
                         const struct api_capacity_request_policy *policy, amount *most) {
    const struct api_capacity_request_policy_range *range = policy->valid_range;
    if (policy->valid_values.n && range) {
        valid__forbidden(v, p,
                         "exactly one policy can be specified, cannot specify \"validValues\" and "
                         "\"validRange\" at the same time");
    } else if (policy->valid_values.n || range) {
        if (!policy->default_)
            valid__required(v, AT(p, "default"), "required when %s is defined",
                            range ? "validRange" : "validValues");
        else if (range)
            check_range(v, AT(p, "validRange"),
                        &(struct range){policy->default_, range->min, range->max, range->step},
                        most);
        else
            check_values(v, AT(p, "validValues"), &policy->valid_values,
                         (amount *const[2]){policy->default_, most});
    }
}

void valid__device_capacity(struct valid *v, const struct path *p, const struct api_device *d) {
    enum { MOST_KEY_BYTES = MOST_DRIVER_BYTES + 1 + MOST_DEVICE_ID_BYTES };
    bool is_shared = d->allow_multiple_allocations.set && d->allow_multiple_allocations.v;
    for (size_t i = 0; i < d->capacity.n; i++) {
        const struct api_device_capacity *c = &d->capacity.v[i].value;
        struct str key = valid__shown_key(v->errs->a, d->capacity.v[i].key, MOST_KEY_BYTES);
        const struct path *at = AT(AT_KEY(p, key), "requestPolicy");
        valid__qualified_name(v, p, d->capacity.v[i].key);
        if (c->request_policy && is_shared)
            check_policy(v, at, c->request_policy, &c->value);
        else if (c->request_policy)
            valid__forbidden(v, at, "allowMultipleAllocations must be true");
    }
}
