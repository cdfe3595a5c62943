/* Clauses of headers, by their weight. */
#include "server/media.h"

#include <stdlib.h>

#define ACCEPTED_MOST 32

/* One clause of an Accept header. */
struct clause {
    struct str type; /* application/json */
    struct str as, group, version, stream;
    size_t place;
    int weight; /* thousandths */
    bool pretty;
};

/* A weight as thousandths; what cannot be read counts in full. */
static int weight_of(struct str text) {
    int v = 0, scale = 1000;
    if (!text.n || text.p[0] < '0' || text.p[0] > '1')
        return 1000;
    v = (text.p[0] - '0') * 1000;
    for (size_t i = 2; i < text.n && scale > 1 && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
        scale /= 10;
        v += (text.p[i] - '0') * scale;
    }
    return v > 1000 ? 1000 : v;
}

static struct str unquote(struct str s) {
    return s.n > 1 && s.p[0] == '"' && s.p[s.n - 1] == '"' ? str_sub(s, 1, s.n - 1) : s;
}

static struct clause read_clause(struct str text, size_t place) {
    struct clause c = {.weight = 1000, .place = place};
    struct str parameter, name, value;
    str_cut(text, ';', &c.type, &text);
    c.type = str_trim(c.type);
    while (text.n) {
        str_cut(text, ';', &parameter, &text);
        str_cut(parameter, '=', &name, &value);
        name = str_trim(name);
        value = unquote(str_trim(value));
        if (str_is(name, "q"))
            c.weight = weight_of(value);
        else if (str_is(name, "as"))
            c.as = value;
        else if (str_is(name, "g"))
            c.group = value;
        else if (str_is(name, "v"))
            c.version = value;
        else if (str_is(name, "stream"))
            c.stream = value;
        else if (str_is(name, "pretty"))
            c.pretty = str_is(value, "1");
    }
    return c;
}

/* How little a type says: one star, or two. */
static int stars_of(struct str type) {
    return str_is(type, "*/*") ? 2 : str_ends(type, STR("/*"));
}

/* By weight, then by how much is said, then in the order given. */
static int by_weight(const void *a, const void *b) {
    const struct clause *x = a, *y = b;
    if (x->weight != y->weight)
        return y->weight - x->weight;
    if (stars_of(x->type) != stars_of(y->type))
        return stars_of(x->type) - stars_of(y->type);
    return (x->place > y->place) - (x->place < y->place);
}

static const struct {
    struct str type;
    enum server_format format;
} formats[] = {
    {STR_INIT("application/json"), SERVER_JSON},
    {STR_INIT("application/yaml"), SERVER_YAML},
    {STR_INIT("application/vnd.kubernetes.protobuf"), SERVER_PROTOBUF},
    {STR_INIT("application/*"), SERVER_JSON},
    {STR_INIT("*/*"), SERVER_JSON},
};

static bool format_of(struct str type, enum server_format *out) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (str_eq(type, formats[i].type)) {
            *out = formats[i].format;
            return true;
        }
    return false;
}

static const struct {
    const char *as, *group;
    enum server_shape shape;
    enum server_shapes least; /* that have it */
} shapes_by_name[] = {
    {"Table", "meta.k8s.io", SERVER_TABLE, SERVER_SHAPES_ALL},
    {"PartialObjectMetadata", "meta.k8s.io", SERVER_PARTIAL, SERVER_SHAPES_METADATA},
    {"PartialObjectMetadataList", "meta.k8s.io", SERVER_PARTIAL_LIST, SERVER_SHAPES_METADATA},
};

