/*
 * What the log tells of values that cannot be compared, and of expressions that fail. The words
 * about numbers are those of k8s.io/api core/v1/toleration.go, func compareNumericValues; about
 * versions those of KEP-5721, and at its levels: values of tolerations and taints are errors, those
 * of labels are for level 10. Errors of expressions (KEP-5500) are errors like those of values.
 */
#include "base/buf.h"
#include "base/log.h"
#include "match/match_int.h"

enum { LABEL_LEVEL = 10, LONGEST_MESSAGE = 1024 };

static const char *message_of(enum match_code code) {
    switch (code) {
    case MATCH_TOLERATION_NO_NUMBER:
        return "failed to parse toleration value as int64";
    case MATCH_TAINT_NO_NUMBER:
        return "failed to parse taint value as int64";
    case MATCH_TOLERATION_NO_VERSION:
        return "failed to parse toleration value as semantic version";
    case MATCH_TAINT_NO_VERSION:
        return "failed to parse taint value as semantic version";
    case MATCH_EXPRESSION_ERROR:
        return "failed to evaluate toleration expression";
    case MATCH_EXPRESSION_INVALID:
    case MATCH_EXPRESSION_REFUSED:
        return "failed to compile toleration expression";
    default:
        return NULL;
    }
}

void match_set_log(struct match *m, const struct log *log) {
    m->log.log = log;
}

static bool may_log(struct match *m, enum match__line line) {
    return m->log.log && log_limit_allows(&m->log.limits[line], m->log.log);
}

/* Why a value is no version; a number has but one text. */
static struct str reason_of(const struct atom *value, enum match_code code, struct err *err) {
    bool is_version = code == MATCH_TOLERATION_NO_VERSION || code == MATCH_TAINT_NO_VERSION;
    if (is_version && intern_explain_version(value, err) < 0)
        return str_of(err->msg);
    return STR("not a decimal integer of 64 bits in canonical form");
}

void match__log_toleration(struct match *m, const struct match_toleration *t, enum match_code code,
                           const struct err *err) {
    struct err why;
    if (!may_log(m, MATCH__TOLERATION_LINE))
        return;
    if (t->expression)
        log_error(m->log.log, message_of(code), LOG_STR("expression", intern_text(t->expression)),
                  LOG_STR("err", str_of(err->msg)));
    else
        log_error(m->log.log, message_of(code), LOG_STR("toleration", intern_text(t->value)),
                  LOG_STR("err", reason_of(t->value, code, &why)));
}

static void log_value(struct match *m, const struct match_taint *taint, enum match_code code) {
    struct err why;
    if (may_log(m, MATCH__TAINT_LINE))
        log_error(m->log.log, message_of(code), LOG_STR("taint", intern_text(taint->value)),
                  LOG_STR("key", intern_text(taint->key)),
                  LOG_STR("err", reason_of(taint->value, code, &why)));
}

static void log_expression(struct match *m, const struct match_toleration *t,
                           const struct match_taint *taint) {
    struct err why;
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_MESSAGE);
    if (match__toleration_eval(t, taint, &why) >= 0 || !may_log(m, MATCH__TAINT_LINE))
        return;
    match_taint_write(&text, taint);
    log_error(m->log.log, message_of(MATCH_EXPRESSION_ERROR), LOG_STR("taint", buf_view(&text)),
              LOG_STR("expression", intern_text(t->expression)), LOG_STR("err", str_of(why.msg)));
}

/* Values are told once; expressions each. */
void match__log_taint(struct match *m, const struct match_tolerations *tolerations,
                      const struct match_taint *taint) {
    bool was_told = false;
    for (uint32_t i = 0; tolerations->kinds && i < tolerations->n; i++) {
        const struct match_toleration *t = &tolerations->v[i];
        unsigned kind = match__toleration_kind(t);
        if (kind == MATCH_CEL) {
            log_expression(m, t, taint);
        } else if (kind && !was_told) {
            enum match_code code = match_toleration_check(t, taint);
            was_told = code == MATCH_TAINT_NO_NUMBER || code == MATCH_TAINT_NO_VERSION;
            if (was_told)
                log_value(m, taint, code);
        }
    }
}

static void log_label(struct match *m, const struct match__requirement *r, struct atom *value) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_MESSAGE);
    struct err why;
    if (intern_explain_version(value, &why) == 0 || !may_log(m, MATCH__LABEL_LINE))
        return;
    struct str label = intern_text(r->key), shown = intern_text(value);
    buf_addf(&text, "Parse semver failed for value %.*s in label %.*s%c", STR_ARG(shown),
             STR_ARG(label), 0);
    log_info(m->log.log, LABEL_LEVEL, text.p, LOG_STR("err", str_of(why.msg)));
}

void match_affinity_log(struct match *m, const struct match_affinity *a, enum match_node_part part,
                        const struct match_node *node) {
    const struct match__terms *terms = part == MATCH_NODE_REQUIRED ? &a->required : &a->preferred;
    if (!m->log.log || m->log.log->verbosity < LABEL_LEVEL || !a->uses_versions)
        return;
    for (uint32_t i = 0; i < terms->n; i++) {
        const struct match__requirements *list = &terms->v[i].expressions;
        for (uint32_t k = 0; terms->v[i].flaw == MATCH_NODE_YES && k < list->n; k++) {
            const struct match__requirement *r = &list->v[k];
            struct atom *value = match__is_by_version(r) ? match__node_label(node, r->key) : NULL;
            if (value)
                log_label(m, r, value);
        }
    }
}
