package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/framer"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// protoAnswer reads a body in protobuf, and writes what it found as JSON and as protobuf again.
func protoAnswer(l line) {
	body := get[[]byte](l, "body")
	if len(body) > 1<<20 {
		panic(badQuestion{fmt.Errorf("too long")})
	}
	text, again, err := []byte(nil), []byte(nil), error(nil)
	if get[string](l, "form") == "event" {
		text, again, err = readEvent(body)
	} else {
		text, again, err = readBody(body)
	}
	if err != nil {
		l.set("refused", true)
		return
	}
	l["json"] = text
	l.set("again", again)
}

func readBody(body []byte) (text, again []byte, err error) {
	s := protobuf.NewSerializer(decodeScheme, decodeScheme)
	obj, _, err := s.Decode(body, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	if !sayable(reflect.ValueOf(obj)) {
		return nil, nil, fmt.Errorf("not to be said in JSON")
	}
	if text, err = json.Marshal(obj); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	err = s.Encode(obj, &b)
	return text, b.Bytes(), err
}

func readEvent(frame []byte) (text, again []byte, err error) {
	event := &metav1.WatchEvent{}
	if len(frame) < 4 {
		return nil, nil, fmt.Errorf("no frame")
	}
	if err = event.Unmarshal(frame[4:]); err != nil {
		return nil, nil, err
	}
	text, body, err := readBody(event.Object.Raw)
	if err != nil {
		return nil, nil, err
	}
	text = encode(map[string]any{"type": event.Type, "object": json.RawMessage(text)})
	return text, frameOf(event.Type, body), nil
}

// frameOf is an event as a server sends it: in a frame, and without an envelope of its own.
func frameOf(kind string, body []byte) []byte {
	var b bytes.Buffer
	event := &metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: body}}
	raw := protobuf.NewRawSerializer(decodeScheme, decodeScheme)
	if err := raw.Encode(event, framer.NewLengthDelimitedFrameWriter(&b)); err != nil {
		panic(badQuestion{err})
	}
	return b.Bytes()
}

var (
	timeType   = reflect.TypeFor[metav1.Time]()
	microType  = reflect.TypeFor[metav1.MicroTime]()
	intstrType = reflect.TypeFor[intstr.IntOrString]()
	rawTypes   = []reflect.Type{reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[metav1.FieldsV1](),
		reflect.TypeFor[apiextensionsv1.JSON]()}
)

// sayable makes pointers to nothing nil, which Berth does not tell apart, and tells whether JSON has a way to say the rest.
func sayable(v reflect.Value) bool {
	switch v.Type() {
	case timeType:
		return inYears(v.Interface().(metav1.Time).Time)
	case microType:
		return inYears(v.Interface().(metav1.MicroTime).Time)
	case intstrType:
		return v.Interface().(intstr.IntOrString).Type <= intstr.String && v.Interface().(intstr.IntOrString).Type >= 0
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && isNothing(v.Elem()) && v.CanSet() {
			v.SetZero()
		}
		return v.IsNil() || sayable(v.Elem())
	case reflect.Struct:
		for _, t := range rawTypes {
			if t == v.Type() {
				return plainRaw(v.FieldByName("Raw"))
			}
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !sayable(v.Field(i)) {
				return false
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if !sayable(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(it.Value())
			if !sayable(value) {
				return false
			}
		}
	}
	return true
}

func inYears(t time.Time) bool { return t.UTC().Year() >= 1 && t.UTC().Year() <= 9999 }

func isNothing(v reflect.Value) bool {
	switch v.Type() {
	case timeType:
		return v.Interface().(metav1.Time).Time.IsZero()
	case microType:
		return v.Interface().(metav1.MicroTime).Time.IsZero()
	}
	for _, t := range rawTypes {
		if t == v.Type() {
			raw := v.FieldByName("Raw").Bytes()
			return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null"
		}
	}
	return false
}

// plainRaw makes bytes that are there and empty nil.
func plainRaw(raw reflect.Value) bool {
	if raw.Len() == 0 {
		raw.SetZero()
		return true
	}
	return json.Valid(raw.Bytes()) && utf8.Valid(raw.Bytes())
}
