/* Certificates of servers that nobody else vouches for, and that are kept in no file. */
#include "auth/pki_int.h"

enum { HOUR = 3600, YEAR = 365 * 24 * HOUR };

int auth_pki_self_signed(struct arena *a, const struct api_strs *names, int64_t now,
                         struct str *certificate, struct str *key, struct err *err) {
    AUTO(auth__key_release) EVP_PKEY *pair = auth__key_make(err);
    AUTO(auth__x509_release) X509 *cert = NULL;
    struct auth__subject subject = {.name = "berth",
                                    .use = AUTH__SERVER,
                                    .names = *names,
                                    .from = now - HOUR, /* clocks of clients may be behind */
                                    .until = now + YEAR};
    if (!pair)
        return -1;
    cert = auth__certificate_make(pair, &subject, &(struct auth__issuer){0}, err);
    if (!cert)
        return -1;
    *certificate = auth__certificate_write(a, cert, err);
    *key = auth__key_write(a, pair, err);
    return certificate->p && key->p ? 0 : -1;
}
