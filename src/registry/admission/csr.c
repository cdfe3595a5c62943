/*
 * Who a certificate is asked for: the subject of a PKCS #10 request, and nothing else of it.
 * Whether the rest of the request is well formed is for the rules of its kind to say.
 *
 * Follows k8s.io/kubernetes pkg/apis/certificates, func ParseCSR.
 */
#include "codec/base64.h"
#include "registry/admission/admission_int.h"

enum { INTEGER = 0x02, OID = 0x06, SEQUENCE = 0x30, SET = 0x31 };

/* One element of DER: its tag and what is in it. What is behind it stays in *rest. False: there is
 * none. */
static bool take(struct str *rest, int *tag, struct str *inside) {
    enum { LONG_FORM = 0x80, LENGTH_BYTES = 4 };
    const unsigned char *p = (const unsigned char *)rest->p;
    size_t head = 2, n;
    if (rest->n < head)
        return false;
    *tag = p[0];
    n = p[1];
    if (n & LONG_FORM) {
        size_t bytes = n & ~(size_t)LONG_FORM;
        if (!bytes || bytes > LENGTH_BYTES || rest->n < head + bytes)
            return false;
        n = 0;
        for (size_t i = 0; i < bytes; i++)
            n = n << 8 | p[head + i];
        head += bytes;
    }
    if (n > rest->n - head)
        return false;
    *inside = str_sub(*rest, head, head + n);
    *rest = str_sub(*rest, head + n, rest->n);
    return true;
}

static bool take_as(struct str *rest, int wanted, struct str *inside) {
    int tag;
    return take(rest, &tag, inside) && tag == wanted;
}

/* A list that is full, with a power of two of them, gets twice the room. */
static void add_organization(struct arena *a, struct api_strs *list, struct str name) {
    if ((list->n & (list->n - 1)) == 0) {
        struct str *longer = arena_array(a, struct str, list->n ? 2 * list->n : 1);
        for (size_t i = 0; i < list->n; i++)
            longer[i] = list->v[i];
        list->v = longer;
    }
    list->v[list->n++] = name;
}

/* An attribute of a name: its identifier and its text. */
static bool read_attribute(struct arena *a, struct str *set, struct registry__csr_subject *out) {
    struct str pair, id, value;
    int tag;
    if (!take_as(set, SEQUENCE, &pair) || !take_as(&pair, OID, &id) || !take(&pair, &tag, &value))
        return false;
    if (str_eq(id, STR("\x55\x04\x03")))
        out->common_name = value;
    if (str_eq(id, STR("\x55\x04\x0a")))
        add_organization(a, &out->organizations, value);
    return true;
}

static bool read_subject(struct arena *a, struct str der, struct registry__csr_subject *out) {
    struct str request, info, version, name, set;
    if (!take_as(&der, SEQUENCE, &request) || !take_as(&request, SEQUENCE, &info) ||
        !take_as(&info, INTEGER, &version) || !take_as(&info, SEQUENCE, &name))
        return false;
    while (name.n) {
        if (!take_as(&name, SET, &set))
            return false;
        while (set.n)
            if (!read_attribute(a, &set, out))
                return false;
    }
    return true;
}

/* What stands between the lines of a PEM block, without white space. */
static bool read_pem(struct arena *a, struct str text, struct str *out) {
    struct str begin = STR("-----BEGIN CERTIFICATE REQUEST-----");
    struct str end = STR("-----END CERTIFICATE REQUEST-----");
    size_t from = str_find(text, begin);
    if (from == STR_NONE)
        return false;
    text = str_sub(text, from + begin.n, text.n);
    size_t to = str_find(text, end);
    if (to == STR_NONE)
        return false;
    char *bytes = arena_alloc(a, to + 1);
    size_t n = 0;
    for (size_t i = 0; i < to; i++)
        if (text.p[i] != '\n' && text.p[i] != '\r' && text.p[i] != ' ' && text.p[i] != '\t')
            bytes[n++] = text.p[i];
    return base64_decode(a, (struct str){bytes, n}, out, NULL) == 0;
}

int registry__csr_read(struct arena *a, struct str request, struct registry__csr_subject *out,
                       struct err *err) {
    struct str der;
    *out = (struct registry__csr_subject){0};
    if (!read_pem(a, request, &der))
        return err_set(err, ERR_INVALID, "PEM block type must be CERTIFICATE REQUEST");
    if (!read_subject(a, der, out))
        return err_set(err, ERR_INVALID, "asn1: structure error");
    return 0;
}
