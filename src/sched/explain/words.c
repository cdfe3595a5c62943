/*
 * Findings in words: the only place where an explanation becomes text. Sentences are templates of
 * findings.def; those about taints and requirements are match's.
 */
#include "sched/explain.h"

#include "base/limits.h"
#include "match/sentence.h"
#include "quantity/quantity.h"
#include "sched/explain/explain_int.h"

static const struct {
    struct str path, shorter;
} fields[] = {
#define FIELD(id, path, shorter) {STR_INIT(path), STR_INIT(shorter)},
#include "sched/findings.def"
};

static const struct str operand_names[] = {
#define OPERAND(id, name) STR_INIT(name),
#include "sched/findings.def"
};

static const struct {
    const char *code, *operator, * sentence;
} rows[] = {
#define FINDING(id, code, operator, sentence) {code, operator, sentence },
#include "sched/findings.def"
};

struct str sched__finding_operator(enum sched_finding_code code) {
    return rows[code].operator? str_of(rows[code].operator) : (struct str){0};
}

struct str sched_finding_name(const struct sched_finding *f) {
    if (f->code == SCHED_FINDING_REQUIREMENT)
        return match_node_code_name(f->match);
    if (f->code != SCHED_FINDING_TAINT)
        return str_of(rows[f->code].code);
    return f->place.field == SCHED_FIELD_TOLERATIONS ? STR("no-toleration")
                                                     : match_code_name(f->match);
}

struct str sched_operand_name(enum sched_operand_name name) {
    return operand_names[name];
}

const struct sched_operand *sched_finding_get(const struct sched_finding *f,
                                              enum sched_operand_name name) {
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].name == name)
            return &f->v[i];
    return NULL;
}

bool sched_finding_is_of_node(const struct sched_finding *f) {
    bool is = false;
    for (size_t i = 0; i < f->n; i++)
        is |= f->v[i].of_node;
    return is;
}

/* ---- places ---- */

static void write_item(struct buf *out, uint32_t place) {
    buf_add_char(out, '[');
    buf_add_u64(out, place);
    buf_add_char(out, ']');
}

/* A path with the place for its #. */
static void write_path(struct buf *out, struct str path, uint32_t at) {
    struct str head, tail;
    bool has_place = str_cut(path, '#', &head, &tail);
    buf_add(out, head);
    if (!has_place)
        return;
    buf_add_u64(out, at);
    buf_add(out, tail);
}

static bool is_required(enum sched_field field) {
    return field == SCHED_FIELD_TERMS || field == SCHED_FIELD_ADDED_TERMS ||
           field == SCHED_FIELD_VOLUME_TERMS;
}

static bool is_preferred(enum sched_field field) {
    return field == SCHED_FIELD_PREFERRED_TERMS || field == SCHED_FIELD_ADDED_PREFERRED_TERMS;
}

void sched_place_write(struct buf *out, const struct sched_place *place) {
    bool is_item = is_required(place->field) && place->at != UINT32_MAX;
    write_path(out, fields[place->field].path, place->at);
    if (is_item)
        write_item(out, place->at);
    if ((!is_item && !is_preferred(place->field)) || place->list == SCHED_WHOLE_TERM)
        return;
    buf_add(out, place->list == SCHED_FIELDS ? STR(".matchFields") : STR(".matchExpressions"));
    write_item(out, place->requirement);
}

/* ---- operands ---- */

static void write_number(struct buf *out, enum sched_operand_kind kind, int64_t number) {
    if (kind <= SCHED_NUMBER) {
        buf_add_i64(out, number);
        return;
    }
    struct quantity q = kind == SCHED_MILLI
                            ? quantity_of_milli(number, QUANTITY_DECIMAL_SI)
                            : quantity_of_i64(number, kind == SCHED_BYTES ? QUANTITY_BINARY_SI
                                                                          : QUANTITY_DECIMAL_SI);
    quantity_write_canonical(out, &q);
}

/* "900..949", or "a|b|c|...": without blanks, as values have none. */
static void write_range(struct buf *out, const struct sched_operand *o) {
    const struct sched_range *r = o->range;
    if (r->is_number) {
        write_number(out, o->kind, r->least);
        buf_add(out, STR(".."));
        write_number(out, o->kind, r->most);
        return;
    }
    for (size_t i = 0; i < r->text_count; i++) {
        buf_add(out, i ? STR("|") : STR(""));
        buf_add(out, r->texts[i]);
    }
    buf_add(out, r->has_more ? STR("|...") : STR(""));
}

