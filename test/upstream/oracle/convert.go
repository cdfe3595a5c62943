package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
)

// The versions of one kind that are converted into each other.
var versionsOf = map[string][]string{
	"Event":                   {"v1", "events.k8s.io/v1"},
	"HorizontalPodAutoscaler": {"autoscaling/v1", "autoscaling/v2"},
	"PodDisruptionBudget":     {"policy/v1", "policy/v1beta1"},
}

// An object as it came in, and as it is in the version "to".
func convertAnswer(l line) {
	to, err := schema.ParseGroupVersion(get[string](l, "to"))
	if err != nil {
		panic(badQuestion{err})
	}
	text, err := convert(l["object"], to)
	if err != nil {
		panic(badQuestion{err})
	}
	l["converted"] = text
}

func convert(object []byte, to schema.GroupVersion) (json.RawMessage, error) {
	obj, _, err := legacyscheme.Codecs.UniversalDecoder().Decode(object, nil, nil)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(legacyscheme.Codecs.LegacyCodec(to), obj)
}
