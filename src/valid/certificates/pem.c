/*
 * PEM, and what OpenSSL says about the certificates and requests in it: the one file of this module
 * that asks it. The words are those of Go's encoding/pem, encoding/asn1 and crypto/x509
 * (ParseCertificateRequest, CheckSignature, ParseCertificates), which a server asks.
 */
#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "codec/base64.h"
#include "valid/certificates/certificates_int.h"

#define BEGIN    STR("-----BEGIN ")
#define END      STR("\n-----END ")
#define END_LINE STR("-----")

enum { MINIMUM_RSA_BITS = 1024 };

/* ---- PEM ---- */

static struct str trim_right(struct str s) {
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

/* Takes a line from the text, without white space at its end. */
static struct str take_line(struct str *text) {
    struct str line, rest;
    if (!str_cut(*text, '\n', &line, &rest))
        rest = str_sub(*text, text->n, text->n);
    else if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    *text = rest;
    return trim_right(line);
}

/* The place of the last `needle` before `end`, or STR_NONE. */
static size_t find_last(struct str s, size_t end, struct str needle) {
    for (size_t at = end >= needle.n ? end - needle.n + 1 : 0; at-- > 0;)
        if (str_starts(str_sub(s, at, end), needle))
            return at;
    return STR_NONE;
}

static struct str without_blanks(struct arena *a, struct str s) {
    char *copy = arena_copy(a, s.p, s.n);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != ' ' && s.p[i] != '\t')
            copy[n++] = s.p[i];
    return (struct str){copy, n};
}

/* Reads a block whose type begins at `begin` and whose last line begins with `end`, the place of
 * the line break before it. Sets *rest to what is behind it. */
static bool read_block(struct arena *a, struct str text, size_t begin, size_t end,
                       struct pem_block *out, struct str *rest) {
    const char *last = text.p + end;
    struct str body = str_sub(text, begin, text.n), type = take_line(&body), next = body, line;
    if (!str_ends(type, END_LINE))
        return false;
    *out = (struct pem_block){.type = str_sub(type, 0, type.n - END_LINE.n)};
    while (next.n && (line = take_line(&next), str_find_char(line, ':') != STR_NONE)) {
        out->has_headers = true;
        body = next;
    }
    if (!body.n || (out->has_headers && body.p > last))
        return false;
    struct str tail = str_sub(text, end + END.n, text.n);
    if (!str_starts(tail, out->type) || !str_starts(str_sub(tail, out->type.n, tail.n), END_LINE))
        return false;
    tail = str_sub(tail, out->type.n + END_LINE.n, tail.n);
    *rest = tail;
    if (take_line(rest).n)
        return false;
    struct str data = body.p < last ? (struct str){body.p, (size_t)(last - body.p)} : STR("");
    return base64_decode(a, without_blanks(a, data), &out->bytes, NULL) == 0;
}

/* The first last line decides; the block begins at the nearest first line before it. */
bool valid__pem_next(struct arena *a, struct str *text, struct pem_block *out) {
    struct str left = *text;
    for (;;) {
        size_t end = str_find(left, END);
        if (end == STR_NONE)
            return false;
        size_t begin = find_last(left, end, BEGIN);
        bool starts_line = begin != STR_NONE && (begin == 0 || left.p[begin - 1] == '\n');
        if (starts_line && read_block(a, left, begin + BEGIN.n, end, out, text))
            return true;
        left = str_sub(left, end + END.n, left.n);
    }
}

/* ---- requests ---- */

static void release_request(X509_REQ **request) {
    X509_REQ_free(*request);
}

/* The outermost SEQUENCE of the DER. What Go says when it is none. */
static struct str sequence_fault(struct arena *a, struct str der) {
    const unsigned char *p = (const unsigned char *)der.p;
    size_t length = 0, header = 2;
    if (!der.n)
        return STR("asn1: syntax error: sequence truncated");
    if (der.n < 2)
        return STR("asn1: syntax error: truncated tag or length");
    if (p[1] < 0x80) {
        length = p[1];
    } else if (p[1] == 0x80) {
        return STR("asn1: syntax error: indefinite length found (not DER)");
    } else {
        header += p[1] & 0x7fU;
        for (size_t i = 2; i < header && i < der.n && length <= INT_MAX / 256; i++)
            length = length << 8 | p[i];
        if (header > der.n)
            return STR("asn1: syntax error: truncated tag or length");
    }
    if (p[0] != 0x30)
        return arena_printf(a,
                            "asn1: structure error: tags don't match (16 vs {class:%d tag:%d "
                            "length:%zu isCompound:%s}) {optional:false explicit:false "
                            "application:false private:false defaultValue:<nil> tag:<nil> "
                            "stringType:0 timeType:0 set:false omitEmpty:false} "
                            "certificateRequest @%zu",
                            p[0] >> 6, p[0] & 0x1f, length, p[0] & 0x20 ? "true" : "false", header);
    return length > der.n - header ? STR("asn1: syntax error: data truncated") : STR("");
}

