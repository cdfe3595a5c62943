package main

import (
	"encoding/json"
	"errors"

	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	api "k8s.io/kubernetes/pkg/apis/certificates"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/core/pod"
)

var requestKind = kind{"certificates.k8s.io", "certificatesigningrequests", certificates.Strategy}

// A subresource whose writes have rules of their own.
type subresource struct {
	kind     string
	of       kind
	strategy rest.RESTUpdateStrategy
}

var ruled = map[string]subresource{
	"ephemeralcontainers": {"Pod", kinds["Pod"], pod.EphemeralContainersStrategy},
	"resize":              {"Pod", kinds["Pod"], pod.ResizeStrategy},
	"approval":            {"CertificateSigningRequest", requestKind, certificates.ApprovalStrategy},
	"status":              {"CertificateSigningRequest", requestKind, certificates.StatusStrategy},
}

// A write to a subresource: whether it is accepted, and what becomes of the object.
func validateSubresource(l line) {
	name := get[string](l, "subresource")
	s, ok := ruled[name]
	if !ok || !l.has("old") {
		panic(badQuestion{errors.New("nothing is stored, or there is no such subresource")})
	}
	withGates(l, func() {
		old, err := s.of.decode(s.kind, l["old"])
		if err != nil {
			panic(badQuestion{err})
		}
		if spec, ok := old.DeepCopyObject().(*api.CertificateSigningRequest); ok {
			for _, c := range spec.Status.Conditions {
				if c.LastUpdateTime.IsZero() || c.LastTransitionTime.IsZero() {
					panic(badQuestion{errors.New("a condition without times is never stored")})
				}
			}
			spec.Status = api.CertificateSigningRequestStatus{}
			if errs := certificates.Strategy.Validate(s.of.context(), spec); len(errs) > 0 {
				panic(badQuestion{errs.ToAggregate()}) // Berth does not look into requests
			}
		}
		obj, err := s.of.decode(s.kind, l["new"])
		if err != nil {
			panic(badQuestion{err})
		}
		info, _ := request.RequestInfoFrom(s.of.context())
		info.Subresource = name
		ctx := request.WithRequestInfo(s.of.context(), info)
		err = rest.BeforeUpdate(s.strategy, ctx, obj, old)
		judge(l, err, func() field.ErrorList { return rest.ValidateUpdate(ctx, obj, old, s.strategy) })
		if err == nil {
			l.set("after", s.after(s.of.encode(obj)))
		}
	})
}

// What a write to a subresource may change. Times that upstream takes from its clock are those of the question.
func (s subresource) after(served json.RawMessage) object {
	o := tree(served).(object)
	after := object{"spec": o["spec"]}
	if meta, ok := o["metadata"].(object); ok {
		for _, key := range []string{"labels", "annotations", "generation"} {
			if value, ok := meta[key]; ok {
				after[key] = value
			}
		}
	}
	if status, ok := o["status"]; ok {
		after["status"] = status
	}
	if s.kind != "Pod" {
		stopClock(after["status"])
	}
	return after
}

func stopClock(value any) any {
	switch v := value.(type) {
	case object:
		for key := range v {
			v[key] = stopClock(v[key])
		}
	case []any:
		for i := range v {
			v[i] = stopClock(v[i])
		}
	case string:
		if t, err := time.Parse(time.RFC3339, v); err == nil && t.After(statusTime.Time) {
			return statusTime.Format(time.RFC3339)
		}
	}
	return value
}
