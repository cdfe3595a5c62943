package main

import "strings"

// What a server says about itself. The documents of OpenAPI are compared by code and headers only: all of them are
// held against upstream's elsewhere, and descriptions are everybody's own.
func makeDiscovery(m *maker) {
	for range 2 + m.IntN(4) {
		path := pick(m, documentPaths)
		if m.chance(50) {
			path = pick(m, kinds).prefix
			if m.chance(30) {
				path = path[:strings.LastIndex(path, "/")]
			}
		}
		s := step{Send: pick(m, []string{"GET", "GET", "GET", "GET", "GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) + " " + path, Accept: pick(m, documentForms)}
		s.Send += pick(m, []string{"", "", "", "", "/", "?pretty=1", "?timeout=5s", "?profile=nopeer"})
		s.As = pick(m, [][]string{nil, nil, nil, {"joe"}, {"system:anonymous"}, {"system:anonymous", "system:unauthenticated"}})
		m.add(s)
	}
}

var documentPaths = []string{"/api", "/apis", "/api", "/apis", "/version", "/healthz", "/livez", "/readyz", "/livez/ping", "/readyz/ping", "/healthz/none", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1",
	"/openapi/v3/apis/none/v1", "/.well-known/openid-configuration", "/openid/v1/jwks", "/apis/none", "/apis/apps/v9", "/api/v9", "/none", "/swagger.json", "/swaggerapi", "/apis/apps/v1beta1", "/apis/extensions/v1beta1", "/ui", "/favicon.ico"}

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

var documentForms = []string{"", "", "application/json", protobufType, "application/yaml", "text/html", "*/*", aggregatedType, aggregatedType + ",application/json", protobufType + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json", "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList", tableType, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/cbor"}
