package main

// Which form an answer has, and which forms a body may have.
func makeNegotiation(m *maker) {
	k := m.kind(m.chance(80))
	o := m.vary(k, k.withName("a"))
	switch m.IntN(3) {
	case 0:
		m.add(step{Send: "POST " + k.collection(), Type: pick(m, []string{"application/yaml", "application/json", "text/plain", "application/cbor", "application/json; charset=utf-8", "application/merge-patch+json"}), Body: o, Accept: pick(m, forms)})
	default:
		m.add(step{Send: "POST " + k.collection(), Body: o, Accept: pick(m, forms)})
	}
	for range 1 + m.IntN(4) {
		accept := pick(m, forms)
		query := m.query(parameter{"includeObject", 15, []string{"None", "Object", "Metadata", "Odd"}})
		switch m.IntN(4) {
		case 0, 1:
			m.add(step{Send: "GET " + k.item("a") + query, Accept: accept})
		case 2:
			send := "GET " + k.collection() + query
			if k.cluster {
				send = "GET " + k.collection() + "?fieldSelector=metadata.name%3D" + k.name("a")
			}
			m.add(step{Send: send, Accept: accept})
		case 3:
			m.add(step{Send: "PATCH " + k.item("a"), Type: "application/merge-patch+json", Body: m.vary(k, map[string]any{}), Accept: accept})
		}
	}
}

var forms = []string{"", "*/*", "application/json", protobufType, "application/yaml", "text/html", "application/*", tableType, partialType, partialsType,
	"application/json;as=Table;v=v1beta1;g=meta.k8s.io", "application/json;as=Table;v=v2;g=meta.k8s.io", protobufType + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
	protobufType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json", protobufType + ";as=Table;g=meta.k8s.io;v=v1", "application/json;q=0.5,application/yaml;q=0.9",
	"application/json;as=Odd;v=v1;g=meta.k8s.io", "application/cbor", "application/json;pretty=1", "text/html, */*;q=0.1", "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io"}
