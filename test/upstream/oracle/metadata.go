package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apiserverinternal/storageversion"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/certificates/clustertrustbundle"
	"k8s.io/kubernetes/pkg/registry/certificates/podcertificaterequest"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/coordination/leasecandidate"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	evictionregistry "k8s.io/kubernetes/pkg/registry/lifecycle/eviction"
	"k8s.io/kubernetes/pkg/registry/lifecycle/evictionrequest"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourcepoolstatusrequest"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/compositepodgroup"
	"k8s.io/kubernetes/pkg/registry/scheduling/podgroup"
	workloadregistry "k8s.io/kubernetes/pkg/registry/scheduling/workload"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
	"k8s.io/kubernetes/pkg/registry/storagemigration/storagemigration"
	"k8s.io/utils/clock"
)

// Nobody is asked whether parameters of policies may be read; what they are is asked for first.
var noResources = resolver.ResourceResolverFunc(func(schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	return schema.GroupVersionResource{}, errors.New("no such kind")
})

var noNamespaces = fake.NewSimpleClientset().CoreV1().Namespaces()

// The kinds of which Berth judges the metadata alone, as "group Kind", and the rules that a server has for them.
var metadataStrategies = map[string]strategy{
	" ConfigMap":             configmap.Strategy,
	" Endpoints":             endpoint.Strategy,
	" Event":                 event.Strategy,
	" LimitRange":            limitrange.Strategy,
	" PersistentVolumeClaim": persistentvolumeclaim.Strategy,
	" PodTemplate":           podtemplate.Strategy,
	" ReplicationController": replicationcontroller.Strategy,
	" ResourceQuota":         resourcequota.Strategy,
	" Secret":                secret.Strategy,
	" Service":               service.Strategy,
	" ServiceAccount":        serviceaccount.Strategy,
	"admissionregistration.k8s.io MutatingAdmissionPolicy":          mutatingadmissionpolicy.NewStrategy(nil, noResources),
	"admissionregistration.k8s.io MutatingAdmissionPolicyBinding":   mutatingadmissionpolicybinding.NewStrategy(nil, nil, noResources),
	"admissionregistration.k8s.io MutatingWebhookConfiguration":     mutatingwebhookconfiguration.Strategy,
	"admissionregistration.k8s.io ValidatingAdmissionPolicy":        validatingadmissionpolicy.NewStrategy(nil, noResources),
	"admissionregistration.k8s.io ValidatingAdmissionPolicyBinding": validatingadmissionpolicybinding.NewStrategy(nil, nil, noResources),
	"admissionregistration.k8s.io ValidatingWebhookConfiguration":   validatingwebhookconfiguration.Strategy,
	"apiextensions.k8s.io CustomResourceDefinition":                 customresourcedefinition.NewStrategy(legacyscheme.Scheme),
	"apiregistration.k8s.io APIService":                             apiservice.NewStrategy(legacyscheme.Scheme),
	"apps ControllerRevision":                                       controllerrevision.Strategy,
	"autoscaling HorizontalPodAutoscaler":                           horizontalpodautoscaler.Strategy,
	"certificates.k8s.io CertificateSigningRequest":                 certificates.Strategy,
	"certificates.k8s.io ClusterTrustBundle":                        clustertrustbundle.Strategy,
	"certificates.k8s.io PodCertificateRequest":                     podcertificaterequest.NewStrategy(),
	"coordination.k8s.io Lease":                                     lease.Strategy,
	"coordination.k8s.io LeaseCandidate":                            leasecandidate.Strategy,
	"discovery.k8s.io EndpointSlice":                                endpointslice.Strategy,
	"events.k8s.io Event":                                           event.Strategy,
	"flowcontrol.apiserver.k8s.io FlowSchema":                       flowschema.Strategy,
	"flowcontrol.apiserver.k8s.io PriorityLevelConfiguration":       prioritylevelconfiguration.Strategy,
	"internal.apiserver.k8s.io StorageVersion":                      storageversion.Strategy,
	"lifecycle.k8s.io Eviction":                                     evictionregistry.NewStrategy(clock.RealClock{}),
	"lifecycle.k8s.io EvictionRequest":                              evictionrequest.NewStrategy(),
	"networking.k8s.io IPAddress":                                   ipaddress.Strategy,
	"networking.k8s.io Ingress":                                     ingress.Strategy,
	"networking.k8s.io IngressClass":                                ingressclass.Strategy,
	"networking.k8s.io NetworkPolicy":                               networkpolicy.Strategy,
	"networking.k8s.io ServiceCIDR":                                 servicecidr.Strategy,
	"node.k8s.io RuntimeClass":                                      runtimeclass.Strategy,
	"rbac.authorization.k8s.io ClusterRole":                         clusterrole.Strategy,
	"rbac.authorization.k8s.io ClusterRoleBinding":                  clusterrolebinding.Strategy,
	"rbac.authorization.k8s.io Role":                                role.Strategy,
	"rbac.authorization.k8s.io RoleBinding":                         rolebinding.Strategy,
	"resource.k8s.io DeviceClass":                                   deviceclass.Strategy,
	"resource.k8s.io DeviceTaintRule":                               devicetaintrule.Strategy,
	"resource.k8s.io ResourceClaim":                                 resourceclaim.NewStrategy(noNamespaces, authorizerfactory.NewAlwaysAllowAuthorizer()),
	"resource.k8s.io ResourceClaimTemplate":                         resourceclaimtemplate.NewStrategy(noNamespaces),
	"resource.k8s.io ResourcePoolStatusRequest":                     resourcepoolstatusrequest.Strategy,
	"resource.k8s.io ResourceSlice":                                 resourceslice.Strategy,
	"scheduling.k8s.io CompositePodGroup":                           compositepodgroup.NewStrategy(),
	"scheduling.k8s.io PodGroup":                                    podgroup.NewStrategy(),
	"scheduling.k8s.io Workload":                                    workloadregistry.Strategy,
	"storage.k8s.io CSIDriver":                                      csidriver.Strategy,
	"storage.k8s.io CSINode":                                        csinode.Strategy,
	"storage.k8s.io CSIStorageCapacity":                             csistoragecapacity.Strategy,
	"storage.k8s.io StorageClass":                                   storageclass.Strategy,
	"storage.k8s.io VolumeAttachment":                               volumeattachment.Strategy,
	"storage.k8s.io VolumeAttributesClass":                          volumeattributesclass.Strategy,
	"storagemigration.k8s.io StorageVersionMigration":               storagemigration.Strategy,
}

