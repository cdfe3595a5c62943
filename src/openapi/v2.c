/*
 * OpenAPI version 2 from version 3: references lead elsewhere, bodies are parameters, what an
 * operation takes and gives is told once for all answers, and defaults are not told.
 *
 * Follows k8s.io/kube-openapi pkg/builder, type openAPI.
 */
#include <string.h>

#include "openapi/openapi_int.h"

#define REF_V3 "#/components/schemas/"
#define REF_V2 "#/definitions/"

static struct json convert(struct arena *a, const struct json *v);

static struct json reference(struct arena *a, const struct json *v3) {
    struct str text = json_str(v3), name = str_sub(text, strlen(REF_V3), text.n);
    return json_of_str(arena_printf(a, REF_V2 "%.*s", STR_ARG(name)));
}

static bool is_dropped(struct str key) {
    return str_is(key, "default");
}

/* What can be two things is a text to old clients. */
static void convert_member(struct arena *a, const struct json_member *m, struct json *out) {
    if (is_dropped(m->key))
        return;
    if (str_is(m->key, "$ref"))
        json_add(a, out, m->key, reference(a, &m->value));
    else if (str_is(m->key, "allOf"))
        json_add(a, out, STR("$ref"), reference(a, json_get(&m->value.items[0], STR("$ref"))));
    else if (str_is(m->key, "oneOf"))
        openapi__add_str(a, out, "type", STR("string"));
    else
        json_add(a, out, m->key, convert(a, &m->value));
}

/* The names of properties are no keywords. */
static struct json convert_properties(struct arena *a, const struct json *v) {
    struct json out = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < v->n; i++)
        json_add(a, &out, v->members[i].key, convert(a, &v->members[i].value));
    return out;
}

/* A schema, with what is in it. */
static struct json convert(struct arena *a, const struct json *v) {
    struct json out = {.kind = v->kind};
    if (v->kind == JSON_ARRAY) {
        for (uint32_t i = 0; i < v->n; i++)
            json_append(a, &out, convert(a, &v->items[i]));
        return out;
    }
    if (v->kind != JSON_OBJECT)
        return *v;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (str_is(m->key, "properties"))
            json_add(a, &out, m->key, convert_properties(a, &m->value));
        else
            convert_member(a, m, &out);
    }
    return out;
}

/* ---- operations ---- */

/* The schema of a parameter becomes a part of it. */
static struct json parameter(struct arena *a, const struct json *v3) {
    struct json out = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < v3->n; i++) {
        const struct json_member *m = &v3->members[i];
        for (uint32_t j = 0; str_is(m->key, "schema") && j < m->value.n; j++)
            json_add(a, &out, m->value.members[j].key, m->value.members[j].value);
        if (!str_is(m->key, "schema"))
            json_add(a, &out, m->key, m->value);
    }
    return out;
}

static void add_parameters(struct arena *a, struct json *list, const struct json *v3) {
    for (uint32_t i = 0; v3 && i < v3->n; i++)
        json_append(a, list, parameter(a, &v3->items[i]));
}

/* The schema that all contents share. */
static const struct json *schema_of(const struct json *content) {
    return content && content->n ? json_get(&content->members[0].value, STR("schema")) : NULL;
}

static struct json media_of(struct arena *a, const struct json *content) {
    struct json list = {.kind = JSON_ARRAY};
    for (uint32_t i = 0; content && i < content->n; i++)
        json_append(a, &list, json_of_str(content->members[i].key));
    if (!list.n)
        json_append(a, &list, json_of_str(STR("*/*")));
    return list;
}

static void add_body(struct arena *a, struct json *list, const struct json *request) {
    if (!request)
        return;
    struct json body = {.kind = JSON_OBJECT};
    const struct json *required = json_get(request, STR("required"));
    openapi__add_str(a, &body, "name", STR("body"));
    openapi__add_str(a, &body, "in", STR("body"));
    if (required)
        json_add(a, &body, STR("required"), *required);
    json_add(a, &body, STR("schema"), convert(a, schema_of(json_get(request, STR("content")))));
    json_append(a, list, body);
}

static struct json responses(struct arena *a, const struct json *v3) {
    struct json out = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < v3->n; i++) {
        const struct json *one = &v3->members[i].value;
        const struct json *schema = schema_of(json_get(one, STR("content")));
        struct json answer = {.kind = JSON_OBJECT};
        json_add(a, &answer, STR("description"), *json_get(one, STR("description")));
        if (schema)
            json_add(a, &answer, STR("schema"), convert(a, schema));
        json_add(a, &out, v3->members[i].key, answer);
    }
    return out;
}

static struct json operation(struct arena *a, const struct json *v3) {
    struct json out = {.kind = JSON_OBJECT}, params = {.kind = JSON_ARRAY};
    struct json schemes = {.kind = JSON_ARRAY};
    const struct json *request = json_get(v3, STR("requestBody"));
    const struct json *answers = json_get(v3, STR("responses"));
    json_append(a, &schemes, json_of_str(STR("https")));
    json_add(a, &out, STR("consumes"),
             media_of(a, request ? json_get(request, STR("content")) : NULL));
    json_add(a, &out, STR("produces"),
             media_of(a, json_get(&answers->members[0].value, STR("content"))));
    json_add(a, &out, STR("schemes"), schemes);
    add_body(a, &params, request);
    add_parameters(a, &params, json_get(v3, STR("parameters")));
    if (params.n)
        json_add(a, &out, STR("parameters"), params);
    json_add(a, &out, STR("responses"), responses(a, answers));
    for (uint32_t i = 0; i < v3->n; i++)
        if (!json_get(&out, v3->members[i].key) && !str_is(v3->members[i].key, "requestBody"))
            json_add(a, &out, v3->members[i].key, v3->members[i].value);
    return out;
}

static struct json path_item(struct arena *a, const struct json *v3) {
    struct json out = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < v3->n; i++) {
        const struct json_member *m = &v3->members[i];
        struct json list = {.kind = JSON_ARRAY};
        add_parameters(a, &list, str_is(m->key, "parameters") ? &m->value : NULL);
        json_add(a, &out, m->key, str_is(m->key, "parameters") ? list : operation(a, &m->value));
    }
    return out;
}

/* ---- documents ---- */

static struct json security(struct arena *a) {
    struct json list = {.kind = JSON_ARRAY}, one = {.kind = JSON_OBJECT};
    json_add(a, &one, STR("BearerToken"), (struct json){.kind = JSON_ARRAY});
    json_append(a, &list, one);
    return list;
}

struct json openapi__to_v2(struct arena *a, const struct json *v3) {
    struct json out = {.kind = JSON_OBJECT}, paths = {.kind = JSON_OBJECT};
    const struct json *from = json_get(v3, STR("paths"));
    const struct json *components = json_get(v3, STR("components"));
    for (uint32_t i = 0; i < from->n; i++)
        json_add(a, &paths, from->members[i].key, path_item(a, &from->members[i].value));
    openapi__add_str(a, &out, "swagger", STR("2.0"));
    json_add(a, &out, STR("info"), *json_get(v3, STR("info")));
    json_add(a, &out, STR("paths"), paths);
    json_add(a, &out, STR("definitions"),
             convert_properties(a, json_get(components, STR("schemas"))));
    json_add(a, &out, STR("securityDefinitions"), *json_get(components, STR("securitySchemes")));
    json_add(a, &out, STR("security"), security(a));
    return out;
}
