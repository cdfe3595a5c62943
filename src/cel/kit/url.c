/*
 * URLs: taken apart and written as Go's net/url does, with its error texts.
 *
 * Follows std net/url, func ParseRequestURI, func Parse, func (*URL) EscapedPath, func ParseQuery.
 */
#include "cel/kit/url_int.h"

#include <string.h>

#include "base/ascii.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "cel/kit/net_int.h"

enum mode { HOST, ZONE, USER, PATH, QUERY, FRAGMENT };

struct parser {
    struct arena *arena;
    struct buf *why;
};

static bool fail(const struct parser *p, const char *text) {
    buf_add(p->why, str_of(text));
    return false;
}

static bool fail_quoted(const struct parser *p, const char *before, struct str s,
                        const char *behind) {
    buf_add(p->why, str_of(before));
    goquote_write(p->why, s);
    buf_add(p->why, str_of(behind));
    return false;
}

/* ---- escapes ---- */

static bool is_in(char c, const char *set) {
    return c != '\0' && strchr(set, c);
}

static bool should_escape(char c, enum mode mode) {
    if (ascii_is_alnum(c) || is_in(c, "-_.~"))
        return false;
    switch (mode) {
    case HOST:
    case ZONE:
        return !is_in(c, "!$&'()*+,;=:[]<>\"");
    case USER:
        return !is_in(c, "$&+,;=");
    case PATH:
        return !is_in(c, "$&+,/:;=@");
    case FRAGMENT:
        return !is_in(c, "$&+,/:;=?@!()*");
    default:
        return true;
    }
}

static void escape(struct buf *out, struct str s, enum mode mode) {
    for (size_t i = 0; i < s.n; i++) {
        if (should_escape(s.p[i], mode))
            buf_addf(out, "%%%02X", (unsigned char)s.p[i]);
        else
            buf_add_char(out, s.p[i]);
    }
}

/* Is the escape at s[i] well formed and allowed here? */
static bool check_escape(const struct parser *p, struct str s, size_t i, enum mode mode) {
    struct str shown = str_sub(s, i, i + 3);
    if (i + 2 >= s.n || ascii_hex_value(s.p[i + 1]) < 0 || ascii_hex_value(s.p[i + 2]) < 0)
        return fail_quoted(p, "invalid URL escape ", shown, "");
    bool percent = str_is(shown, "%25");
    char v = (char)(ascii_hex_value(s.p[i + 1]) << 4 | ascii_hex_value(s.p[i + 2]));
    if (mode == HOST && ascii_hex_value(s.p[i + 1]) < 8 && !percent)
        return fail_quoted(p, "invalid URL escape ", shown, "");
    if (mode == ZONE && !percent && v != ' ' && should_escape(v, HOST))
        return fail_quoted(p, "invalid URL escape ", shown, "");
    return true;
}

static bool check_escapes(const struct parser *p, struct str s, enum mode mode) {
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '%') {
            if (!check_escape(p, s, i, mode))
                return false;
            i += 2;
        } else if (mode <= ZONE && (unsigned char)s.p[i] < 0x80 && should_escape(s.p[i], mode)) {
            return fail_quoted(p, "invalid character ", str_sub(s, i, i + 1), " in host name");
        }
    }
    return true;
}

static bool unescape(const struct parser *p, struct str s, enum mode mode, struct str *out) {
    if (!check_escapes(p, s, mode))
        return false;
    char *text = arena_alloc(p->arena, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '%') {
            c = (char)(ascii_hex_value(s.p[i + 1]) << 4 | ascii_hex_value(s.p[i + 2]));
            i += 2;
        } else if (c == '+' && mode == QUERY) {
            c = ' ';
        }
        text[n++] = c;
    }
    *out = (struct str){text, n};
    return true;
}

bool cel__url_unescape_query(struct arena *a, struct str text, struct str *out) {
    AUTO(buf_release) struct buf why = BUF_INIT(1024);
    struct parser p = {a, &why};
    return unescape(&p, text, QUERY, out);
}

/* ---- authority ---- */

static size_t last_char(struct str s, char c) {
    for (size_t i = s.n; i-- > 0;)
        if (s.p[i] == c)
            return i;
    return STR_NONE;
}

static bool is_port(struct str s) {
    if (s.n > 0 && s.p[0] != ':')
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return false;
    return true;
}

/* What stands between brackets must be an IPv6 address, perhaps with a zone. */
static bool check_literal(const struct parser *p, struct str host) {
    AUTO(buf_release) struct buf reason = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    struct cel_ip ip;
    bool zone;
    if (!cel__parse_addr(host, &ip, &zone, &reason)) {
        buf_add(p->why, STR("invalid host: "));
        buf_add(p->why, buf_view(&reason));
        return false;
    }
    return ip.n == 16 || fail(p, "invalid IP-literal");
}

