/* jwt.jsonl: tokens of service accounts, signed and believed. */
#include "auth/token.h"
#include "base/vec.h"
#include "members.h"
#include "vectors.h"

static struct api_strs read_strs(struct arena *a, const struct json *list) {
    struct api_strs strs = {0};
    if (!list)
        return strs;
    strs.v = arena_array(a, struct str, list->n);
    for (; strs.n < list->n; strs.n++)
        strs.v[strs.n] = json_str(&list->items[strs.n]);
    return strs;
}

static int64_t read_number(const struct json *of, const char *key) {
    const struct json *v = json_get(of, str_of(key));
    return v && v->kind == JSON_INT ? v->i : 0;
}

/* ---- objects ---- */

struct objects {
    VEC(const struct api_object *) v;
};

static const struct api_object *get_object(void *ctx, enum api_type_id type, struct str namespace,
                                           struct str name) {
    const struct objects *objects = ctx;
    for (size_t i = 0; i < objects->v.n; i++) {
        const struct api_object *o = objects->v.v[i];
        if (api_object_is(o, type) && str_eq(o->meta->namespace, namespace) &&
            str_eq(o->meta->name, name))
            return api_object_ref(o);
    }
    return NULL;
}

static void read_objects(const struct json *list, struct objects *out) {
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct api_object *o;
        if (api_object_decode(&list->items[i], NULL, &o, NULL) == 0)
            vec_push(&out->v, api_publish(o));
    }
}

/* ---- signing ---- */

static void read_reference(const struct json *of, const char *key, struct str *name,
                           struct str *uid) {
    const struct json *ref = json_get(of, str_of(key));
    *name = vectors_text(ref, STR("name"));
    *uid = vectors_text(ref, STR("uid"));
}

static struct auth_claims read_claims(struct arena *a, const struct json *c, int64_t now) {
    struct auth_claims claims = {.namespace = vectors_text(c, STR("namespace")),
                                 .name = vectors_text(c, STR("name")),
                                 .uid = vectors_text(c, STR("uid")),
                                 .audiences = read_strs(a, json_get(c, STR("audiences"))),
                                 .issued = now,
                                 .expires = now + read_number(c, "seconds"),
                                 .id = vectors_text(c, STR("id"))};
    int64_t warn_after = read_number(c, "warnAfter");
    claims.warn_after = warn_after ? now + warn_after : 0;
    read_reference(c, "pod", &claims.pod_name, &claims.pod_uid);
    read_reference(c, "node", &claims.node_name, &claims.node_uid);
    read_reference(c, "secret", &claims.secret_name, &claims.secret_uid);
    return claims;
}

/* Signatures with RSA are the same each time; of others the text that is signed is. */
static int check_signing(struct arena *a, const struct json *line, const struct auth_issuer *issuer,
                         int64_t now, struct buf *why) {
    struct auth_claims claims = read_claims(a, json_get(line, STR("claims")), now);
    struct json got = {.kind = JSON_OBJECT};
    struct err err = {0};
    struct str token = auth_token_sign(issuer, a, &claims, &err);
    if (!token.p) {
        buf_addf(why, "%s", err.msg);
        return -1;
    }
    bool is_curve = json_get(line, STR("signed_text"));
    if (is_curve)
        while (token.p[token.n - 1] != '.')
            token.n--;
    json_add(a, &got, is_curve ? STR("signed_text") : STR("signed"),
             json_of_str(is_curve ? str_sub(token, 0, token.n - 1) : token));
    return vectors_compare_members(line, &got, why);
}

/* ---- believing ---- */

static struct json encode_strs(struct arena *a, const struct api_strs *strs) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < strs->n; i++)
        json_append(a, &list, json_of_str(strs->v[i]));
    return list;
}

static struct json encode_user(struct arena *a, const struct auth_user *u) {
    struct json user = {.kind = JSON_OBJECT}, extra = {.kind = JSON_OBJECT};
    json_add(a, &user, STR("name"), json_of_str(u->name));
    json_add(a, &user, STR("uid"), json_of_str(u->uid));
    json_add(a, &user, STR("groups"), encode_strs(a, &u->groups));
    for (size_t i = 0; i < u->extra.n; i++)
        json_add(a, &extra, u->extra.v[i].key, encode_strs(a, &u->extra.v[i].value));
    json_add(a, &user, STR("extra"), u->extra.n ? extra : (struct json){.kind = JSON_NULL});
    return user;
}

/* Words about signatures, and those of upstream's libraries, are not compared: whether a text is
 * read or its signature computed first decides which they are. */
static struct str spoken(struct str why) {
    bool is_unspoken = str_is(why, "invalid bearer token") || str_starts(why, STR("go-jose/")) ||
                       str_starts(why, STR("invalid signature")) ||
                       str_is(why, "the claims of the token cannot be read");
    return is_unspoken ? STR("") : why;
}

static int check_token(struct arena *a, const struct json *line, const struct auth_issuer *issuer,
                       int64_t now, struct buf *why) {
    const struct auth_authenticator who = {.issuer = issuer};
    struct api_strs wanted = read_strs(a, json_get(line, STR("wanted")));
    struct auth_answer answer =
        auth_authenticate_token(&who, a, vectors_text(line, STR("token")), &wanted, now);
    struct json got = {.kind = JSON_OBJECT};
    bool is_known = answer.outcome == AUTH_KNOWN;
    json_add(a, &got, STR("authenticated"), json_of_bool(is_known));
    if (is_known) {
        json_add(a, &got, STR("user"), encode_user(a, &answer.user));
        json_add(a, &got, STR("for"), encode_strs(a, &answer.audiences));
    } else {
        json_add(a, &got, STR("error"), json_of_str(spoken(answer.why)));
    }
    return vectors_compare_members(line, &got, why);
}

int vectors_check_jwt(struct arena *a, const struct json *line, struct buf *why) {
    struct err err = {0};
    struct objects objects = {0};
    struct api_strs pems = read_strs(a, json_get(line, STR("keys")));
    struct auth_keys *keys = auth_keys_new(&pems, &err);
    if (!keys) {
        buf_addf(why, "%s", err.msg);
        return -1;
    }
    struct auth_issuer issuer = {.names = read_strs(a, json_get(line, STR("issuers"))),
                                 .audiences = read_strs(a, json_get(line, STR("audiences"))),
                                 .keys = keys,
                                 .objects = {.ctx = &objects, .get = get_object}};
    int64_t now = read_number(line, "now");
    read_objects(json_get(line, STR("objects")), &objects);
    int rc = json_get(line, STR("claims")) ? check_signing(a, line, &issuer, now, why)
                                           : check_token(a, line, &issuer, now, why);
    for (size_t i = 0; i < objects.v.n; i++)
        api_object_unref(objects.v.v[i]);
    vec_release(&objects.v);
    auth_keys_free(keys);
    return rc;
}