// Of these kinds, and of those of rules.go, Berth has all rules: the whole verdict is compared.
var judgedWhole = []string{" ConfigMap", " LimitRange", " ResourceQuota", " Secret", " ServiceAccount", "coordination.k8s.io Lease",
	"rbac.authorization.k8s.io ClusterRole", "rbac.authorization.k8s.io ClusterRoleBinding", "rbac.authorization.k8s.io Role",
	"rbac.authorization.k8s.io RoleBinding"}

// metadataOnly is a strategy that looks at metadata and at nothing else: what else is wrong with an object is not said.
type metadataOnly struct{ strategy }

func ofMetadata(errs field.ErrorList) (found field.ErrorList) {
	for _, e := range errs {
		if e.Field == "metadata" || strings.HasPrefix(e.Field, "metadata.") {
			found = append(found, e)
		}
	}
	return found
}

func (m metadataOnly) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return ofMetadata(m.strategy.Validate(ctx, obj))
}

func (m metadataOnly) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return ofMetadata(m.strategy.ValidateUpdate(ctx, obj, old))
}

func (m metadataOnly) ValidateDeclaratively(ctx context.Context, obj, old runtime.Object, errs field.ErrorList, op operation.Type,
	config rest.DeclarativeValidationConfig) field.ErrorList {
	if dv, ok := m.strategy.(rest.DeclarativeValidationStrategy); ok {
		return ofMetadata(dv.ValidateDeclaratively(ctx, obj, old, errs, op, config))
	}
	return errs
}

