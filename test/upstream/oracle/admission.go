package main

import (
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	quota "k8s.io/apiserver/pkg/quota/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/quota/v1/install"
	certapproval "k8s.io/kubernetes/plugin/pkg/admission/certificates/approval"
	"k8s.io/kubernetes/plugin/pkg/admission/certificates/ctbattest"
	certsigning "k8s.io/kubernetes/plugin/pkg/admission/certificates/signing"
	certsubject "k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"
	"k8s.io/kubernetes/plugin/pkg/admission/gc"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/network/defaultingressclass"
	"k8s.io/kubernetes/plugin/pkg/admission/noderestriction"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/podnodeselector"
	"k8s.io/kubernetes/plugin/pkg/admission/podtolerationrestriction"
	"k8s.io/kubernetes/plugin/pkg/admission/podtopologylabels"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/persistentvolume/resize"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection"
)

var admissionPlugins = admission.NewPlugins()

func init() {
	for _, register := range []func(*admission.Plugins){
		certapproval.Register, ctbattest.Register, certsigning.Register, certsubject.Register, gc.Register, limitranger.Register,
		defaultingressclass.Register, noderestriction.Register, nodetaint.Register, podnodeselector.Register,
		podtolerationrestriction.Register, podtopologylabels.Register, runtimeclass.Register, serviceaccount.Register,
		resize.Register, storageobjectinuseprotection.Register, lifecycle.Register, resourcequota.Register,
	} {
		register(admissionPlugins)
	}
}

// A cluster that a plug-in is shown: everything that it may want.
type admissionCluster struct {
	client  *fake.Clientset
	factory informers.SharedInformerFactory
	allowed []string // what the authorizer allows, as grant writes it
	stop    chan struct{}
}

// Where an informer of the kind of an object keeps it.
func (c *admissionCluster) indexer(o runtime.Object) cache.Indexer {
	gvk := o.GetObjectKind().GroupVersionKind()
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	informer, err := c.factory.ForResource(plural)
	if err != nil {
		panic(badQuestion{err})
	}
	return informer.Informer().GetIndexer()
}

func newAdmissionCluster(l line) *admissionCluster {
	var objects []runtime.Object
	for _, raw := range get[[]json.RawMessage](l, "objects") {
		o, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			panic(badQuestion{err})
		}
		legacyscheme.Scheme.Default(o)
		objects = append(objects, o)
	}
	c := &admissionCluster{client: fake.NewSimpleClientset(objects...), allowed: get[[]string](l, "allowed"), stop: make(chan struct{})}
	c.factory = informers.NewSharedInformerFactory(c.client, 0)
	for _, raw := range get[[]json.RawMessage](l, "objects") {
		o, gvk, _ := legacyscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		legacyscheme.Scheme.Default(o)
		o.GetObjectKind().SetGroupVersionKind(*gvk)
		mustStore(c.indexer(o).Add(o))
	}
	return c
}

func grant(a authorizer.Attributes) string {
	return strings.Join([]string{a.GetVerb(), a.GetAPIGroup(), a.GetResource(), a.GetSubresource(), a.GetNamespace(), a.GetName()}, " ")
}

func (c *admissionCluster) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	for _, g := range c.allowed {
		if g == "all" || g == grant(a) {
			return authorizer.DecisionAllow, "", nil
		}
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// Initialize gives a plug-in all that it wants.
func (c *admissionCluster) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(initializer.WantsFeatures); ok {
		p.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	}
	if p, ok := plugin.(initializer.WantsDrainedNotification); ok {
		p.SetDrainedNotification(c.stop)
	}
	if p, ok := plugin.(initializer.WantsExternalKubeClientSet); ok {
		p.SetExternalKubeClientSet(c.client)
	}
	if p, ok := plugin.(initializer.WantsExternalKubeInformerFactory); ok {
		p.SetExternalKubeInformerFactory(c.factory)
	}
	if p, ok := plugin.(interface {
		SetUnconditionalAuthorizer(authorizer.UnconditionalAuthorizer)
	}); ok {
		p.SetUnconditionalAuthorizer(c)
	}
	if p, ok := plugin.(initializer.WantsRESTMapper); ok {
		p.SetRESTMapper(admissionMapper())
	}
	if p, ok := plugin.(interface{ SetQuotaConfiguration(quota.Configuration) }); ok {
		configuration, err := install.NewQuotaConfigurationForAdmission(c.factory, nil)
		if err != nil {
			panic(err)
		}
		p.SetQuotaConfiguration(configuration)
	}
	if p, ok := plugin.(interface{ SetReadyFunc(admission.ReadyFunc) }); ok {
		p.SetReadyFunc(func() bool { return true })
	}
}

