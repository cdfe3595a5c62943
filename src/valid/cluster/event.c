/*
 * Events: those of old, and those of events.k8s.io, which have to say more and never change. Both
 * are judged as events of core are.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateEventCreate,
 * func ValidateEventUpdate, func legacyValidateEvent.
 */
#include "codec/time.h"
#include "valid/kinds_int.h"
#include "valid/metadata_int.h"

enum { MOST_WORD_BYTES = 128, MOST_MESSAGE_BYTES = 1024 };

/* ---- what events of old have to say ---- */

static void check_namespace_of_old(struct valid *v, const struct path *p,
                                   const struct api_event *e) {
    struct str of = e->involved_object.namespace, in = e->metadata.namespace;
    bool fits = of.n ? str_eq(in, of) : !in.n || str_is(in, "default");
    if (!fits)
        valid__invalid(v, p, VALUE_Q(of), "does not match event.namespace");
}

static void check_namespace(struct valid *v, const struct path *p, const struct api_event *e) {
    struct str of = e->involved_object.namespace, in = e->metadata.namespace;
    if (!of.n && !str_is(in, "default") && !str_is(in, "kube-system"))
        valid__invalid(v, p, VALUE_Q(of), "does not match event.namespace");
}

static void check_word(struct valid *v, const char *name, struct str word) {
    if (!word.n)
        valid__required(v, AT(NULL, name), NO_DETAIL);
    if (word.n > MOST_WORD_BYTES)
        valid__invalid(v, AT(NULL, name), VALUE_Q(STR("")), "can have at most %d characters",
                       MOST_WORD_BYTES);
}

/* An event with a time is a new one. */
static void check_event(struct valid *v, const struct api_event *e, const char *reporter) {
    const struct path *namespace = AT(AT(NULL, "involvedObject"), "namespace");
    if (!e->event_time.set) {
        check_namespace_of_old(v, namespace, e);
        return;
    }
    check_namespace(v, namespace, e);
    if (!e->reporting_component.n)
        valid__required(v, AT(NULL, reporter), NO_DETAIL);
    valid__label_key(v, AT(NULL, reporter), e->reporting_component);
    check_word(v, "reportingInstance", e->reporting_instance);
    check_word(v, "action", e->action);
    check_word(v, "reason", e->reason);
    if (e->message.n > MOST_MESSAGE_BYTES)
        valid__invalid(v, AT(NULL, "message"), VALUE_Q(STR("")), "can have at most %d characters",
                       MOST_MESSAGE_BYTES);
}

/* ---- events.k8s.io ---- */

/* The event as core has it; series points to where there is room for one. */
static struct api_event as_core(const struct api_object *o, struct api_event_series *series) {
    const struct api_events_event *e = o->body;
    if (api_object_is(o, API_T_event))
        return *(const struct api_event *)o->body;
    if (e->series)
        *series = (struct api_event_series){.count = e->series->count,
                                            .last_observed_time = e->series->last_observed_time};
    return (struct api_event){
        .metadata = e->metadata,
        .involved_object = e->regarding,
        .reason = e->reason,
        .message = e->note,
        .source = e->deprecated_source,
        .first_timestamp = e->deprecated_first_timestamp,
        .last_timestamp = e->deprecated_last_timestamp,
        .count = e->deprecated_count,
        .type = e->type,
        .event_time = e->event_time,
        .series = e->series ? series : NULL,
        .action = e->action,
        .related = e->related,
        .reporting_component = e->reporting_controller,
        .reporting_instance = e->reporting_instance,
    };
}

static void check_series(struct valid *v, const struct api_event *e) {
    if (!e->series)
        return;
    if (e->series->count < 2)
        valid__invalid(v, AT(NULL, "series.count"), VALUE_Q(STR("")), "should be at least 2");
    if (!e->series->last_observed_time.set)
        valid__required(v, AT(NULL, "series.lastObservedTime"), NO_DETAIL);
}

static void need_unset(struct valid *v, const char *name, bool is_set) {
    if (is_set)
        valid__invalid(v, AT(NULL, name), VALUE_Q(STR("")), "needs to be unset");
}