/* What a clause makes of the answer; false: it asks for what the handler does not know. */
static bool shape_of(const struct clause *c, enum server_shapes shapes, struct server_media *out) {
    out->shape = SERVER_WHOLE;
    out->is_beta = str_is(c->version, "v1beta1");
    if (!c->as.n)
        return true;
    if (shapes == SERVER_SHAPES_DISCOVERY) {
        out->shape = SERVER_AGGREGATED;
        return str_is(c->as, "APIGroupDiscoveryList") && str_is(c->group, "apidiscovery.k8s.io") &&
               str_is(c->version, "v2");
    }
    for (size_t i = 0; i < sizeof shapes_by_name / sizeof *shapes_by_name; i++)
        if (str_is(c->as, shapes_by_name[i].as) && str_is(c->group, shapes_by_name[i].group)) {
            out->shape = shapes_by_name[i].shape;
            return shapes >= shapes_by_name[i].least &&
                   (out->is_beta || str_is(c->version, "v1")) &&
                   (out->shape != SERVER_TABLE || out->format != SERVER_PROTOBUF);
        }
    return false;
}

bool server_media_accept(struct str accept, enum server_shapes shapes, struct server_media *out) {
    struct clause clauses[ACCEPTED_MOST];
    size_t n = 0;
    *out = (struct server_media){.format = SERVER_JSON};
    if (!str_trim(accept).n)
        return true;
    for (struct str text; accept.n && n < ACCEPTED_MOST; n++) {
        str_cut(accept, ',', &text, &accept);
        clauses[n] = read_clause(text, n);
    }
    qsort(clauses, n, sizeof *clauses, by_weight);
    for (size_t i = 0; i < n; i++)
        if (clauses[i].weight && format_of(clauses[i].type, &out->format) &&
            shape_of(&clauses[i], shapes, out) &&
            (!clauses[i].stream.n || str_is(clauses[i].stream, "watch"))) {
            out->pretty = clauses[i].pretty;
            return true;
        }
    return false;
}

bool server_media_offers(struct str accept, const char *type) {
    if (!str_trim(accept).n)
        return true;
    for (struct str text, one, rest; accept.n;) {
        str_cut(accept, ',', &text, &accept);
        str_cut(text, ';', &one, &rest);
        one = str_trim(one);
        if (str_is(one, type) || str_is(one, "*/*"))
            return true;
    }
    return false;
}

bool server_media_is_served(struct str accept) {
    enum server_format format;
    if (!accept.n)
        return true;
    for (struct str text, type, rest; accept.n;) {
        str_cut(accept, ',', &text, &accept);
        str_cut(text, ';', &type, &rest);
        type = str_trim(type);
        if (format_of(type, &format) && !str_is(type, "application/*"))
            return true;
    }
    return false;
}

bool server_media_is_for_people(struct str pretty, struct str user_agent) {
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const struct str agents[] = {STR_INIT("curl"), STR_INIT("Wget"),
                                        STR_INIT("Mozilla/5.0")};
    if (pretty.n) {
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
            if (str_is(pretty, yes[i]))
                return true;
        return false;
    }
    for (size_t i = 0; i < sizeof agents / sizeof *agents; i++)
        if (str_starts(user_agent, agents[i]))
            return true;
    return false;
}

bool server_media_of_body(struct str content_type, enum server_format *out) {
    struct clause c = read_clause(content_type, 0);
    *out = SERVER_JSON;
    return !c.type.n || (format_of(c.type, out) && c.type.p[c.type.n - 1] != '*');
}

bool server_media_of_patch(struct str content_type, enum apiserver_patch_type *out) {
    static const struct {
        const char *type;
        enum apiserver_patch_type patch;
    } patches[] = {
        {"application/json-patch+json", APISERVER_JSON_PATCH},
        {"application/merge-patch+json", APISERVER_MERGE_PATCH},
        {"application/strategic-merge-patch+json", APISERVER_STRATEGIC_PATCH},
        {"application/apply-patch+yaml", APISERVER_APPLY_PATCH},
    };
    struct clause c = read_clause(content_type, 0);
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++)
        if (str_is(c.type, patches[i].type)) {
            *out = patches[i].patch;
            return true;
        }
    return false;
}

struct str server_media_type(const struct server_media *m, bool is_watch) {
    switch (m->format) {
    case SERVER_YAML:
        return STR("application/yaml");
    case SERVER_PROTOBUF:
        return is_watch ? STR("application/vnd.kubernetes.protobuf;stream=watch")
                        : STR("application/vnd.kubernetes.protobuf");
    default:
        return STR("application/json");
    }
}
