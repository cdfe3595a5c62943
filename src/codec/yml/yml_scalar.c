/*
 * What a scalar means: the rules of go-yaml v2 as kubectl uses it, then of the conversion to JSON.
 * YAML 1.1 booleans, octal numbers with 0 and 0o, underscores in numbers, no sexagesimals;
 * timestamps stay strings.
 *
 * Follows go.yaml.in/yaml/v2, func resolve, func (*decoder) scalar.
 * Follows sigs.k8s.io/yaml, func convertToJSONableObject.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "codec/base64.h"
#include "codec/time.h"
#include "codec/yml/yml_int.h"

enum type { NONE, STRING, BOOL, INT, FLOAT, NIL, TIMESTAMP, BINARY, OTHER };

struct meaning {
    enum type type;
    bool b;
    struct yml_number number; /* INT and FLOAT */
};

#define TAG_PREFIX "tag:yaml.org,2002:"

/* What an explicit tag asks for, and its short name in error texts. */
static const struct {
    const char *tag;
    enum type type;
} tags[] = {
    {TAG_PREFIX "str", STRING},    {TAG_PREFIX "bool", BOOL}, {TAG_PREFIX "int", INT},
    {TAG_PREFIX "float", FLOAT},   {TAG_PREFIX "null", NIL},  {TAG_PREFIX "timestamp", TIMESTAMP},
    {TAG_PREFIX "binary", BINARY},
};

static const char *const type_names[] = {
    [STRING] = "!!str",  [BOOL] = "!!bool", [INT] = "!!int",
    [FLOAT] = "!!float", [NIL] = "!!null",  [TIMESTAMP] = "!!timestamp",
};

static enum type type_of_tag(struct str tag) {
    if (!tag.p)
        return NONE;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (str_is(tag, tags[i].tag))
            return tags[i].type;
    return OTHER;
}

bool yml__is_merge(const struct yml_scalar *s) {
    return str_is(s->text, "<<") && (s->plain || str_is(s->tag, TAG_PREFIX "merge"));
}

/* --- words --- */

enum word { YES, NO, VOID, NOT_A_NUMBER, ENDLESS, MINUS_ENDLESS };

static const struct meaning word_meanings[] = {
    [YES] = {.type = BOOL, .b = true},
    [NO] = {.type = BOOL},
    [VOID] = {.type = NIL},
    [NOT_A_NUMBER] = {.type = FLOAT, .number = {.kind = YML_FLOAT, .d = (double)NAN}},
    [ENDLESS] = {.type = FLOAT, .number = {.kind = YML_FLOAT, .d = (double)INFINITY}},
    [MINUS_ENDLESS] = {.type = FLOAT, .number = {.kind = YML_FLOAT, .d = (double)-INFINITY}},
};

enum { LONGEST_WORD = 5 };

static const struct {
    char text[LONGEST_WORD + 1];
    enum word word;
} words[] = {
    /* clang-format off */
    {"y", YES}, {"Y", YES}, {"yes", YES}, {"Yes", YES}, {"YES", YES}, {"true", YES},
    {"True", YES}, {"TRUE", YES}, {"on", YES}, {"On", YES}, {"ON", YES},
    {"n", NO}, {"N", NO}, {"no", NO}, {"No", NO}, {"NO", NO}, {"false", NO}, {"False", NO},
    {"FALSE", NO}, {"off", NO}, {"Off", NO}, {"OFF", NO},
    {"", VOID}, {"~", VOID}, {"null", VOID}, {"Null", VOID}, {"NULL", VOID},
    {".nan", NOT_A_NUMBER}, {".NaN", NOT_A_NUMBER}, {".NAN", NOT_A_NUMBER},
    {".inf", ENDLESS}, {".Inf", ENDLESS}, {".INF", ENDLESS}, {"+.inf", ENDLESS},
    {"+.Inf", ENDLESS}, {"+.INF", ENDLESS},
    {"-.inf", MINUS_ENDLESS}, {"-.Inf", MINUS_ENDLESS}, {"-.INF", MINUS_ENDLESS},
    /* clang-format on */
};

/* --- guessing --- */

static bool starts_number(char c) {
    return ascii_is_digit(c) || c == '+' || c == '-' || c == '.';
}

static struct meaning guess(struct str s) {
    struct meaning m = {.type = STRING};
    char first = s.n ? s.p[0] : '\0';
    /* Most scalars are told to be strings by their first character. */
    if (first && !starts_number(first) && !strchr("~yYnNtTfFoO", first))
        return m;
    for (size_t i = 0; s.n <= LONGEST_WORD && i < sizeof words / sizeof *words; i++)
        if (words[i].text[0] == first && str_is(s, words[i].text))
            return word_meanings[words[i].word];
    if (starts_number(first) && yml__number_read(s, &m.number))
        m.type = m.number.kind == YML_FLOAT ? FLOAT : INT;
    return m;
}