func (m metadataOnly) DeclarativeValidationConfig(ctx context.Context, obj, old runtime.Object) rest.DeclarativeValidationConfig {
	if dv, ok := m.strategy.(rest.DeclarativeValidationStrategy); ok {
		return dv.DeclarativeValidationConfig(ctx, obj, old)
	}
	return rest.DeclarativeValidationConfig{}
}

// A metadataKind is one whose objects are judged by their metadata, in the version that the object names.
type metadataKind struct {
	gvk      schema.GroupVersionKind
	strategy strategy
}

func metadataKindOf(text []byte) metadataKind {
	o, _ := tree(text).(object)
	version, _ := o["apiVersion"].(string)
	name, _ := o["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(version, name)
	s, ok := metadataStrategies[gvk.Group+" "+gvk.Kind]
	if !ok {
		panic(badQuestion{fmt.Errorf("no rules for metadata of %s", gvk)})
	}
	if slices.Contains(judgedWhole, gvk.Group+" "+gvk.Kind) || slices.Contains(ruledKinds, gvk.Group+" "+gvk.Kind) {
		return metadataKind{gvk, s}
	}
	return metadataKind{gvk, metadataOnly{s}}
}

func (k metadataKind) context() context.Context {
	ctx := request.WithNamespace(context.Background(), "default")
	return request.WithRequestInfo(ctx, &request.RequestInfo{IsResourceRequest: true, APIGroup: k.gvk.Group,
		APIVersion: k.gvk.Version, Namespace: "default", Resource: resourceOf(k.gvk)})
}

func resourceOf(gvk schema.GroupVersionKind) string {
	for _, list := range discovery() {
		for _, r := range list.APIResources {
			if list.GroupVersion == gvk.GroupVersion().String() && r.Kind == gvk.Kind && !strings.Contains(r.Name, "/") {
				return r.Name
			}
		}
	}
	return ""
}

// decode gives the object as the server works with it; what cannot be read is a question of the area decode.
func (k metadataKind) decode(body []byte) runtime.Object {
	obj, _, err := legacyscheme.Codecs.UniversalDecoder().Decode(body, nil, nil)
	if err != nil {
		panic(badQuestion{err})
	}
	return obj
}

// metadataAnswer says what a server finds wrong with the metadata of a new object, or of one that replaces another.
func metadataAnswer(l line) {
	withGates(l, func() {
		if l.has("old") {
			if stored, _ := tree(l["old"]).(object); stored["stringData"] != nil {
				panic(badQuestion{errors.New("no Secret is stored like this")})
			}
			k := metadataKindOf(l["new"])
			obj, old := k.decode(l["new"]), k.decode(l["old"])
			err := rest.BeforeUpdate(k.strategy, k.context(), obj, old)
			judge(l, err, func() field.ErrorList { return rest.ValidateUpdate(k.context(), obj, old, k.strategy) })
			l["status"] = withCausesOnce(l["status"])
			return
		}
		k := metadataKindOf(l["object"])
		obj := k.decode(l["object"])
		nameObject(obj)
		nameLimitRange(obj)
		err := beforeCreate(k.strategy, k.context(), obj)
		judge(l, err, func() field.ErrorList { return rest.ValidateCreate(k.context(), obj, k.strategy) })
	})
}

// A LimitRange without a name is called by a new uid, which here is always the same.
func nameLimitRange(obj runtime.Object) {
	if limits, ok := obj.(*core.LimitRange); ok && limits.Name == "" {
		limits.Name = newUID
	}
}

// withCausesOnce takes away what a status says again, as that of an update does for kinds without declared rules.
func withCausesOnce(text json.RawMessage) json.RawMessage {
	var s *metav1.Status
	if err := json.Unmarshal(text, &s); err != nil || s == nil || s.Details == nil {
		return text
	}
	seen := map[metav1.StatusCause]bool{}
	s.Details.Causes = slices.DeleteFunc(s.Details.Causes, func(c metav1.StatusCause) bool {
		again := seen[c]
		seen[c] = true
		return again
	})
	return encode(s)
}