static bool parse_literal(const struct parser *p, struct str host, struct str *out) {
    size_t close = last_char(host, ']');
    struct str port, name, zone = STR("");
    if (close == STR_NONE)
        return fail(p, "missing ']' in host");
    struct str raw_port = str_sub(host, close + 1, host.n), inside = str_sub(host, 1, close);
    if (!is_port(raw_port))
        return fail_quoted(p, "invalid port ", raw_port, " after host");
    if (!unescape(p, raw_port, HOST, &port))
        return false;
    size_t percent = str_find(inside, STR("%25"));
    if (percent != STR_NONE && (!unescape(p, str_sub(inside, 0, percent), HOST, &name) ||
                                !unescape(p, str_sub(inside, percent, inside.n), ZONE, &zone)))
        return false;
    if (percent == STR_NONE && !unescape(p, inside, HOST, &name))
        return false;
    struct str whole = arena_printf(p->arena, "%.*s%.*s", STR_ARG(name), STR_ARG(zone));
    if (!check_literal(p, whole))
        return false;
    *out = arena_printf(p->arena, "[%.*s]%.*s", STR_ARG(whole), STR_ARG(port));
    return true;
}

static bool parse_host(const struct parser *p, struct str scheme, struct str host,
                       struct str *out) {
    size_t open = last_char(host, '['), colon = str_find_char(host, ':');
    if (open != STR_NONE && open > 0)
        return fail(p, "invalid IP-literal");
    if (open == 0)
        return parse_literal(p, host, out);
    bool strict = str_is(scheme, "http") || str_is(scheme, "https");
    if (colon != STR_NONE && !strict)
        colon = last_char(host, ':');
    if (colon != STR_NONE && !is_port(str_sub(host, colon, host.n)))
        return fail_quoted(p, "invalid port ", str_sub(host, colon, host.n), " after host");
    return unescape(p, host, HOST, out);
}

static bool parse_user(const struct parser *p, struct str user, struct cel_url *out) {
    for (size_t i = 0; i < user.n; i++)
        if (!ascii_is_alnum(user.p[i]) && !is_in(user.p[i], "-._:~!$&'()*+,;=%@"))
            return fail(p, "net/url: invalid userinfo");
    struct str name, password;
    bool has_password = str_cut(user, ':', &name, &password);
    if (!unescape(p, name, USER, &name) || !unescape(p, password, USER, &password))
        return false;
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    escape(&text, name, USER);
    if (has_password) {
        buf_add_char(&text, ':');
        escape(&text, password, USER);
    }
    out->user = arena_str(p->arena, buf_view(&text));
    out->has_user = true;
    return true;
}

static bool parse_authority(const struct parser *p, struct str s, struct cel_url *out) {
    size_t at = last_char(s, '@');
    struct str host = at == STR_NONE ? s : str_sub(s, at + 1, s.n);
    if (!parse_host(p, out->scheme, host, &out->host))
        return false;
    return at == STR_NONE || parse_user(p, str_sub(s, 0, at), out);
}

/* ---- the whole ---- */

/* The scheme, in small letters, and what follows its colon. */
static bool take_scheme(const struct parser *p, struct str *rest, struct str *scheme) {
    size_t i = 0;
    *scheme = STR("");
    for (; i < rest->n; i++) {
        char c = rest->p[i];
        if (!ascii_is_letter(c) && (i == 0 || !(ascii_is_alnum(c) || is_in(c, "+-."))))
            break;
    }
    if (i == rest->n || rest->p[i] != ':')
        return true;
    if (i == 0)
        return fail(p, "missing protocol scheme");
    char *lower = arena_alloc(p->arena, i);
    for (size_t k = 0; k < i; k++)
        lower[k] = ascii_to_lower(rest->p[k]);
    *scheme = (struct str){lower, i};
    *rest = str_sub(*rest, i + 1, rest->n);
    return true;
}

static bool set_path(const struct parser *p, struct str raw, struct cel_url *out) {
    if (!unescape(p, raw, PATH, &out->path))
        return false;
    AUTO(buf_release) struct buf escaped = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    escape(&escaped, out->path, PATH);
    out->raw_path = str_eq(buf_view(&escaped), raw) ? STR("") : raw;
    return true;
}

