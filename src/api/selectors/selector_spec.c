/*
 * The structured form of label selectors, as pods, workloads and affinity terms hold it.
 *
 * Upstream walks matchLabels in random order and reports the first bad one; here the first is the
 * one with the smallest key.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func LabelSelectorAsSelector.
 */
#include "api/selectors/selector_int.h"
#include "api/types.h"
#include "base/goquote.h"
#include "base/limits.h"

static int require_labels(struct selector *sel, const struct labels *labels, struct err *err) {
    for (size_t i = 0; i < labels->n; i++) {
        const struct label *l = &labels->v[i];
        if (selector_require(sel, l->key, SELECTOR_EQUALS, &l->value, 1, err) < 0)
            return -1;
    }
    return 0;
}

static int refuse_operator(struct selector *sel, struct str name, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_SELECTOR_ERROR_BYTES);
    goquote_write(&text, name);
    buf_add(&text, STR(" is not a valid label selector operator"));
    return selector__fail(sel, buf_view(&text), err);
}

static int require_expression(struct selector *sel,
                              const struct api_label_selector_requirement *expression,
                              struct err *err) {
    static const struct {
        const char *name;
        enum selector_op op;
    } operators[] = {
        {"In", SELECTOR_IN},
        {"NotIn", SELECTOR_NOT_IN},
        {"Exists", SELECTOR_EXISTS},
        {"DoesNotExist", SELECTOR_DOES_NOT_EXIST},
    };
    /* Upstream copies the values in a way that makes an empty list nil. */
    struct api_strs values = expression->values;
    struct str *v = values.n ? values.v : NULL;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (str_is(expression->operator, operators[i].name))
            return selector_require(sel, expression->key, operators[i].op, v, values.n, err);
    return refuse_operator(sel, expression->operator, err);
}

int selector_compile(struct arena *a, const struct api_label_selector *spec, struct selector **out,
                     struct err *err) {
    *out = NULL;
    if (!spec)
        return 0;
    struct selector *sel = *out = arena_new(a, struct selector);
    selector_init(sel, a);
    if (require_labels(sel, &spec->match_labels, err) < 0)
        return -1;
    for (size_t i = 0; i < spec->match_expressions.n; i++)
        if (require_expression(sel, &spec->match_expressions.v[i], err) < 0)
            return -1;
    selector_seal(sel);
    return 0;
}
