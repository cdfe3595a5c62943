package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	jose "gopkg.in/go-jose/go-jose.v2"
)

const jwtNow = 1800000000

// jwtKeys are made once for a run: two of RSA, two on a curve.
var jwtKeys = sync.OnceValue(func() (keys []any) {
	for range 2 {
		r, err := rsa.GenerateKey(cryptorand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		e, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
		if err != nil {
			panic(err)
		}
		keys = append(keys, r, e)
	}
	return keys
})

func pemOf(key any) string {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func publicOf(key any) any {
	if r, ok := key.(*rsa.PrivateKey); ok {
		return &r.PublicKey
	}
	return &key.(*ecdsa.PrivateKey).PublicKey
}

func keyID(key any) string {
	der, err := x509.MarshalPKIXPublicKey(publicOf(key))
	if err != nil {
		panic(err)
	}
	hash := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

// signPayload signs any text, with a kid or without, and perhaps with an algorithm that is seldom used.
func signPayload(r *rand.Rand, key any, payload string) string {
	alg := jose.RS256
	if _, ok := key.(*ecdsa.PrivateKey); ok {
		alg = jose.ES256
	} else if chance(r, 10) {
		alg = pick(r, []jose.SignatureAlgorithm{jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512})
	}
	jwk := jose.JSONWebKey{Key: key, Algorithm: string(alg)}
	if chance(r, 80) {
		jwk.KeyID = keyID(key)
	} else if chance(r, 30) {
		jwk.KeyID = "other"
	}
	options := &jose.SignerOptions{}
	if chance(r, 20) {
		options = options.WithType("JWT")
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jwk}, options)
	if err != nil {
		panic(err)
	}
	signed, err := signer.Sign([]byte(payload))
	if err != nil {
		panic(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return token
}

var (
	jwtIssuers   = []string{"https://kubernetes.default.svc", "https://old.example.com"}
	jwtAudiences = []string{"https://kubernetes.default.svc", "k3s", "vault", ""}
	jwtMoments   = []int64{jwtNow, jwtNow - 60, jwtNow - 61, jwtNow + 60, jwtNow + 61, jwtNow + 3600, jwtNow - 3600, 0, -1}
	jwtUIDs      = []string{"u1", "u1", "u1", "u2", ""}
)

func jwtObject(r *rand.Rand, kind, namespace, name string) object {
	meta := object{"name": name, "uid": pick(r, jwtUIDs)}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	if chance(r, 10) {
		meta["deletionTimestamp"] = time.Unix(pick(r, jwtMoments[:7]), 0).UTC().Format(time.RFC3339)
	}
	return object{"apiVersion": "v1", "kind": kind, "metadata": meta}
}

func jwtRef(r *rand.Rand, name string) object {
	ref := object{"name": pick(r, []string{name, name, name, name, "other"}), "uid": pick(r, jwtUIDs)}
	if chance(r, 5) {
		delete(ref, "uid")
	}
	return ref
}

var jwtOdd = []any{5, "x", []any{}, object{}, nil, 1.5e300, true, []any{"k3s", 5}}

func boundPayload(r *rand.Rand) object {
	private := object{"namespace": "a", "serviceaccount": jwtRef(r, "robot")}
	if chance(r, 40) {
		private["pod"] = jwtRef(r, "p")
	}
	if chance(r, 30) {
		private["node"] = jwtRef(r, "n")
	}
	if chance(r, 15) {
		private["secret"] = jwtRef(r, "s")
	}
	maybe(r, 10, private, "warnafter", pick(r, jwtMoments))
	maybe(r, 3, private, "validatingwebhookconfiguration", jwtRef(r, "w"))
	claims := object{"iss": pick(r, jwtIssuers), "sub": "system:serviceaccount:a:robot", "kubernetes.io": private}
	maybe(r, 90, claims, "exp", pick(r, []int64{jwtNow + 3600, jwtNow + 3600, jwtNow - 60, jwtNow - 61, jwtNow - 3600}))
	maybe(r, 80, claims, "iat", pick(r, []int64{jwtNow, jwtNow, jwtNow + 60, jwtNow + 61}))
	maybe(r, 80, claims, "nbf", pick(r, []int64{jwtNow, jwtNow, jwtNow + 60, jwtNow + 61}))
	maybe(r, 80, claims, "jti", pick(r, []string{"id-1", ""}))
	if chance(r, 3) {
		private[pick(r, []string{"pod", "node", "serviceaccount", "namespace", "warnafter"})] = pick(r, jwtOdd)
	}
	return claims
}

const legacyPrefix = "kubernetes.io/serviceaccount/"

func legacyPayload(r *rand.Rand) object {
	claims := object{"iss": "kubernetes/serviceaccount", "sub": pick(r, []string{"system:serviceaccount:a:robot", "system:serviceaccount:a:robot",
		"system:serviceaccount:b:robot", "joe", ""})}
	maybe(r, 97, claims, legacyPrefix+"namespace", pick(r, []string{"a", "a", "a", "a", "b"}))
	maybe(r, 97, claims, legacyPrefix+"secret.name", pick(r, []string{"s", "s", "s", "t"}))
	maybe(r, 97, claims, legacyPrefix+"service-account.name", pick(r, []string{"robot", "robot", "robot", "other"}))
	maybe(r, 97, claims, legacyPrefix+"service-account.uid", pick(r, jwtUIDs))
	return claims
}

func jwtPayload(r *rand.Rand) object {
	claims := boundPayload(r)
	if chance(r, 20) {
		claims = legacyPayload(r)
	}
	switch r.IntN(10) {
	case 0:
		claims["aud"] = pick(r, jwtAudiences)
	case 1:
	default:
		claims["aud"] = some(r, 3, func() string { return pick(r, jwtAudiences) })
	}
	if chance(r, 5) {
		claims[pick(r, []string{"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "kubernetes.io"})] = pick(r, jwtOdd)
	}
	if chance(r, 3) {
		claims["iss"] = "https://elsewhere"
	}
	return claims
}

// breakToken changes a token after it was signed.
func breakToken(r *rand.Rand, token string) string {
	parts := strings.Split(token, ".")
	switch r.IntN(6) {
	case 0: // another character
		i := r.IntN(len(token))
		return token[:i] + pick(r, []string{"A", "b", "-", "_", "9", "=", ".", " ", ""}) + token[i+1:]
	case 1: // another header
		head := pick(r, []string{`{"alg":"none"}`, `{"alg":"HS256"}`, `{}`, `{"alg":"RS256"}`, `{"alg":"ES256"}`, `{"alg":"ES384"}`, `[]`, `x`})
		parts[0] = base64.RawURLEncoding.EncodeToString([]byte(head))
	case 2: // no signature
		parts[2] = ""
	case 3: // too few or too many parts
		parts = append(parts, "x")[:2+r.IntN(3)]
	case 4: // bits behind the last byte, which do not count
		i := r.IntN(3)
		if n := len(parts[i]); n%4 > 1 {
			const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
			parts[i] = parts[i][:n-1] + string(digits[strings.IndexByte(digits, parts[i][n-1])^1])
		}
	case 5: // the end is missing
		return token[:r.IntN(len(token))]
	}
	return strings.Join(parts, ".")
}

func generateJWT(r *rand.Rand) line {
	l := line{}
	keys := jwtKeys()
	first := r.IntN(len(keys))
	l.set("now", jwtNow)
	l.set("issuers", jwtIssuers)
	l.set("audiences", jwtAudiences[:2])
	pems := []string{pemOf(keys[first])}
	if chance(r, 50) {
		pems = append(pems, pemOf(keys[(first+1)%len(keys)]))
	}
	l.set("keys", pems)
	if chance(r, 20) {
		l.set("claims", jwtClaimsOf(r))
		return l
	}
	key := keys[first]
	if chance(r, 20) {
		key = keys[(first+1)%len(keys)]
	}
	token := signPayload(r, key, string(encode(jwtPayload(r))))
	objects := []object{}
	add := func(kind, namespace, name string) object {
		o := jwtObject(r, kind, namespace, name)
		objects = append(objects, o)
		return o
	}
	if chance(r, 95) {
		account := add("ServiceAccount", "a", "robot")
		maybe(r, 20, account, "secrets", []object{{"name": pick(r, []string{"s", "t"})}})
	}
	if chance(r, 95) {
		secret := add("Secret", "a", "s")
		kept := token
		if chance(r, 10) {
			kept = "other"
		}
		secret["data"] = object{"token": base64.StdEncoding.EncodeToString([]byte(kept))}
		if chance(r, 10) {
			secret["metadata"].(object)["labels"] = object{"kubernetes.io/legacy-token-invalid-since": pick(r, []string{"2026-01-01", ""})}
		}
	}
	if chance(r, 95) {
		add("Pod", "a", "p")
	}
	if chance(r, 95) {
		add("Node", "", "n")
	}
	if chance(r, 25) {
		token = breakToken(r, token)
	}
	l.set("objects", objects)
	l.set("token", token)
	if chance(r, 30) {
		l.set("wanted", some(r, 2, func() string { return pick(r, jwtAudiences) }))
	}
	return l
}

func jwtClaimsOf(r *rand.Rand) object {
	c := object{"namespace": pick(r, []string{"a", "kube-system"}), "name": "robot", "uid": pick(r, jwtUIDs),
		"audiences": some(r, 3, func() string { return pick(r, jwtAudiences[:3]) }), "seconds": pick(r, []int64{600, 3600, 1 << 32}),
		"id": pick(r, []string{"id-1", "a<b>&"})}
	ref := func(name string) object { return object{"name": name, "uid": pick(r, jwtUIDs)} }
	switch r.IntN(5) {
	case 0:
		c["pod"] = ref("p")
	case 1:
		c["pod"], c["node"] = ref("p"), ref("n")
	case 2:
		c["node"] = ref("n")
	case 3:
		c["secret"] = ref("s")
	}
	maybe(r, 20, c, "warnAfter", 3607)
	return c
}