static bool has_control(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

static void take_query(struct str *rest, struct cel_url *out) {
    size_t mark = str_find_char(*rest, '?');
    if (mark != STR_NONE && mark == rest->n - 1) {
        out->force_query = true;
        *rest = str_sub(*rest, 0, mark);
    } else {
        str_cut(*rest, '?', rest, &out->query);
    }
}

/* What does not begin with a slash: opaque behind a scheme, otherwise relative. */
static bool check_relative(const struct parser *p, struct str rest, bool request) {
    struct str segment, after;
    if (request)
        return fail(p, "invalid URI for request");
    str_cut(rest, '/', &segment, &after);
    if (str_find_char(segment, ':') != STR_NONE)
        return fail(p, "first path segment in URL cannot contain colon");
    return true;
}

static bool parse(const struct parser *p, struct str text, bool request, struct cel_url *out) {
    struct str rest = text;
    if (has_control(text))
        return fail(p, "net/url: invalid control character in URL");
    if (text.n == 0 && request)
        return fail(p, "empty url");
    if (str_is(text, "*")) {
        out->path = text;
        return true;
    }
    if (!take_scheme(p, &rest, &out->scheme))
        return false;
    take_query(&rest, out);
    bool rooted = str_starts(rest, STR("/"));
    if (!rooted && out->scheme.n > 0) {
        out->opaque = rest;
        return true;
    }
    if (!rooted && !check_relative(p, rest, request))
        return false;
    bool authority = out->scheme.n > 0 || (!request && !str_starts(rest, STR("///")));
    if (authority && str_starts(rest, STR("//"))) {
        size_t slash = str_find_char(str_sub(rest, 2, rest.n), '/');
        size_t end = slash == STR_NONE ? rest.n : slash + 2;
        if (!parse_authority(p, str_sub(rest, 2, end), out))
            return false;
        rest = str_sub(rest, end, rest.n);
    } else if (out->scheme.n > 0) {
        out->omit_host = true;
    }
    return set_path(p, rest, out);
}

static bool set_fragment(const struct parser *p, struct str raw, struct cel_url *out) {
    if (!unescape(p, raw, FRAGMENT, &out->fragment))
        return false;
    out->raw_fragment = raw;
    return true;
}

bool cel__url_parse(struct arena *a, struct str text, bool request, struct cel_url *out,
                    struct buf *why) {
    AUTO(buf_release) struct buf reason = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    struct parser p = {a, &reason};
    struct str rest = text, fragment = STR("");
    *out = (struct cel_url){0};
    if (!request)
        str_cut(text, '#', &rest, &fragment);
    bool good = parse(&p, rest, request, out);
    if (good && fragment.n > 0) {
        rest = text;
        good = set_fragment(&p, fragment, out);
    }
    if (good)
        return true;
    buf_add(why, STR("parse "));
    goquote_write(why, rest);
    buf_add(why, STR(": "));
    buf_add(why, buf_view(&reason));
    return false;
}

/* ---- text ---- */

static bool valid_encoded(struct str s, enum mode mode) {
    for (size_t i = 0; i < s.n; i++)
        if (!is_in(s.p[i], "!$&'()*+,;=:@[]%") && should_escape(s.p[i], mode))
            return false;
    return true;
}

void cel__url_write_path(struct buf *out, const struct cel_url *url) {
    if (url->raw_path.n > 0 && valid_encoded(url->raw_path, PATH))
        buf_add(out, url->raw_path);
    else if (str_is(url->path, "*"))
        buf_add_char(out, '*');
    else
        escape(out, url->path, PATH);
}

static void write_authority(struct buf *out, const struct cel_url *u) {
    if (u->omit_host && u->host.n == 0 && !u->has_user)
        return;
    if (u->host.n > 0 || u->path.n > 0 || u->has_user)
        buf_add(out, STR("//"));
    if (u->has_user) {
        buf_add(out, u->user);
        buf_add_char(out, '@');
    }
    escape(out, u->host, HOST);
}

void cel__url_write(struct buf *out, const struct cel_url *u) {
    if (u->scheme.n > 0) {
        buf_add(out, u->scheme);
        buf_add_char(out, ':');
    }
    if (u->opaque.n > 0) {
        buf_add(out, u->opaque);
    } else {
        if (u->scheme.n > 0 || u->host.n > 0 || u->has_user)
            write_authority(out, u);
        cel__url_write_path(out, u);
    }
    if (u->force_query || u->query.n > 0) {
        buf_add_char(out, '?');
        buf_add(out, u->query);
    }
    if (u->fragment.n > 0) {
        buf_add_char(out, '#');
        if (valid_encoded(u->raw_fragment, FRAGMENT))
            buf_add(out, u->raw_fragment);
        else
            escape(out, u->fragment, FRAGMENT);
    }
}
