package main

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// generateProto makes an object of any kind, of its Go type, and of it a body as upstream writes it, or one that is
// bent here and there.
func generateProto(r *rand.Rand) line {
	l := line{}
	gvk := pick(r, kindsOfRows())
	form := pick(r, []string{"", "", "", "", "list", "event"})
	switch {
	case form == "list":
		gvk.Kind += "List"
	case chance(r, 3):
		gvk = schema.GroupVersionKind{Version: "v1", Kind: pick(r, []string{"Status", "List"})}
	case chance(r, 2):
		gvk.Kind = "DeleteOptions"
	}
	if !decodeScheme.Recognizes(gvk) {
		return generateProto(r)
	}
	body := envelope(r, gvk)
	if chance(r, 40) {
		body = bendBody(r, body, gvk.Kind)
		l.set("bent", true)
	}
	if form == "event" {
		body = frameOf(pick(r, []string{"ADDED", "MODIFIED", "BOOKMARK", ""}), body)
	}
	l.set("body", body)
	l.set("form", form)
	return l
}

func envelope(r *rand.Rand, gvk schema.GroupVersionKind) []byte {
	obj, err := decodeScheme.New(gvk)
	if err != nil {
		panic(err)
	}
	fill(r, reflect.ValueOf(obj).Elem(), 9, 20+r.IntN(60))
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	var b bytes.Buffer
	if err := protobuf.NewSerializer(decodeScheme, decodeScheme).Encode(obj, &b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

var fillers = map[reflect.Type]func(r *rand.Rand) any{
	reflect.TypeFor[resource.Quantity](): func(r *rand.Rand) any {
		q, _ := resource.ParseQuantity(randomQuantity(r))
		return q
	},
	reflect.TypeFor[intstr.IntOrString](): func(r *rand.Rand) any {
		return pick(r, []intstr.IntOrString{intstr.FromInt32(r.Int32()), intstr.FromString("25%"), {}, {Type: 1, IntVal: -3, StrVal: "both"}})
	},
	timeType:    func(r *rand.Rand) any { return metav1.Time{Time: someTime(r)} },
	microType:   func(r *rand.Rand) any { return metav1.MicroTime{Time: someTime(r)} },
	rawTypes[0]: func(r *rand.Rand) any { return runtime.RawExtension{Raw: someRaw(r)} },
	rawTypes[1]: func(r *rand.Rand) any { return metav1.FieldsV1{Raw: someRaw(r)} },
}

func someTime(r *rand.Rand) time.Time {
	return pick(r, []time.Time{{}, time.Unix(0, 0), time.Unix(r.Int64N(1<<33), r.Int64N(1e9)), time.Unix(-r.Int64N(1<<33), r.Int64N(1e9))})
}

func someRaw(r *rand.Rand) []byte {
	return []byte(pick(r, []string{`{"f:metadata":{".":{},"k:{\"a\":\"<b>\"}":{}}}`, `{}`, `[1,2.5,-0.125,18446744073709551615,null]`, `"x"`, `7`, `true`}))
}

// fill sets a value of any type; fields of structs with a probability.
func fill(r *rand.Rand, v reflect.Value, depth, percent int) {
	if make, ok := fillers[v.Type()]; ok {
		v.Set(reflect.ValueOf(make(r)))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), depth, percent)
	case reflect.Struct:
		fillStruct(r, v, depth, percent)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			bytes := []byte(pick(r, []string{"", "a", "\x00\xff", "bytes"}))
			if v.Type() != reflect.TypeFor[[]byte]() || slices.Contains(rawTypes, v.Type()) {
				bytes = someRaw(r)
			}
			v.SetBytes(bytes)
			return
		}
		n := r.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i), depth-1, percent)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString(pick(r, []string{near(r, keys), pick(r, keys), ""}))
			fill(r, value, depth-1, percent)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(pick(r, []string{"", pick(r, values), pick(r, keys), "True", "ä<&>\u2028", "a\xffb"}))
	case reflect.Bool:
		v.SetBool(chance(r, 50))
	case reflect.Int32, reflect.Int64:
		n := pick(r, []int64{0, 1, -1, 127, 128, 1 << 31, -1 << 31, 1<<63 - 1, r.Int64()})
		v.SetInt(n >> (64 - v.Type().Bits()))
	case reflect.Float64:
		v.SetFloat(pick(r, []float64{0, 1.5, -1e300, 100}))
	}
}

func fillStruct(r *rand.Rand, v reflect.Value, depth, percent int) {
	isRaw := slices.Contains(rawTypes, v.Type())
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || f.Name == "TypeMeta" {
			continue
		}
		if isRaw {
			v.Field(i).SetBytes(someRaw(r))
		} else if depth > 0 && chance(r, percent) {
			fill(r, v.Field(i), depth-1, percent)
		}
	}
}

// bendBody bends the message, mostly, so that there is an envelope to open. Options to delete may be of any version here.
func bendBody(r *rand.Rand, body []byte, kind string) []byte {
	const prefix = 4
	unknown := runtime.Unknown{}
	if chance(r, 10) && kind != "DeleteOptions" {
		return bendBytes(r, body)
	}
	if err := unknown.Unmarshal(body[prefix:]); err != nil {
		panic(err)
	}
	unknown.Raw = bendBytes(r, unknown.Raw)
	bent, err := unknown.Marshal()
	if err != nil {
		panic(err)
	}
	return append(slices.Clone(body[:prefix]), bent...)
}

func bendBytes(r *rand.Rand, body []byte) []byte {
	body = slices.Clone(body)
	for range 1 + r.IntN(3) {
		if len(body) == 0 {
			break
		}
		at := r.IntN(len(body))
		to := min(len(body), at+1+r.IntN(8))
		switch r.IntN(6) {
		case 0:
			body[at] ^= 1 << r.IntN(8)
		case 1:
			body[at] = byte(r.IntN(256))
		case 2:
			body = slices.Delete(body, at, to)
		case 3:
			body = slices.Insert(body, at, body[at:to]...)
		case 4:
			body = slices.Insert(body, at, byte(r.IntN(256)))
		case 5:
			body[at] += byte(r.IntN(3)) - 1
		}
	}
	return body
}
