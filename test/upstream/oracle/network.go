package main

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
)

// networkKinds are those of the network, as "group Kind": of them the whole verdict is asked for, and the warnings.
var networkKinds = []string{" Service", " Endpoints", "discovery.k8s.io EndpointSlice", "networking.k8s.io Ingress", "networking.k8s.io IngressClass",
	"networking.k8s.io NetworkPolicy", "networking.k8s.io ServiceCIDR", "networking.k8s.io IPAddress"}

func init() { judgedWhole = append(judgedWhole, networkKinds...) }

// networkAnswer says what a server finds wrong with an object of the network that is new, or replaces another, or whose
// status does so; and of what it warns if it accepts it.
func networkAnswer(l line) {
	withGates(l, func() {
		verb, gvk := get[string](l, "verb"), gvkOf(l["new"])
		if !slices.Contains(networkKinds, gvk.Group+" "+gvk.Kind) {
			panic(badQuestion{errors.New("no kind of the network")})
		}
		s, obj := strategyOf(gvk), decodeInternal(l["new"])
		var warnings []string
		if verb == "create" {
			nameObject(obj)
			ctx := prepareContext(gvk, "")
			err := beforeCreate(s, ctx, obj)
			judge(l, err, func() field.ErrorList { return rest.ValidateCreate(ctx, obj, s) })
			warnings = s.WarningsOnCreate(ctx, obj)
		} else {
			var part rest.RESTUpdateStrategy = s
			sub := ""
			if verb == "status" {
				part, sub = statusStrategyOf(gvk), verb
			}
			if part == nil || !l.has("old") {
				panic(badQuestion{errors.New("nothing to replace")})
			}
			ctx, old := prepareContext(gvk, sub), decodeInternal(l["old"])
			err := rest.BeforeUpdate(part, ctx, obj, old)
			judge(l, err, func() field.ErrorList { return rest.ValidateUpdate(ctx, obj, old, part) })
			l["status"] = withCausesOnce(l["status"])
			warnings = part.WarningsOnUpdate(ctx, obj, old)
		}
		warn(l, warnings)
	})
}
