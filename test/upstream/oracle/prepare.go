package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/apiserverinternal/storageversion"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/certificates/podcertificaterequest"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	evictionregistry "k8s.io/kubernetes/pkg/registry/lifecycle/eviction"
	"k8s.io/kubernetes/pkg/registry/lifecycle/evictionrequest"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourcepoolstatusrequest"
	"k8s.io/kubernetes/pkg/registry/scheduling/compositepodgroup"
	"k8s.io/kubernetes/pkg/registry/scheduling/podgroup"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storagemigration/storagemigration"
	"k8s.io/utils/clock"
)

// What a server changes before it judges: the strategies of all kinds, as "group Kind".

func strategyOf(gvk schema.GroupVersionKind) strategy {
	if k, ok := kinds[gvk.Kind]; ok && k.group == gvk.Group {
		return k.strategy
	}
	return metadataStrategies[gvk.Group+" "+gvk.Kind]
}

var furtherStatusStrategies = map[string]rest.RESTUpdateStrategy{
	" PersistentVolumeClaim": persistentvolumeclaim.StatusStrategy,
	" ReplicationController": replicationcontroller.StatusStrategy,
	" ResourceQuota":         resourcequota.StatusStrategy,
	" Service":               service.StatusStrategy,
	"admissionregistration.k8s.io ValidatingAdmissionPolicy":  validatingadmissionpolicy.NewStatusStrategy(validatingadmissionpolicy.NewStrategy(nil, nil)),
	"apiextensions.k8s.io CustomResourceDefinition":           customresourcedefinition.NewStatusStrategy(legacyscheme.Scheme),
	"apiregistration.k8s.io APIService":                       apiservice.NewStatusStrategy(legacyscheme.Scheme),
	"autoscaling HorizontalPodAutoscaler":                     horizontalpodautoscaler.StatusStrategy,
	"certificates.k8s.io CertificateSigningRequest":           certificates.StatusStrategy,
	"certificates.k8s.io PodCertificateRequest":               podcertificaterequest.NewStatusStrategy(podcertificaterequest.NewStrategy(), nil, clock.RealClock{}),
	"flowcontrol.apiserver.k8s.io FlowSchema":                 flowschema.StatusStrategy,
	"flowcontrol.apiserver.k8s.io PriorityLevelConfiguration": prioritylevelconfiguration.StatusStrategy,
	"internal.apiserver.k8s.io StorageVersion":                storageversion.StatusStrategy,
	"lifecycle.k8s.io Eviction":                               evictionregistry.NewStatusStrategy(evictionregistry.NewStrategy(clock.RealClock{})),
	"lifecycle.k8s.io EvictionRequest":                        evictionrequest.NewStatusStrategy(evictionrequest.NewStrategy()),
	"networking.k8s.io Ingress":                               ingress.StatusStrategy,
	"networking.k8s.io ServiceCIDR":                           servicecidr.StatusStrategy,
	"resource.k8s.io DeviceTaintRule":                         devicetaintrule.StatusStrategy,
	"resource.k8s.io ResourceClaim":                           resourceclaim.NewStatusStrategy(resourceclaim.NewStrategy(noNamespaces, authorizerfactory.NewAlwaysAllowAuthorizer())),
	"resource.k8s.io ResourcePoolStatusRequest":               resourcepoolstatusrequest.StatusStrategy,
	"scheduling.k8s.io CompositePodGroup":                     compositepodgroup.NewStatusStrategy(compositepodgroup.NewStrategy()),
	"scheduling.k8s.io PodGroup":                              podgroup.NewStatusStrategy(podgroup.NewStrategy()),
	"storage.k8s.io CSINode":                                  csinode.StatusStrategy,
	"storage.k8s.io VolumeAttachment":                         volumeattachment.StatusStrategy,
	"storagemigration.k8s.io StorageVersionMigration":         storagemigration.StatusStrategy,
}

func statusStrategyOf(gvk schema.GroupVersionKind) rest.RESTUpdateStrategy {
	if k, ok := kinds[gvk.Kind]; ok && k.group == gvk.Group {
		return statusStrategies[gvk.Kind]
	}
	return furtherStatusStrategies[gvk.Group+" "+gvk.Kind]
}

// unjudgedCreate and unjudgedUpdate are strategies that find nothing wrong: what they change is asked for alone.
type unjudgedCreate struct{ rest.RESTCreateStrategy }

