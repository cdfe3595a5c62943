package main

import (
	"fmt"
	"regexp"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
)

// Of these kinds, as "group Kind", all is judged, in all their versions and by all that can be written: rules.jsonl.
var ruledKinds = []string{
	" Event",
	" PersistentVolumeClaim",
	" PodTemplate",
	" ReplicationController",
	"admissionregistration.k8s.io MutatingAdmissionPolicy",
	"admissionregistration.k8s.io MutatingAdmissionPolicyBinding",
	"admissionregistration.k8s.io MutatingWebhookConfiguration",
	"admissionregistration.k8s.io ValidatingAdmissionPolicy",
	"admissionregistration.k8s.io ValidatingAdmissionPolicyBinding",
	"admissionregistration.k8s.io ValidatingWebhookConfiguration",
	"apps ControllerRevision",
	"autoscaling HorizontalPodAutoscaler",
	"certificates.k8s.io CertificateSigningRequest",
	"certificates.k8s.io ClusterTrustBundle",
	"coordination.k8s.io LeaseCandidate",
	"events.k8s.io Event",
	"flowcontrol.apiserver.k8s.io FlowSchema",
	"flowcontrol.apiserver.k8s.io PriorityLevelConfiguration",
	"node.k8s.io RuntimeClass",
	"resource.k8s.io DeviceClass",
	"resource.k8s.io DeviceTaintRule",
	"resource.k8s.io ResourceClaim",
	"resource.k8s.io ResourceClaimTemplate",
	"resource.k8s.io ResourcePoolStatusRequest",
	"resource.k8s.io ResourceSlice",
	"scheduling.k8s.io CompositePodGroup",
	"scheduling.k8s.io PodGroup",
	"scheduling.k8s.io Workload",
	"storage.k8s.io CSIDriver",
	"storage.k8s.io CSINode",
	"storage.k8s.io CSIStorageCapacity",
	"storage.k8s.io StorageClass",
	"storage.k8s.io VolumeAttachment",
	"storage.k8s.io VolumeAttributesClass",
}

// partStrategy is the strategy of what a write is about, when that is not the whole object.
func partStrategy(gvk schema.GroupVersionKind, verb string) rest.RESTUpdateStrategy {
	switch verb {
	case "update":
		return strategyOf(gvk)
	case "status":
		if s := statusStrategyOf(gvk); s != nil {
			return s
		}
	case "approval":
		if gvk.Kind == "CertificateSigningRequest" {
			return certificates.ApprovalStrategy
		}
	}
	panic(badQuestion{fmt.Errorf("no %s of %s", verb, gvk)})
}

// rulesAnswer says what a server finds wrong with an object that is new, or takes the place of another, or whose
// status does so.
func rulesAnswer(l line) {
	withGates(l, func() {
		verb, gvk := get[string](l, "verb"), gvkOf(l["new"])
		if strategyOf(gvk) == nil {
			panic(badQuestion{fmt.Errorf("no rules of %s", gvk)})
		}
		obj := decodeInternal(l["new"])
		if verb == "create" {
			nameObject(obj)
			ctx := prepareContext(gvk, "")
			err := beforeCreate(strategyOf(gvk), ctx, obj)
			judge(l, err, func() field.ErrorList { return rest.ValidateCreate(ctx, obj, strategyOf(gvk)) })
			warn(l, strategyOf(gvk).WarningsOnCreate(ctx, obj))
			return
		}
		if !l.has("old") {
			panic(badQuestion{fmt.Errorf("nothing is stored")})
		}
		old, s := decodeInternal(l["old"]), partStrategy(gvk, verb)
		subresource := verb
		if verb == "update" {
			subresource = ""
		}
		ctx := prepareContext(gvk, subresource)
		err := rest.BeforeUpdate(s, ctx, obj, old)
		if err != nil && !apierrors.IsInvalid(err) {
			panic(badQuestion{err})
		}
		judge(l, err, func() field.ErrorList { return rest.ValidateUpdate(ctx, obj, old, s) })
		l["status"] = withCausesOnce(l["status"])
		l["errors"], l["status"] = timeless(l["errors"]), timeless(l["status"])
		warn(l, s.WarningsOnUpdate(ctx, obj, old))
	})
}

// warn notes of what a server warns, if it accepts the object.
func warn(l line, warnings []string) {
	if get[bool](l, "valid") {
		l.set("warnings", append([]string{}, warnings...))
	}
}

var anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// timeless gives all times of the clock in a text that of the area prepare.
func timeless(text []byte) []byte {
	return anyTime.ReplaceAllFunc(text, func(found []byte) []byte {
		if t, err := time.Parse(time.RFC3339, string(found)); err == nil && time.Since(t).Abs() < time.Hour {
			return []byte(statusTime.UTC().Format(time.RFC3339))
		}
		return found
	})
}