bool yml__is_plain_string(struct str text) {
    return guess(text).type == STRING && !time_is_yaml_timestamp(text) && !yml__is_base_60(text);
}

/* What the scalar means, with its tag. Types that JSON lacks are strings already. */
static int resolve(const struct yml_scalar *s, struct meaning *out, struct err *err) {
    enum type want = type_of_tag(s->tag);
    if (want == STRING || want == BINARY || want == OTHER || (want == NONE && !s->plain)) {
        *out = (struct meaning){.type = want == BINARY ? BINARY : STRING};
        return 0;
    }
    struct meaning m = guess(s->text);
    if (want == FLOAT && m.type == INT && m.number.kind == YML_INT)
        m = (struct meaning){.type = FLOAT, .number = {.kind = YML_FLOAT, .d = (double)m.number.i}};
    if (want == TIMESTAMP && time_is_yaml_timestamp(s->text))
        m.type = want;
    if (want != NONE && m.type != want)
        return err_set(err, ERR_INVALID, "cannot decode %s `%.*s` as a %s", type_names[m.type],
                       STR_ARG(s->text), type_names[want]);
    if (m.type == TIMESTAMP)
        m.type = STRING;
    *out = m;
    return 0;
}

/* --- to JSON --- */

static struct str copy_text(struct arena *a, struct str s) {
    return s.n ? (struct str){arena_copy(a, s.p, s.n), s.n} : STR("");
}

/* Bytes that are not UTF-8 become U+FFFD, one each, as in Go's JSON encoder. */
static struct str replace_invalid(struct arena *a, struct str s) {
    if (utf8_valid_prefix(s) == s.n)
        return s;
    char *p = arena_alloc(a, size_mul(s.n, 3));
    size_t n = 0, len;
    for (; s.n; s = str_sub(s, len, s.n)) {
        uint32_t c = utf8_decode(s, &len);
        n += utf8_encode(c == UTF8_INVALID ? 0xFFFD : c, p + n);
    }
    return (struct str){p, n};
}

static int decode_binary(struct arena *a, struct str text, struct str *out, struct err *err) {
    if (base64_decode(a, text, out, NULL) < 0)
        return err_set(err, ERR_INVALID, "!!binary value contains invalid base64 data");
    *out = replace_invalid(a, *out);
    return 0;
}

int yml__scalar_value(struct arena *a, const struct yml_scalar *s, struct json *out,
                      struct err *err) {
    struct meaning m = {.type = NONE};
    struct str text;
    if (resolve(s, &m, err) < 0)
        return -1;
    switch (m.type) {
    case NIL:
        *out = (struct json){.kind = JSON_NULL};
        return 0;
    case BOOL:
        *out = json_of_bool(m.b);
        return 0;
    case FLOAT:
        if (!isfinite(m.number.d))
            return err_set(err, ERR_INVALID, "json: unsupported value: %s",
                           isnan(m.number.d) ? "NaN"
                           : m.number.d > 0  ? "+Inf"
                                             : "-Inf");
        *out = yml__number_value(a, &m.number);
        return 0;
    case INT:
        *out = yml__number_value(a, &m.number);
        return 0;
    case BINARY:
        if (decode_binary(a, s->text, &text, err) < 0)
            return -1;
        *out = json_of_str(text);
        return 0;
    default:
        *out = json_of_str(copy_text(a, s->text));
        return 0;
    }
}

int yml__scalar_key(struct arena *a, const struct yml_scalar *s, struct str *out, bool *is_text,
                    struct err *err) {
    AUTO(buf_release) struct buf key = BUF_INIT(64);
    struct meaning m = {.type = NONE};
    if (resolve(s, &m, err) < 0)
        return -1;
    *is_text = m.type == STRING || m.type == BINARY;
    if (m.type == BINARY)
        return decode_binary(a, s->text, out, err);
    bool too_large = m.type == INT && m.number.kind == YML_UINT;
    if (m.type == NIL || too_large)
        return err_set(err, ERR_INVALID, "unsupported map key of type: %s",
                       too_large ? "uint64" : "<nil>");
    if (m.type == BOOL)
        buf_add(&key, m.b ? STR("true") : STR("false"));
    else if (m.type == INT)
        buf_add_i64(&key, m.number.i);
    else if (m.type == FLOAT)
        yml__number_write_key(&key, m.number.d);
    *out = copy_text(a, *is_text ? s->text : buf_view(&key));
    return 0;
}