/* Texts of the scheduler quote as Go does: a quote inside has a backslash before it. */
static size_t skip_quoted(struct str text, size_t at) {
    while (at < text.n && text.p[at] != '"')
        at += text.p[at] == '\\' ? 2 : 1;
    return at < text.n ? at + 1 : text.n;
}

void sched_message_write(struct buf *out, struct str text, bool redact) {
    size_t at = 0;
    while (redact && at < text.n) {
        size_t quote = at;
        while (quote < text.n && text.p[quote] != '"')
            quote++;
        buf_add(out, str_sub(text, at, quote));
        if (quote == text.n)
            return;
        buf_add(out, STR("\"***\""));
        at = skip_quoted(text, quote + 1);
    }
    buf_add(out, str_sub(text, at, text.n));
}

/* The text of an operand, but for values: these are hidden, or left to others. */
static struct str text_of(const struct sched_operand *o, const struct sched_wording *w) {
    if (!o->is_node_name)
        return o->text;
    return w->node.p ? w->node : STR("{node}");
}

void sched_operand_write(struct buf *out, const struct sched_operand *o,
                         const struct sched_wording *w) {
    if (o->range)
        write_range(out, o);
    else if (o->kind >= SCHED_NUMBER)
        write_number(out, o->kind, o->number);
    else if (o->kind == SCHED_MESSAGE)
        sched_message_write(out, o->text, w->redact);
    else if (o->kind == SCHED_VALUE && w->redact)
        buf_add(out, STR("***"));
    else
        buf_add(out, text_of(o, w));
}

/* ---- clauses ---- */

static struct str get_text(const struct sched_finding *f, enum sched_operand_name name,
                           const struct sched_wording *w) {
    const struct sched_operand *o = sched_finding_get(f, name);
    return o ? text_of(o, w) : (struct str){0};
}

/* The node's value, or those of several nodes in the room. */
static struct str get_left(const struct sched_finding *f, const struct sched_wording *w,
                           struct buf *room) {
    const struct sched_operand *o = sched_finding_get(f, SCHED_OPERAND_LEFT);
    if (!o || !o->range)
        return get_text(f, SCHED_OPERAND_LEFT, w);
    write_range(room, o);
    return buf_view(room);
}

static void write_taint(struct buf *out, const struct sched_finding *f,
                        const struct sched_wording *w) {
    AUTO(buf_release) struct buf left = BUF_INIT(LIMIT_SENTENCE_BYTES);
    bool is_any = f->place.field == SCHED_FIELD_TOLERATIONS;
    const struct match_operands o = {.code = f->match,
                                     .toleration = is_any ? MATCH_NONE : f->place.at,
                                     .key = get_text(f, SCHED_OPERAND_SUBJECT, w),
                                     .value = get_left(f, w, &left),
                                     .effect = get_text(f, SCHED_OPERAND_EFFECT, w),
                                     .operator= f->operator,
                                     .wanted = get_text(f, SCHED_OPERAND_RIGHT, w),
                                     .detail = get_text(f, SCHED_OPERAND_DETAIL, w)};
    match_operands_write(out, &o, w->redact);
}

static enum match_node_part part_of(enum sched_field field) {
    if (is_preferred(field))
        return MATCH_NODE_PREFERRED;
    return field == SCHED_FIELD_NODE_SELECTOR ? MATCH_NODE_SELECTOR : MATCH_NODE_REQUIRED;
}

