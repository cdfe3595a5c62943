package main

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	tokenunion "k8s.io/apiserver/pkg/authentication/token/union"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/serviceaccount"
	_ "unsafe" // for linkname
)

//go:linkname serviceAccountNow k8s.io/kubernetes/pkg/serviceaccount.now
var serviceAccountNow func() time.Time

//go:linkname serviceAccountNewUUID k8s.io/kubernetes/pkg/serviceaccount.newUUID
var serviceAccountNewUUID func() string

// A token that is signed at the time "now", or whose token it is.
func jwtAnswer(l line) {
	now := time.Unix(get[int64](l, "now"), 0)
	serviceAccountNow = func() time.Time { return now }
	var keys []any
	for _, pem := range get[[]string](l, "keys") {
		key, err := keyutil.ParsePrivateKeyPEM([]byte(pem))
		if err != nil {
			panic(badQuestion{err})
		}
		keys = append(keys, key)
	}
	if l.has("claims") {
		signClaims(l, keys[0])
		return
	}
	authenticateToken(l, keys)
}

type jwtReference struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

type jwtClaims struct {
	Namespace string        `json:"namespace"`
	Name      string        `json:"name"`
	UID       types.UID     `json:"uid"`
	Audiences []string      `json:"audiences"`
	Seconds   int64         `json:"seconds"`
	WarnAfter int64         `json:"warnAfter,omitempty"`
	ID        string        `json:"id"`
	Pod       *jwtReference `json:"pod,omitempty"`
	Node      *jwtReference `json:"node,omitempty"`
	Secret    *jwtReference `json:"secret,omitempty"`
}

func (r *jwtReference) meta() metav1.ObjectMeta { return metav1.ObjectMeta{Name: r.Name, UID: r.UID} }

// Signatures on a curve are never the same twice: of these all but the signature is told, and the token, which must verify.
func signClaims(l line, key any) {
	c := get[jwtClaims](l, "claims")
	serviceAccountNewUUID = func() string { return c.ID }
	account := core.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name, UID: c.UID}}
	var pod *core.Pod
	var node *core.Node
	var secret *core.Secret
	if c.Pod != nil {
		pod = &core.Pod{ObjectMeta: c.Pod.meta()}
	}
	if c.Node != nil {
		node = &core.Node{ObjectMeta: c.Node.meta()}
	}
	if c.Secret != nil {
		secret = &core.Secret{ObjectMeta: c.Secret.meta()}
	}
	public, private, err := serviceaccount.Claims(account, pod, secret, node, nil, nil, c.Seconds, c.WarnAfter, c.Audiences, nil)
	if err != nil {
		panic(badQuestion{err})
	}
	generator, err := serviceaccount.JWTTokenGenerator(get[[]string](l, "issuers")[0], key)
	if err != nil {
		panic(badQuestion{err})
	}
	token, err := generator.GenerateToken(context.Background(), public, private)
	if err != nil {
		panic(badQuestion{err})
	}
	l.set("signed", token)
	if _, ok := key.(*ecdsa.PrivateKey); ok {
		l.set("signed_text", token[:strings.LastIndex(token, ".")])
	}
}

func authenticateToken(l line, keys []any) {
	getter, err := serviceaccount.StaticPublicKeysGetter(keys)
	if err != nil {
		panic(badQuestion{err})
	}
	objects := readBound(l)
	audiences := authenticator.Audiences(get[[]string](l, "audiences"))
	legacy, err := serviceaccount.NewLegacyValidator(true, objects, objects)
	if err != nil {
		panic(badQuestion{err})
	}
	union := tokenunion.New(
		serviceaccount.JWTTokenAuthenticator([]string{serviceaccount.LegacyIssuer}, getter, audiences, legacy),
		serviceaccount.JWTTokenAuthenticator(get[[]string](l, "issuers"), getter, audiences, serviceaccount.NewValidator(objects)))
	ctx := context.Background()
	if wanted := get[[]string](l, "wanted"); len(wanted) > 0 {
		ctx = authenticator.WithAudiences(ctx, wanted)
	}
	response, ok, err := union.AuthenticateToken(ctx, get[string](l, "token"))
	l.set("authenticated", ok)
	if ok {
		u := response.User
		l.set("user", map[string]any{"name": u.GetName(), "uid": u.GetUID(), "groups": u.GetGroups(), "extra": u.GetExtra()})
		l.set("for", response.Audiences)
		return
	}
	l.set("error", spoken(err))
}

// spoken is the error in words about what the token says, not those about its signature or of a library that reads JSON.
func spoken(err error) string {
	if err == nil {
		return ""
	}
	for _, start := range []string{"service account ", "serviceaccounts ", "token ", "pod UID", "node UID", "secret UID", "feature gate",
		"sub claim", "namespace claim", "secretName claim", "serviceAccount", "Token ", "ServiceAccount ",
		"the token in secret"} {
		if strings.HasPrefix(err.Error(), start) {
			return err.Error()
		}
	}
	return ""
}

// boundObjects are those that tokens may be bound to.
type boundObjects struct {
	typedv1.SecretsGetter
	accounts map[string]*v1.ServiceAccount
	pods     map[string]*v1.Pod
	secrets  map[string]*v1.Secret
	nodes    map[string]*v1.Node
}

func readBound(l line) *boundObjects {
	o := &boundObjects{accounts: map[string]*v1.ServiceAccount{}, pods: map[string]*v1.Pod{}, secrets: map[string]*v1.Secret{},
		nodes: map[string]*v1.Node{}}
	for _, raw := range get[[]json.RawMessage](l, "objects") {
		m := read[metav1.PartialObjectMetadata](raw)
		key := m.Namespace + "/" + m.Name
		switch m.Kind {
		case "ServiceAccount":
			o.accounts[key] = read[v1.ServiceAccount](raw)
		case "Pod":
			o.pods[key] = read[v1.Pod](raw)
		case "Secret":
			o.secrets[key] = read[v1.Secret](raw)
		case "Node":
			o.nodes[key] = read[v1.Node](raw)
		}
	}
	return o
}

func found[T any](objects map[string]*T, resource, namespace, name string) (*T, error) {
	if o := objects[namespace+"/"+name]; o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(v1.Resource(resource), name)
}

func (o *boundObjects) GetServiceAccount(_ context.Context, namespace, name string) (*v1.ServiceAccount, error) {
	return found(o.accounts, "serviceaccounts", namespace, name)
}
func (o *boundObjects) GetPod(_ context.Context, namespace, name string) (*v1.Pod, error) {
	return found(o.pods, "pods", namespace, name)
}
func (o *boundObjects) GetSecret(_ context.Context, namespace, name string) (*v1.Secret, error) {
	return found(o.secrets, "secrets", namespace, name)
}
func (o *boundObjects) GetNode(_ context.Context, name string) (*v1.Node, error) {
	return found(o.nodes, "nodes", "", name)
}
func (o *boundObjects) GetValidatingWebhookConfiguration(context.Context, string) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	return nil, fmt.Errorf("none")
}
func (o *boundObjects) GetMutatingWebhookConfiguration(context.Context, string) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return nil, fmt.Errorf("none")
}

// Secrets lets upstream write down when a token was last used, to nowhere.
func (o *boundObjects) Secrets(string) typedv1.SecretInterface { return nowhere{} }

type nowhere struct{ typedv1.SecretInterface }

func (nowhere) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*v1.Secret, error) {
	return &v1.Secret{}, nil
}
