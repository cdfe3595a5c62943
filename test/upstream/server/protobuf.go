package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

const protobufType = "application/vnd.kubernetes.protobuf"

var (
	proto    = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	rawProto = protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme)
)

func init() {
	metav1.AddMetaToScheme(scheme.Scheme)
	apidiscovery.AddToScheme(scheme.Scheme)
}

// toProtobuf gives a body as protobuf, in base64; "" when upstream's types cannot hold it.
func toProtobuf(body any) string {
	text, err := json.Marshal(body)
	if err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(packed(string(text))))
}

// packed gives a body in JSON as protobuf; "" when upstream's types cannot hold it.
func packed(body string) string {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(body), nil, nil)
	if err != nil {
		return ""
	}
	var out bytes.Buffer
	if err := proto.Encode(object, &out); err != nil {
		return ""
	}
	return out.String()
}

func fromProtobuf(text []byte) (any, error) {
	object, kind, err := proto.Decode(text, nil, nil)
	if err != nil {
		return string(text), nil
	}
	if object.GetObjectKind().GroupVersionKind().Empty() {
		object.GetObjectKind().SetGroupVersionKind(*kind)
	}
	return asJSON(object)
}

func asJSON(object runtime.Object) (any, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return readBody("application/json", encoded)
}

// protobufEvents reads frames: four bytes of length, and an event.
func protobufEvents(r io.Reader) func() (any, error) {
	return func() (any, error) {
		var size [4]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return nil, err
		}
		frame := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(r, frame); err != nil {
			return nil, err
		}
		var event metav1.WatchEvent
		if _, _, err := rawProto.Decode(frame, nil, &event); err != nil {
			return nil, err
		}
		object, err := fromProtobuf(event.Object.Raw)
		return map[string]any{"type": event.Type, "object": object}, err
	}
}