static void write_requirement(struct buf *out, const struct sched_finding *f,
                              const struct sched_wording *w) {
    AUTO(buf_release) struct buf left = BUF_INIT(LIMIT_SENTENCE_BYTES);
    const struct sched_operand *right = sched_finding_get(f, SCHED_OPERAND_RIGHT);
    const struct match_values single = {right ? &right->text : NULL, right ? 1 : 0, right ? 1 : 0};
    struct str claim = get_text(f, SCHED_OPERAND_CLAIM, w);
    const struct match_node_operands o = {
        .verdict = {.code = f->match,
                    .part = part_of(f->place.field),
                    .term = f->place.at,
                    .is_field = f->place.list == SCHED_FIELDS,
                    .requirement = f->place.requirement},
        .key = get_text(f, SCHED_OPERAND_SUBJECT, w),
        .operator= f->operator,
        .value = get_left(f, w, &left),
        .detail = get_text(f, SCHED_OPERAND_DETAIL, w),
        .values = right && right->kind == SCHED_VALUES ? right->values : &single};
    if (claim.p)
        buf_addf(out, "claim %.*s: volume %.*s: ", STR_ARG(claim),
                 STR_ARG(get_text(f, SCHED_OPERAND_VOLUME, w)));
    match_node_operands_write(out, &o, w->redact);
    if (is_preferred(f->place.field))
        buf_addf(out, " (weight %lld)",
                 (long long)sched_finding_get(f, SCHED_OPERAND_WEIGHT)->number);
}

/* Of an amount that is compared the nodes have so much at most, or at least. */
static bool is_end(const struct sched_finding *f, const struct sched_operand *o) {
    return o->name == SCHED_OPERAND_LEFT && o->range && o->range->is_number &&
           str_ends(f->operator, STR("="));
}

static void write_end(struct buf *out, const struct sched_finding *f,
                      const struct sched_operand *o) {
    bool is_most = str_is(f->operator, ">=");
    buf_add(out, is_most ? STR("at most ") : STR("at least "));
    write_number(out, o->kind, is_most ? o->range->most : o->range->least);
}

/* The node that has this end: " on n17". */
static void write_end_node(struct buf *out, const struct sched_finding *f) {
    const struct sched_operand *o = sched_finding_get(f, SCHED_OPERAND_LEFT);
    if (!o || !is_end(f, o))
        return;
    buf_add(out, STR(" on "));
    buf_add(out, str_is(f->operator, ">=") ? o->range->most_node : o->range->least_node);
}

/* One {name} of a template. */
static void write_named(struct buf *out, const struct sched_finding *f, struct str name,
                        const struct sched_wording *w) {
    if (str_is(name, "field"))
        write_path(out, fields[f->place.field].shorter, f->place.at);
    for (size_t i = 0; i < f->n; i++)
        if (str_eq(operand_names[f->v[i].name], name)) {
            if (is_end(f, &f->v[i]))
                write_end(out, f, &f->v[i]);
            else
                sched_operand_write(out, &f->v[i], w);
        }
}

static void write_template(struct buf *out, const struct sched_finding *f,
                           const struct sched_wording *w) {
    struct str rest = str_of(rows[f->code].sentence), text, name;
    while (str_cut(rest, '{', &text, &rest)) {
        buf_add(out, text);
        str_cut(rest, '}', &name, &rest);
        write_named(out, f, name, w);
    }
    buf_add(out, text);
    write_end_node(out, f);
}

void sched_finding_write(struct buf *out, const struct sched_finding *f,
                         const struct sched_wording *w) {
    if (f->code == SCHED_FINDING_TAINT)
        write_taint(out, f, w);
    else if (f->code == SCHED_FINDING_REQUIREMENT)
        write_requirement(out, f, w);
    else
        write_template(out, f, w);
}

/* ---- sentences ---- */

/* Findings as far as they have room. False: some have none. */
static bool write_findings(struct buf *out, const struct sched_cause *cause,
                           const struct sched_wording *w) {
    size_t start = out->n, end = out->n;
    for (size_t i = 0; i < cause->finding_count; i++) {
        buf_add(out, i ? STR("; ") : STR(""));
        sched_finding_write(out, &cause->findings[i], w);
        if (out->full || out->n - start > LIMIT_SENTENCE_BYTES) {
            out->n = end;
            return false;
        }
        end = out->n;
    }
    return true;
}

void sched_cause_write(struct buf *out, const struct sched_cause *cause,
                       const struct sched_wording *w) {
    size_t start = out->n;
    bool has_room = write_findings(out, cause, w), has_clauses = out->n > start;
    for (size_t i = 0; !has_clauses && i < cause->status.reason_count; i++)
        sched_message_write(out, cause->status.reasons[i], w->redact);
    if (!has_room)
        buf_addf(out, " … (a sentence ends at %u KiB)", LIMIT_SENTENCE_BYTES >> 10);
    else if (cause->cut)
        buf_addf(out, " … (a sentence has %u clauses at most)", LIMIT_EXPLAIN_FINDINGS);
}
