package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	_ "unsafe" // for linkname

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	kjson "sigs.k8s.io/json"
)

//go:linkname interpretStrategicMergePatchError k8s.io/apiserver/pkg/endpoints/handlers.interpretStrategicMergePatchError
func interpretStrategicMergePatchError(err error) error

// The option that kube-apiserver is started with (k8s.io/apiserver/pkg/server, func NewConfig).
func init() { jsonpatch.AccumulatedCopySizeLimit = 3 << 20 }

const mostOperations = 10000 // as k8s.io/apiserver/pkg/endpoints/handlers has it

// What a patch makes of a stored object, before that is decoded again: the tree, or why there is none.
func patchAnswer(l line) {
	defer func() {
		if e := recover(); e != nil {
			if bad, ok := e.(badQuestion); ok {
				panic(bad)
			}
			failPatch(l, fmt.Errorf("This request caused apiserver to panic. Look in the logs for details."), nil)
		}
	}()
	text := []byte(l["patch"])
	if l.has("text") {
		text = []byte(get[string](l, "text"))
	}
	if !json.Valid(text) {
		panic(badQuestion{fmt.Errorf("not JSON")})
	}
	how := map[string]func(l line, text []byte, strict bool) (json.RawMessage, []error, error, error){
		"json": applyJSON, "merge": applyMerge, "strategic": applyStrategic}[get[string](l, "type")]
	if how == nil {
		panic(badQuestion{fmt.Errorf("no such patch")})
	}
	patched, faults, err, cause := how(l, text, get[bool](l, "validated"))
	if err != nil {
		failPatch(l, err, cause)
		return
	}
	l.set("patched", tree(patched))
	texts := []string{}
	for _, fault := range faults {
		texts = append(texts, fault.Error())
	}
	l.set("faults", texts)
}

func failPatch(l line, err, cause error) {
	s := responsewriters.ErrorToAPIStatus(err)
	delete(l, "patched")
	l.set("failure", map[string]any{"code": s.Code, "message": s.Message})
	if cause == nil {
		cause = err
	}
	l.set("cause", cause.Error())
}

func unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}

// ownTypes gives an error the package of the handler's type, which is private; ours has the same name.
func ownTypes(text string) string { return strings.ReplaceAll(text, "main.", "handlers.") }

// The handler's own type has the same name, which its errors tell.
type jsonPatchOp struct {
	Op    string      `json:"op"`
	Path  string      `json:"path"`
	From  string      `json:"from"`
	Value interface{} `json:"value"`
}

func applyJSON(l line, text []byte, strict bool) (patched json.RawMessage, faults []error, err, cause error) {
	if strict {
		var ops []jsonPatchOp
		faults, err = kjson.UnmarshalStrict(text, &ops)
		if err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", ownTypes(err.Error()))), nil
		}
		for i, e := range faults {
			faults[i] = fmt.Errorf("json patch %v", e)
		}
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error()), nil
	}
	if len(patch) > mostOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", mostOperations, len(patch))), nil
	}
	patched, err = patch.Apply(l["object"])
	if err != nil {
		return nil, nil, unprocessable(err), err
	}
	return patched, faults, nil, nil
}

func applyMerge(l line, text []byte, strict bool) (patched json.RawMessage, faults []error, err, cause error) {
	if strict {
		v := map[string]any{}
		if faults, err = kjson.UnmarshalStrict(text, &v); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err)), nil
		}
	}
	patched, err = jsonpatch.MergePatch(l["object"], text)
	if err == jsonpatch.ErrBadJSONPatch {
		err = apierrors.NewBadRequest(err.Error())
	}
	return patched, faults, err, nil
}

func applyStrategic(l line, text []byte, strict bool) (patched json.RawMessage, faults []error, err, cause error) {
	obj := versionedObject(l)
	original, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		panic(badQuestion{err})
	}
	patch := map[string]any{}
	if strict {
		faults, err = kjson.UnmarshalStrict(text, &patch)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(text, &patch)
	}
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error()), nil
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(original, patch, obj)
	if err != nil {
		return nil, nil, interpretStrategicMergePatchError(err), err
	}
	l.set("spent", fmt.Sprintf("%+v", patch))
	return encode(merged), faults, nil, nil
}

// versionedObject decodes the line's object, which must be as a server writes it.
func versionedObject(l line) runtime.Object {
	gvk := schema.FromAPIVersionAndKind(get[string](l, "apiVersion"), get[string](l, "kind"))
	obj, err := decodeScheme.New(gvk)
	if err != nil {
		panic(badQuestion{err})
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(l["object"], obj); err != nil {
		panic(badQuestion{err})
	}
	if string(encode(tree(encodeVersioned(obj)))) != string(encode(tree(l["object"]))) {
		panic(badQuestion{fmt.Errorf("not as it is stored")})
	}
	return obj
}
