/* What the files of certificates share: OpenSSL's objects, and files that only their owner reads.
 */
#ifndef AUTH_PKI_INT_H
#define AUTH_PKI_INT_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "auth/pki.h"

/* ---- OpenSSL ---- */

/* For AUTO: free what is there. */
void auth__key_release(EVP_PKEY **key);
void auth__x509_release(X509 **cert);

/* Fails with OpenSSL's own reason behind the words; always -1. Its queue of errors is empty then.
 */
int auth__ssl_fail(struct err *err, const char *what);

/* ---- keys ---- */

/* A new key on the curve P-256; NULL after a failure. The caller owns it. */
EVP_PKEY *auth__key_make(struct err *err);

/* A private key in PEM, without a passphrase; NULL after a failure. The caller owns it. */
EVP_PKEY *auth__key_read(struct str pem, struct err *err);

/* The private key as PEM (PKCS #8), in the arena; absent after a failure. */
struct str auth__key_write(struct arena *a, EVP_PKEY *key, struct err *err);

/* ---- certificates ---- */

/* The first certificate in a text of PEM; NULL after a failure. The caller owns it. */
X509 *auth__certificate_read(struct str pem, struct err *err);

/* The certificate as PEM, in the arena; absent after a failure. */
struct str auth__certificate_write(struct arena *a, X509 *cert, struct err *err);

/* What is certified. */
struct auth__subject {
    const char *name, *organization; /* CN and O; no O: NULL */
    enum { AUTH__CA, AUTH__SERVER, AUTH__CLIENT } use;
    struct api_strs names; /* of a server: DNS names and addresses */
    int64_t from, until;   /* seconds since the epoch */
};

/* Who certifies; all zeroes: the subject itself. */
struct auth__issuer {
    X509 *cert;
    EVP_PKEY *key;
};

/* A certificate for a key; NULL after a failure. The caller owns it. */
X509 *auth__certificate_make(EVP_PKEY *key, const struct auth__subject *s,
                             const struct auth__issuer *by, struct err *err);

/* Gives a certificate that is being made a random number of 127 bits: others may have certified as
 * well. */
bool auth__certificate_number(X509 *cert);

/* When the certificate ends, in seconds since the epoch. */
int64_t auth__certificate_until(const X509 *cert);

/* Has the certificate of a server this DNS name or address? */
bool auth__certificate_has_name(X509 *cert, struct str name);

/* ---- files ---- */

/* The text of a file, in the arena. 0: there is none, with *out absent. -1 when it cannot be read,
 * or when it is secret and others than its owner can read it. */
int auth__file_read(struct arena *a, struct str path, bool is_secret, struct str *out,
                    struct err *err);

/* Writes a file with mode 0600, whole or not at all. */
int auth__file_write(struct str path, struct str text, struct err *err);

#endif