/* A kind of key: how it is called, its Go type, and what is said of a wrong signature. */
static const struct key_kind {
    int id;
    const char *name, *type, *failure;
} key_kinds[] = {
    {EVP_PKEY_RSA, "RSA", "*rsa.PublicKey", "crypto/rsa: verification error"},
    {EVP_PKEY_EC, "ECDSA", "*ecdsa.PublicKey", "x509: ECDSA verification failure"},
    {EVP_PKEY_ED25519, "Ed25519", "ed25519.PublicKey", "x509: Ed25519 verification failure"},
};

static const struct key_kind *find_key_kind(int id) {
    for (size_t i = 0; i < sizeof key_kinds / sizeof *key_kinds; i++)
        if (key_kinds[i].id == id)
            return &key_kinds[i];
    return NULL;
}

static bool is_known_digest(int digest) {
    return digest == NID_sha1 || digest == NID_sha256 || digest == NID_sha384 ||
           digest == NID_sha512;
}

static struct str signature_fault(struct arena *a, X509_REQ *request) {
    EVP_PKEY *key = X509_REQ_get0_pubkey(request);
    const struct key_kind *has = key ? find_key_kind(EVP_PKEY_base_id(key)) : NULL;
    int digest = NID_undef, signer = NID_undef, algorithm = X509_REQ_get_signature_nid(request);
    OBJ_find_sigid_algs(algorithm, &digest, &signer);
    if (algorithm == NID_rsassaPss) {
        digest = NID_sha256;
        signer = EVP_PKEY_RSA;
    }
    const struct key_kind *wanted = find_key_kind(signer);
    if (digest == NID_md5)
        return STR("x509: cannot verify signature: insecure algorithm MD5-RSA");
    if (!has || !wanted || (!is_known_digest(digest) && signer != EVP_PKEY_ED25519))
        return STR("x509: cannot verify signature: algorithm unimplemented");
    if (has != wanted)
        return arena_printf(a,
                            "x509: signature algorithm specifies an %s public key, but have "
                            "public key of type %s",
                            wanted->name, has->type);
    if (has->id == EVP_PKEY_RSA && EVP_PKEY_bits(key) < MINIMUM_RSA_BITS)
        return arena_printf(a,
                            "crypto/rsa: %d-bit keys are insecure (see "
                            "https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)",
                            EVP_PKEY_bits(key));
    return X509_REQ_verify(request, key) == 1 ? STR("") : str_of(has->failure);
}

struct str valid__request_fault(struct arena *a, struct str der) {
    struct str fault = sequence_fault(a, der);
    const unsigned char *at = (const unsigned char *)der.p;
    if (fault.n || der.n > LONG_MAX)
        return fault;
    AUTO(release_request) X509_REQ *request = d2i_X509_REQ(NULL, &at, (long)der.n);
    if (!request)
        fault = STR("asn1: structure error: malformed certificate request");
    else if (at != (const unsigned char *)der.p + der.n)
        fault = STR("asn1: syntax error: trailing data");
    else
        fault = signature_fault(a, request);
    ERR_clear_error();
    return fault;
}

/* ---- certificates ---- */

static void release_certificate(X509 **certificate) {
    X509_free(*certificate);
}

struct str valid__certificates_fault(struct str der, size_t *count) {
    const unsigned char *at = (const unsigned char *)der.p, *end = at + der.n;
    for (*count = 0; at < end; ++*count) {
        AUTO(release_certificate) X509 *certificate = d2i_X509(NULL, &at, (long)(end - at));
        ERR_clear_error();
        if (!certificate)
            return STR("x509: malformed certificate");
    }
    return STR("");
}

enum ca_fault valid__ca_fault(struct str der) {
    const unsigned char *at = (const unsigned char *)der.p;
    AUTO(release_certificate) X509 *certificate = d2i_X509(NULL, &at, (long)der.n);
    ERR_clear_error();
    if (!certificate || at != (const unsigned char *)der.p + der.n)
        return CA_MALFORMED;
    BASIC_CONSTRAINTS *basic = X509_get_ext_d2i(certificate, NID_basic_constraints, NULL, NULL);
    bool is_ca = basic && basic->ca;
    BASIC_CONSTRAINTS_free(basic);
    ERR_clear_error();
    return is_ca ? CA_GOOD : CA_NOT_SET;
}