func (unjudgedCreate) Validate(context.Context, runtime.Object) field.ErrorList  { return nil }
func (unjudgedCreate) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }
func (unjudgedCreate) ValidateDeclaratively(context.Context, runtime.Object, runtime.Object, field.ErrorList, operation.Type, rest.DeclarativeValidationConfig) field.ErrorList {
	return nil
}

type unjudgedUpdate struct{ rest.RESTUpdateStrategy }

func (unjudgedUpdate) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}
func (unjudgedUpdate) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// Who asks.
var asking = &user.DefaultInfo{Name: "alice", UID: "u-3", Groups: []string{"devs", "system:authenticated"},
	Extra: map[string][]string{"scopes": {"a", "b"}, "k": {}}}

func prepareContext(gvk schema.GroupVersionKind, subresource string) context.Context {
	ctx := request.WithUser(request.WithNamespace(context.Background(), "default"), asking)
	return request.WithRequestInfo(ctx, &request.RequestInfo{IsResourceRequest: true, APIGroup: gvk.Group,
		APIVersion: gvk.Version, Namespace: "default", Resource: resourceOf(gvk), Subresource: subresource})
}

func gvkOf(text []byte) schema.GroupVersionKind {
	o, _ := tree(text).(object)
	version, _ := o["apiVersion"].(string)
	name, _ := o["kind"].(string)
	return schema.FromAPIVersionAndKind(version, name)
}

func decodeInternal(body []byte) runtime.Object {
	obj, _, err := legacyscheme.Codecs.UniversalDecoder().Decode(body, nil, nil)
	if err != nil {
		panic(badQuestion{err})
	}
	return obj
}

// decodeStored reads what was stored some time ago.
func decodeStored(body []byte) runtime.Object {
	if tree(body) == nil {
		panic(badQuestion{errors.New("nothing is stored")})
	}
	return decodeInternal(encode(at(storedTime, tree(encodeAs(gvkOf(body), decodeInternal(body))))))
}

func encodeAs(gvk schema.GroupVersionKind, obj runtime.Object) json.RawMessage {
	text, err := runtime.Encode(legacyscheme.Codecs.LegacyCodec(gvk.GroupVersion()), obj)
	if err != nil {
		panic(badQuestion{err})
	}
	return text
}

// prepareAnswer says what becomes of an object on its way into the store and out of it again, and what updates of its
// kind may do.
func prepareAnswer(l line) {
	withGates(l, func() {
		gvk, verb := gvkOf(l["new"]), get[string](l, "verb")
		s := strategyOf(gvk)
		if s == nil {
			panic(badQuestion{fmt.Errorf("no strategy for %s", gvk)})
		}
		obj := decodeInternal(l["new"])
		var err error
		switch verb {
		case "create":
			nameObject(obj)
			nameLimitRange(obj)
			err = beforeCreate(unjudgedCreate{s}, prepareContext(gvk, ""), obj)
		case "update":
			err = rest.BeforeUpdate(unjudgedUpdate{s}, prepareContext(gvk, ""), obj, decodeStored(l["old"]))
		case "status":
			part := statusStrategyOf(gvk)
			if part == nil {
				panic(badQuestion{fmt.Errorf("no status of %s", gvk)})
			}
			err = rest.BeforeUpdate(unjudgedUpdate{part}, prepareContext(gvk, verb), obj, decodeStored(l["old"]))
		case "approval":
			err = rest.BeforeUpdate(unjudgedUpdate{certificates.ApprovalStrategy}, prepareContext(gvk, verb), obj, decodeStored(l["old"]))
		default:
			panic(badQuestion{fmt.Errorf("no verb %q", verb)})
		}
		if err != nil && !apierrors.IsInvalid(err) {
			panic(badQuestion{err})
		}
		stored := encodeAs(gvk, decodeInternal(encodeAs(gvk, obj)))
		l.set("after", at(statusTime.UTC(), tree(stored)))
		l.set("creates", s.AllowCreateOnUpdate(prepareContext(gvk, "")))
		l.set("needs_version", !s.AllowUnconditionalUpdate(prepareContext(gvk, "")))
	})
}

// When all that is stored already was stored.
var storedTime = time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)

// at gives all times of the clock that one.
func at(now time.Time, value any) any {
	switch v := value.(type) {
	case object:
		for key := range v {
			v[key] = at(now, v[key])
		}
	case []any:
		for i := range v {
			v[i] = at(now, v[i])
		}
	case string:
		if t, err := time.Parse(time.RFC3339, v); err == nil && time.Since(t).Abs() < time.Hour {
			return now.Format(time.RFC3339)
		}
	}
	return value
}
