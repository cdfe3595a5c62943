/*
 * The grammar is that of the distribution project's reference package:
 *
 *     reference = [ domain "/" ] path [ ":" tag ] [ "@" digest ]
 *
 * where the first part of the name is a domain only if it looks like one (has a dot or a colon, an
 * upper-case letter, or is "localhost").
 *
 * Follows github.com/distribution/reference, func ParseNormalizedNamed, func Parse,
 * func splitDockerDomain.
 * Follows k8s.io/kubernetes pkg/util/parsers, func ParseImageName.
 */
#include "api/image.h"

#include "base/ascii.h"

enum { LONGEST_PATH = 255, LONGEST_TAG = 128, LEAST_DIGEST = 32, SHA256_DIGITS = 64 };

static bool is_lower_hex(char c) {
    return ascii_is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_tag_char(char c) {
    return ascii_is_alnum(c) || c == '_' || c == '.' || c == '-';
}

static bool all(struct str s, bool (*is)(char)) {
    for (size_t i = 0; i < s.n; i++)
        if (!is(s.p[i]))
            return false;
    return true;
}

/* Letters and digits with hyphens between them. */
static bool is_domain_label(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && s.p[i] != '-')
            return false;
    return s.n && s.p[0] != '-' && s.p[s.n - 1] != '-';
}

static bool is_host(struct str host) {
    if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']') {
        for (size_t i = 1; i + 1 < host.n; i++)
            if (ascii_hex_value(host.p[i]) < 0 && host.p[i] != ':')
                return false;
        return true;
    }
    bool more = true;
    while (more) {
        struct str label;
        more = str_cut(host, '.', &label, &host);
        if (!is_domain_label(label))
            return false;
    }
    return true;
}

static bool is_domain(struct str domain) {
    size_t colon = domain.n;
    while (colon > 0 && ascii_is_digit(domain.p[colon - 1]))
        colon--;
    bool has_port = colon > 0 && colon < domain.n && domain.p[colon - 1] == ':';
    return is_host(has_port ? str_sub(domain, 0, colon - 1) : domain);
}

/* Lower-case words joined by one dot, one or two underscores, or any number of hyphens. */
static bool is_path_part(struct str s) {
    size_t at = 0;
    for (;;) {
        size_t word = at;
        while (at < s.n && (ascii_is_digit(s.p[at]) || ascii_is_lower(s.p[at])))
            at++;
        if (at == word)
            return false;
        if (at == s.n)
            return true;
        size_t mark = at;
        char c = s.p[at];
        while (at < s.n && s.p[at] == c)
            at++;
        size_t most = c == '.' ? 1 : c == '_' ? 2 : c == '-' ? SIZE_MAX : 0;
        if (at - mark > most)
            return false;
    }
}

static bool is_path(struct str path) {
    bool more = true;
    while (more) {
        struct str part;
        more = str_cut(path, '/', &part, &path);
        if (!is_path_part(part))
            return false;
    }
    return true;
}

static bool is_tag(struct str tag) {
    return tag.n > 0 && tag.n <= LONGEST_TAG && all(tag, is_tag_char) && tag.p[0] != '.' &&
           tag.p[0] != '-';
}

/* algorithm:hex; the algorithms that exist in practice are checked for their length. */
static bool is_digest(struct str digest) {
    struct str algorithm, hex;
    if (!str_cut(digest, ':', &algorithm, &hex) || hex.n < LEAST_DIGEST)
        return false;
    size_t digits = str_is(algorithm, "sha256")   ? SHA256_DIGITS
                    : str_is(algorithm, "sha384") ? 96
                    : str_is(algorithm, "sha512") ? 128
                                                  : 0;
    return hex.n == digits && all(hex, is_lower_hex);
}

static bool looks_like_domain(struct str first) {
    if (str_find_char(first, '.') != STR_NONE || str_find_char(first, ':') != STR_NONE)
        return true;
    for (size_t i = 0; i < first.n; i++)
        if (ascii_is_upper(first.p[i]))
            return true;
    return str_is(first, "localhost");
}

/* Splits off the domain, if the name starts with one; false when it is malformed. */
static bool take_domain(struct str *name, bool *found) {
    struct str first, rest;
    *found = str_cut(*name, '/', &first, &rest) && looks_like_domain(first);
    if (!*found)
        return true;
    *name = rest;
    return is_domain(first);
}

/* On the default registry, a name of one part is short for library/name. */
static size_t full_length(struct str path, bool has_domain) {
    bool is_short = !has_domain && str_find_char(path, '/') == STR_NONE;
    return path.n + (is_short ? sizeof "library/" - 1 : 0);
}

/* It looks like the id of an image. */
static bool is_id(struct str image) {
    return image.n == SHA256_DIGITS && all(image, is_lower_hex);
}

/* Is it a reference? *tag is that which it names, or which it stands for; with a digest alone it
 * is empty. */
static bool read_reference(struct str image, struct str *tag) {
    struct str path, digest;
    bool has_domain, has_digest = str_cut(image, '@', &path, &digest);
    if ((has_digest && !is_digest(digest)) || is_id(image) || !take_domain(&path, &has_domain))
        return false;
    bool has_tag = str_cut(path, ':', &path, tag);
    if (!has_tag)
        *tag = has_digest ? STR("") : STR("latest");
    return (!has_tag || is_tag(*tag)) && is_path(path) &&
           full_length(path, has_domain) <= LONGEST_PATH;
}

struct str api_image_tag(struct str image) {
    struct str tag;
    return read_reference(image, &tag) ? tag : STR("");
}

/* The name of the repository on its registry, whatever stands in it. *prefix is what short names
 * have in front. */
static struct str repository_of(struct str image, const char **prefix) {
    struct str first, rest, name = image;
    bool is_default = true;
    if (str_cut(image, '/', &first, &rest) && looks_like_domain(first)) {
        is_default = str_is(first, "docker.io") || str_is(first, "index.docker.io");
        name = rest;
    }
    *prefix = is_default && str_find_char(name, '/') == STR_NONE ? "library/" : "";
    size_t colon = str_find_char(name, ':');
    return colon == STR_NONE ? name : str_sub(name, 0, colon);
}

struct str api_image_fault(struct arena *a, struct str image) {
    struct str tag;
    const char *prefix;
    if (read_reference(image, &tag))
        return STR("");
    if (is_id(image))
        return arena_printf(a,
                            "invalid repository name (%.*s), cannot specify 64-byte hexadecimal "
                            "strings",
                            STR_ARG(image));
    struct str repository = repository_of(image, &prefix);
    for (size_t i = 0; i < repository.n; i++)
        if (ascii_is_upper(repository.p[i]))
            return arena_printf(a,
                                "invalid reference format: repository name (%s%.*s) must be "
                                "lowercase",
                                prefix, STR_ARG(repository));
    return STR("invalid reference format");
}
