package main

// Objects come, are read, replaced and go, with all options of a write.
func makeCRUD(m *maker) {
	k := m.kind(false)
	first := m.vary(k, k.withName("a"))
	if m.chance(10) {
		delete(first["metadata"].(map[string]any), "name")
		first = merged(first, object(`{"metadata":{"generateName":"made-"}}`)).(map[string]any)
	}
	made := m.add(m.write(k, "POST", k.collection(), first))
	for range 1 + m.IntN(5) {
		switch m.IntN(8) {
		case 0:
			m.add(step{Send: "GET " + k.item("a") + m.query(parameter{"resourceVersion", 20, []string{"0", "1", "x"}})})
		case 1:
			m.add(m.write(k, "POST", k.collection(), m.vary(k, k.withName("a"))))
		case 2, 3:
			m.add(step{Send: "PUT " + k.item("a") + m.query(writeParameters...), From: made, Body: m.vary(k, map[string]any{})})
		case 4:
			m.add(m.write(k, "PUT", k.item("a"), m.vary(k, k.withName("a"))))
		case 5:
			o := m.vary(k, k.withName(pick(m, []string{"a", "b", ""})))
			m.add(m.write(k, "PUT", k.item(pick(m, []string{"a", "b"})), o))
		case 6:
			m.add(step{Send: "DELETE " + k.item("a")})
		case 7:
			made = m.add(step{Send: "GET " + k.item("a")})
		}
	}
	m.add(step{Send: "GET " + k.item("a")})
}

// write is a request with a body as JSON or protobuf.
func (m *maker) write(k *kind, method, path string, body map[string]any) step {
	s := step{Send: method + " " + path + m.query(writeParameters...), Body: body}
	if m.chance(15) {
		if text := toProtobuf(body); text != "" {
			return step{Send: s.Send, Type: protobufType, Base64: text}
		}
	}
	return s
}
