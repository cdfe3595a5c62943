package main

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
)

// toldBeside is what strategies say beside their answers.
type toldBeside []string

func (t *toldBeside) AddWarning(_, text string) { *t = append(*t, text) }

// warningsAnswer says of what a server warns in a pod, or in what makes pods, that is new or replaces another.
func warningsAnswer(l line) {
	withGates(l, func() {
		gvk := gvkOf(l["new"])
		s, obj := strategyOf(gvk), decodeInternal(l["new"])
		if s == nil {
			panic(badQuestion{errors.New("no such kind")})
		}
		all := toldBeside{}
		ctx := warning.WithWarningRecorder(prepareContext(gvk, ""), &all)
		if l.has("old") {
			old := decodeInternal(l["old"])
			if isRefused(rest.BeforeUpdate(s, ctx, obj, old)) {
				all = append(all, s.WarningsOnUpdate(ctx, obj, old)...)
			}
		} else {
			nameObject(obj)
			if isRefused(beforeCreate(s, ctx, obj)) {
				all = append(all, s.WarningsOnCreate(ctx, obj)...)
			}
		}
		l.set("warnings", []string(all))
	})
}

// isRefused tells that the object breaks rules: then it was prepared, and nobody has asked for warnings yet.
func isRefused(err error) bool {
	if err != nil && !apierrors.IsInvalid(err) {
		panic(badQuestion{err})
	}
	return err != nil
}