// Resources by their kinds, as far as owners are of them.
func admissionMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Node"}, meta.RESTScopeRoot)
	mapper.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}, meta.RESTScopeNamespace)
	return mapper
}

// What a request is about.
type admissionRequest struct {
	Plugin, Operation, Group, Resource, Subresource, Namespace, Name string
	User                                                             user.DefaultInfo
}

func decodeInternal(raw json.RawMessage) (runtime.Object, schema.GroupVersionKind) {
	if raw == nil {
		return nil, schema.GroupVersionKind{}
	}
	o, gvk, err := legacyscheme.Codecs.UniversalDecoder().Decode(raw, nil, nil)
	if err != nil {
		panic(badQuestion{err})
	}
	return o, *gvk
}

func admissionAnswer(l line) {
	withGates(l, func() {
		c := newAdmissionCluster(l)
		defer close(c.stop)
		request := get[admissionRequest](l, "request")
		plugin, err := admissionPlugins.InitPlugin(request.Plugin, io.Reader(nil), c)
		if err != nil {
			panic(badQuestion{err})
		}
		o, gvk := decodeInternal(l["object"])
		old, _ := decodeInternal(l["old"])
		object := o
		if request.Operation == "DELETE" {
			object, old = nil, o
		}
		name := request.Name
		if name == "" && o != nil {
			name = must(meta.Accessor(o)).GetName()
		}
		a := admission.NewAttributesRecord(object, old, gvk, request.Namespace, name,
			schema.GroupVersionResource{Group: request.Group, Version: gvk.Version, Resource: request.Resource}, request.Subresource,
			admission.Operation(request.Operation), &metav1.CreateOptions{}, false, &request.User)
		if err := admit(plugin, a); err != nil {
			l.set("status", admissionStatus(err))
			return
		}
		if request.Operation != "DELETE" {
			l.set("after", admitted(o, gvk))
		}
		if request.Plugin == resourcequota.PluginName {
			l.set("used", c.used(request.Namespace))
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(badQuestion{err})
	}
	return v
}

func admit(plugin admission.Interface, a admission.Attributes) error {
	if !plugin.Handles(a.GetOperation()) {
		return nil
	}
	if p, ok := plugin.(admission.MutationInterface); ok {
		if err := p.Admit(context.Background(), a, nil); err != nil {
			return err
		}
	}
	if p, ok := plugin.(admission.ValidationInterface); ok {
		return p.Validate(context.Background(), a, nil)
	}
	return nil
}

// The Status that a handler writes, also of errors that are none.
func admissionStatus(err error) any {
	s := responsewriters.ErrorToAPIStatus(err)
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return s
}

var volumeSuffix = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}"`)

// What plug-ins change: some of metadata, and the spec.
func admitted(o runtime.Object, gvk schema.GroupVersionKind) json.RawMessage {
	versioned, err := legacyscheme.Scheme.ConvertToVersion(o, gvk.GroupVersion())
	if err != nil {
		panic(badQuestion{err})
	}
	raw := volumeSuffix.ReplaceAll(encode(versioned), []byte(`kube-api-access-zzzzz"`))
	var whole struct {
		Metadata struct {
			Labels      map[string]string `json:"labels,omitempty"`
			Annotations map[string]string `json:"annotations,omitempty"`
			Finalizers  []string          `json:"finalizers,omitempty"`
		} `json:"metadata"`
		Spec json.RawMessage `json:"spec,omitempty"`
	}
	if err := json.Unmarshal(raw, &whole); err != nil {
		panic(badQuestion{err})
	}
	return encode(whole)
}

// What quotas say is used, by their names.
func (c *admissionCluster) used(namespace string) map[string]corev1.ResourceList {
	list, err := c.client.CoreV1().ResourceQuotas(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		panic(badQuestion{err})
	}
	used := map[string]corev1.ResourceList{}
	for _, q := range list.Items {
		used[q.Name] = quota.Add(q.Status.Used, nil)
	}
	return used
}
