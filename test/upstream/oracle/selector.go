package main

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	storagehelpers "k8s.io/component-helpers/storage/volume"
)

func text(err error) any {
	if err == nil {
		return nil
	}
	return err.Error()
}

func nodeSelector(l line) {
	if get[string](l, "kind") == "pv" {
		spec := get[struct{ NodeAffinity *v1.VolumeNodeAffinity }](l, "spec")
		pv := &v1.PersistentVolume{Spec: v1.PersistentVolumeSpec{NodeAffinity: spec.NodeAffinity}}
		err := storagehelpers.CheckNodeAffinity(pv, get[map[string]string](l, "node_labels"))
		l.set("match", err == nil)
		l.set("error", text(err))
		return
	}
	at := get[struct {
		Name   string
		Labels map[string]string
	}](l, "node")
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: at.Name, Labels: at.Labels}}
	spec := get[struct {
		NodeSelector map[string]string
		NodeAffinity *v1.NodeAffinity
	}](l, "spec")
	match, err := nodeaffinity.NewRequiredNodeAffinity(spec.NodeSelector,
		&v1.Affinity{NodeAffinity: spec.NodeAffinity}).Match(node)
	l.set("required_match", match)
	l.set("required_error", text(err))
	if spec.NodeAffinity != nil && len(spec.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
		preferred(l, node, spec.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func preferred(l line, node *v1.Node, terms []v1.PreferredSchedulingTerm) {
	l.set("preferred_score", nil)
	parsed, err := nodeaffinity.NewPreferredSchedulingTerms(terms)
	if err == nil {
		l.set("preferred_score", parsed.Score(node))
	}
	l.set("preferred_error", text(err))
}

func labelSelector(l line) {
	var selector labels.Selector
	var err error
	if get[string](l, "kind") == "string" {
		selector, err = labels.Parse(get[string](l, "selector"))
	} else {
		selector, err = metav1.LabelSelectorAsSelector(get[*metav1.LabelSelector](l, "selector"))
	}
	if err != nil {
		l.set("error", err.Error())
		return
	}
	l.set("match", selector.Matches(labels.Set(get[map[string]string](l, "labels"))))
	l.set("string", selector.String())
}
