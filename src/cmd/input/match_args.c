/* One line of text to one toleration or taint. */
#include "cmd/input/match_args.h"

#include "api/names.h"
#include "api/object.h"

static const char *const operators[] = {"Equal",    "Exists",   "Lt",      "Gt",
                                        "SemverLt", "SemverGt", "SemverEq"};
static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

static bool is_one_of(struct str s, const char *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_is(s, list[i]))
            return true;
    return false;
}

#define IS_ONE_OF(s, list) is_one_of((s), (list), sizeof(list) / sizeof *(list))

/* "…:Effect": cuts the effect off, if there is one. */
static int cut_effect(struct str whole, struct str *text, struct str *effect, struct err *err) {
    size_t colon = text->n;
    while (colon > 0 && text->p[colon - 1] != ':')
        colon--;
    if (colon == 0)
        return 0;
    *effect = str_sub(*text, colon, text->n);
    *text = str_sub(*text, 0, colon - 1);
    if (IS_ONE_OF(*effect, effects))
        return 0;
    return err_set(
        err, ERR_USAGE,
        "invalid toleration \"%.*s\": the effect must be NoSchedule, PreferNoSchedule or "
        "NoExecute",
        STR_ARG(whole));
}

/* The next word of *text; empty at the end. */
static struct str next_word(struct str *text) {
    struct str word;
    *text = str_trim(*text);
    str_cut(*text, ' ', &word, text);
    return word;
}

static int toleration_from_json(struct arena *a, struct str text, struct api_toleration *out,
                                struct err *err) {
    struct json tree;
    struct api_faults faults;
    api_faults_init(&faults, a);
    if (json_parse(a, text, NULL, &tree, err) < 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "invalid toleration");
    }
    if (api_struct_decode(a, &api_types[API_T_toleration], &tree, out, &faults) < 0)
        return err_set(err, ERR_USAGE, "invalid toleration: %.*s",
                       STR_ARG(faults.v[faults.n - 1].text));
    if (!out->extra)
        return 0;
    return err_set(err, ERR_USAGE, "invalid toleration: unknown field \"%.*s\"",
                   STR_ARG(out->extra->members[0].key));
}

/* "invalid WHAT: TEXT, what is wrong with the name" */
static int check_name(const char *what, struct str text, struct names_errs errs, struct err *err) {
    if (errs.n == 0)
        return 0;
    AUTO(buf_release) struct buf why = BUF_INIT(ERR_TEXT);
    names_errs_join(&why, &errs, STR("; "));
    return err_set(err, ERR_USAGE, "invalid %s: %.*s, %.*s", what, STR_ARG(text),
                   STR_ARG(buf_view(&why)));
}

/* One word alone: KEY=VALUE, KEY, or Exists. */
static void toleration_from_word(struct str word, struct api_toleration *out) {
    bool equal = str_cut(word, '=', &out->key, &out->value);
    out->operator= equal ? STR("Equal") : STR("Exists");
    if (str_is(word, "Exists"))
        out->key = STR("");
}

/* KEY OPERATOR [VALUE], or one word. */
static int toleration_from_words(struct str text, struct str rest, struct api_toleration *out,
                                 struct err *err) {
    struct str key = next_word(&rest), operator= next_word(&rest), value = next_word(&rest);
    if (!operator.n) {
        toleration_from_word(key, out);
        return 0;
    }
    if (!IS_ONE_OF(operator, operators))
        return err_set(err, ERR_USAGE,
                       "invalid toleration \"%.*s\": the operator must be Equal, Exists, Lt, Gt, "
                       "SemverLt, SemverGt or SemverEq",
                       STR_ARG(text));
    if (str_trim(rest).n)
        return err_set(err, ERR_USAGE,
                       "invalid toleration \"%.*s\": it must be KEY OPERATOR [VALUE][:EFFECT]",
                       STR_ARG(text));
    out->key = key;
    out->operator= operator;
    out->value = value;
    return 0;
}

int match_args_toleration(struct arena *a, struct str text, struct api_toleration *out,
                          struct err *err) {
    *out = (struct api_toleration){0};
    text = str_trim(text);
    if (str_starts(text, STR("{")))
        return toleration_from_json(a, text, out, err);
    struct str rest = arena_str(a, text);
    if (!rest.n)
        return err_set(err, ERR_USAGE, "invalid toleration: it is empty");
    if (cut_effect(text, &rest, &out->effect, err) < 0 ||
        toleration_from_words(text, rest, out, err) < 0)
        return -1;
    if (!out->key.n && str_is(out->operator, "Exists"))
        return 0;
    return check_name("toleration", text, names_check_label_key(out->key), err);
}

int match_args_taint(struct arena *a, struct str text, struct api_taint *out, struct err *err) {
    struct str pair, more, whole = arena_str(a, text);
    *out = (struct api_taint){0};
    bool has_effect = str_cut(whole, ':', &pair, &out->effect);
    bool has_value = str_cut(pair, '=', &out->key, &out->value);
    if (!has_effect || str_find_char(out->effect, ':') != STR_NONE ||
        (has_value && str_cut(out->value, '=', &more, &more)))
        return err_set(err, ERR_USAGE,
                       "invalid taint spec: %.*s, it must be KEY=VALUE:EFFECT or KEY:EFFECT",
                       STR_ARG(text));
    if (!IS_ONE_OF(out->effect, effects))
        return err_set(err, ERR_USAGE,
                       "invalid taint effect: %.*s, unsupported taint effect; it must be "
                       "NoSchedule, PreferNoSchedule or NoExecute",
                       STR_ARG(out->effect));
    if (check_name("taint spec", text, names_check_label_value(out->value), err) < 0)
        return -1;
    return check_name("taint spec", text, names_check_label_key(out->key), err);
}