static void create_events_event(struct valid *v, const struct api_object *o) {
    struct api_event_series series;
    struct api_event e = as_core(o, &series);
    check_event(v, &e, "reportingController");
    valid__object_meta(v, AT(NULL, "metadata"), o->meta, true, valid__name_subdomain);
    check_series(v, &e);
    if (!e.event_time.set)
        valid__required(v, AT(NULL, "eventTime"), NO_DETAIL);
    if (!str_is(e.type, "Normal") && !str_is(e.type, "Warning"))
        valid__invalid(v, AT(NULL, "type"), VALUE_Q(STR("")), "has invalid value: %.*s",
                       STR_ARG(e.type));
    need_unset(v, "firstTimestamp", e.first_timestamp.set);
    need_unset(v, "lastTimestamp", e.last_timestamp.set);
    need_unset(v, "count", e.count != 0);
    need_unset(v, "source", e.source.component.n || e.source.host.n);
}

/* ---- what does not change ---- */

static struct value time_value(struct arena *a, struct api_time t, bool is_micro) {
    if (!t.set)
        return VALUE_JSON((struct json){.kind = JSON_NULL});
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    if (is_micro)
        time_write_micro(&text, (struct time_instant){t.sec, t.nsec});
    else
        time_write(&text, (struct time_instant){t.sec, t.nsec});
    return VALUE_NAMED(arena_str(a, buf_view(&text)));
}

static bool same_time(struct api_time a, struct api_time b, int32_t precision) {
    return a.set == b.set && a.sec == b.sec && a.nsec / precision == b.nsec / precision;
}

static void keep(struct valid *v, const char *name, bool is_same, struct value value) {
    if (!is_same)
        valid__immutable(v, AT(NULL, name), value);
}

static void keep_word(struct valid *v, const char *name, struct str now, struct str old) {
    keep(v, name, str_eq(now, old), VALUE_Q(now));
}

static void keep_struct(struct valid *v, const char *name, enum api_type_id type, const void *now,
                        const void *old) {
    bool is_same = now && old ? valid__equal(type, now, old) : now == old;
    keep(v, name, is_same, valid__struct_value(v->errs->a, type, now));
}

static void keep_past(struct valid *v, const struct api_event *e, const struct api_event *old) {
    struct arena *a = v->errs->a;
    keep(v, "firstTimestamp", same_time(e->first_timestamp, old->first_timestamp, 1),
         time_value(a, e->first_timestamp, false));
    keep(v, "lastTimestamp", same_time(e->last_timestamp, old->last_timestamp, 1),
         time_value(a, e->last_timestamp, false));
    keep(v, "count", e->count == old->count, VALUE_I64(e->count));
    keep_word(v, "type", e->type, old->type);
    keep(v, "eventTime", same_time(e->event_time, old->event_time, 1000),
         time_value(a, e->event_time, true));
}

static bool same_series(const struct api_event *e, const struct api_event *old) {
    const struct api_event_series *s = e->series, *was = old->series;
    if (!s || !was)
        return s == was;
    return s->count == was->count && same_time(s->last_observed_time, was->last_observed_time, 1);
}

static void update_events_event(struct valid *v, const struct api_object *o,
                                const struct api_object *before) {
    struct api_event_series series, old_series;
    struct api_event e = as_core(o, &series), old = as_core(before, &old_series);
    check_event(v, &e, "reportingController");
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    if (!same_series(&e, &old))
        check_series(v, &e);
    keep_struct(v, "involvedObject", API_T_object_reference, &e.involved_object,
                &old.involved_object);
    keep_word(v, "reason", e.reason, old.reason);
    keep_word(v, "message", e.message, old.message);
    keep_struct(v, "source", API_T_event_source, &e.source, &old.source);
    keep_past(v, &e, &old);
    keep_word(v, "action", e.action, old.action);
    keep_struct(v, "related", API_T_object_reference, e.related, old.related);
    keep_word(v, "reportingController", e.reporting_component, old.reporting_component);
    keep_word(v, "reportingInstance", e.reporting_instance, old.reporting_instance);
}

/* ---- events of old ---- */

/* Does the client speak of events.k8s.io, though the event is stored as one of core? */
static bool is_strict(const struct valid *v) {
    return v->asked && v->asked->type == &api_types[API_T_events_event];
}

/* Upstream asks no more of them than what it asks of all objects. */
static void create_event(struct valid *v, const struct api_object *o) {
    size_t before = valid__found(v);
    if (is_strict(v)) {
        create_events_event(v, o);
        return;
    }
    check_event(v, o->body, "reportingComponent");
    if (valid__found(v) == before)
        valid__metadata_create(v, o);
}

static void update_event(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    if (is_strict(v))
        update_events_event(v, o, old);
    else
        check_event(v, o->body, "reportingComponent");
}

const struct valid_kind valid__event = {
    .type = API_T_event, .create = create_event, .update = update_event};
const struct valid_kind valid__events_event = {
    .type = API_T_events_event, .create = create_events_event, .update = update_events_event};
