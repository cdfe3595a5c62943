package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

var (
	// Berth's alone: fields of proposals, and the stand-in for kinds without rows.
	oursAlone = []string{"toleration.expression", "unknown"}
	// Upstream has the same fields in a second struct.
	sameFields = map[string]string{"v1.EphemeralContainerCommon": "v1.Container"}
	// Several versions share the rows, and do not agree about server-side apply.
	appliedByVersion = []string{"variable", "cross_version_object_reference"}
	// What is no part of a kind: the value of an annotation.
	partsOfNoKind = map[string]reflect.Type{"avoid_pods": reflect.TypeFor[corev1.AvoidPods]()}
)

// A row is a field of a type, as Berth says it and as upstream does. Columns are compared by name.
type row struct {
	name   string // JSON, or the Go name of what is inlined
	inside string // Berth's name of the type of a struct field
	goType reflect.Type
	column map[string]string
}

// In the order in which berth_vectors writes them, behind the type and the JSON name.
var rowColumns = []string{"kind", "", "Go type", "protobuf number", "omission", "patch strategy", "merge key",
	"list type", "list map keys", "map type", "gate"}

// Those that server-side apply goes by.
var applyColumns = []string{"list type", "list map keys", "map type"}

// No descriptor says behind which gate a field stands; the areas of validation do.
const gateColumn = "gate"

type rowType struct {
	name, goName, mapType string
	rows                  []row
}

type rowCheck struct {
	types   map[string]*rowType
	order   []*rowType
	goTypes map[string][]reflect.Type // by Berth's name, as far as the kinds lead there
	apply   *smd.Schema               // what server-side apply goes by
	found   []string
	fields  int
}

// rows holds the schema's rows against the Go types of the API: names, order, kinds, protobuf numbers and patch
// strategies are in their tags; what server-side apply goes by is in the schema that client-go has for it.
func rows(program string) error {
	out, err := exec.Command(program, "--rows").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	typed, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(pod)
	if err != nil {
		return err
	}
	c := &rowCheck{types: map[string]*rowType{}, goTypes: map[string][]reflect.Type{}, apply: typed.Schema()}
	kinds, err := c.read(out)
	if err != nil {
		return err
	}
	for _, k := range kinds {
		if k[1] == "policy/v1beta1" {
			continue // served to old clients, by the rows of v1
		}
		object, err := decodeScheme.New(schema.FromAPIVersionAndKind(k[1], k[2]))
		if k[2] == "Status" || k[2] == "List" {
			object, err = scheme.Scheme.New(schema.FromAPIVersionAndKind(k[1], k[2]))
		}
		if err != nil {
			return err
		}
		c.compareType(k[3], reflect.TypeOf(object).Elem(), nil)
	}
	for name, goType := range partsOfNoKind {
		c.compareType(name, goType, nil)
	}
	for _, t := range c.order {
		if c.goTypes[t.name] == nil && !slices.Contains(oursAlone, t.name) {
			c.complain(t.name, "", "no kind has this type")
		}
	}
	for _, text := range c.found {
		fmt.Println(text)
	}
	fmt.Printf("rows: %d kinds, %d types, %d fields, %d differ\n", len(kinds), len(c.goTypes), c.fields, len(c.found))
	if len(c.found) > 0 {
		return fmt.Errorf("%d rows differ", len(c.found))
	}
	return nil
}

func (c *rowCheck) read(out []byte) (kinds [][]string, err error) {
	err = eachLine(bytes.NewReader(out), func(text []byte) error {
		f := strings.Split(string(text), "\t")
		switch {
		case f[0] == "kind" && len(f) == 4:
			kinds = append(kinds, f)
		case f[0] == "type" && len(f) == 4:
			t := &rowType{name: f[1], goName: f[2], mapType: f[3]}
			c.types[t.name] = t
			c.order = append(c.order, t)
		case f[0] == "row" && len(f) == 3+len(rowColumns) && c.types[f[1]] != nil:
			r := row{name: f[2], inside: f[4], column: map[string]string{}}
			for i, name := range rowColumns {
				r.column[name] = f[3+i]
			}
			if r.name == "" {
				r.name = r.column["Go type"]
			}
			c.types[f[1]].rows = append(c.types[f[1]].rows, r)
		default:
			return fmt.Errorf("not a row: %s", text)
		}
		return nil
	})
	return kinds, err
}

func (c *rowCheck) complain(typeName, field, format string, args ...any) {
	where := strings.TrimSuffix(typeName+"."+field, ".")
	c.found = append(c.found, where+": "+fmt.Sprintf(format, args...))
}

// compareType compares a type once. What is inlined has no definition of its own: outer is that of the struct around it.
func (c *rowCheck) compareType(name string, goType reflect.Type, outer *smd.Map) {
	if slices.Contains(c.goTypes[name], goType) {
		return
	}
	c.goTypes[name] = append(c.goTypes[name], goType)
	t := c.types[name]
	if !isSameName(t.goName, goType.String()) && t.goName != sameFields[goType.String()] {
		c.complain(name, "", "Go type %q, upstream's is %q", t.goName, goType)
	}
	definition := outer
	if definition == nil {
		definition = c.definition(goType)
		mapType := mapTypes[definition.ElementRelationship]
		if t.mapType != mapType && !slices.Contains(appliedByVersion, name) {
			c.complain(name, "", "map type %q, upstream's is %q", t.mapType, mapType)
		}
	}
	c.compareRows(t, definition, upstreamRows(goType, definition))
}

// What several versions share has no version in its name.
var versionInName = regexp.MustCompile(`\bv\d+(?:(?:alpha|beta)\d+)?\.`)

func isSameName(ours, upstream string) bool {
	if !strings.HasPrefix(ours, ".") && !strings.Contains(ours, "].") && !strings.Contains(ours, "[.") {
		return ours == upstream
	}
	return versionInName.ReplaceAllString(ours, ".") == versionInName.ReplaceAllString(upstream, ".")
}

func (c *rowCheck) compareRows(t *rowType, definition *smd.Map, upstream []row) {
	at := -1
	for _, r := range t.rows {
		if slices.Contains(oursAlone, t.name+"."+r.name) {
			continue
		}
		i := slices.IndexFunc(upstream, func(u row) bool { return u.name == r.name })
		if i < 0 {
			c.complain(t.name, r.name, "upstream has no such field")
			continue
		}
		if i < at {
			c.complain(t.name, r.name, "upstream writes it before %s", upstream[at].name)
		}
		at = i
		c.compareRow(t, definition, r, upstream[i])
	}
	for _, u := range upstream {
		if !slices.ContainsFunc(t.rows, func(r row) bool { return r.name == u.name }) {
			c.complain(t.name, u.name, "upstream has this field: %v", u.column)
		}
	}
}

func (c *rowCheck) compareRow(t *rowType, definition *smd.Map, r, u row) {
	c.fields++
	if slices.Contains(appliedByVersion, r.inside) && c.types[r.inside].mapType == "" && u.goType != nil {
		// The field says for its version what the shared rows cannot.
		u.column["map type"] = mapTypes[c.definition(u.goType).ElementRelationship]
	}
	for _, name := range rowColumns {
		if slices.Contains(applyColumns, name) && len(definition.Fields) == 0 {
			continue // upstream has no schema for it: it is another server's, or never applied
		}
		if name != "" && name != gateColumn && !isSameName(r.column[name], u.column[name]) {
			c.complain(t.name, r.name, "%s %q, upstream's is %q", name, r.column[name], u.column[name])
		}
	}
	switch {
	case r.inside != "" && u.goType != nil && u.column["kind"] == "INLINE":
		c.compareType(r.inside, u.goType, definition)
	case r.inside != "" && u.goType != nil:
		c.compareType(r.inside, u.goType, nil)
	case r.inside != "" || u.goType != nil:
		c.complain(t.name, r.name, "rows inside %q, upstream's type is %v", r.inside, u.goType)
	}
}

// upstreamRows are the rows that a struct of the API would have.
func upstreamRows(goType reflect.Type, definition *smd.Map) (found []row) {
	for i := range goType.NumField() {
		f := goType.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" && !f.Anonymous { // a bare type reads and writes itself
			name = strings.ToLower(f.Name[:1]) + f.Name[1:]
		}
		field, _ := definition.FindField(name)
		kind, typeName, inside := rowKind(f.Type)
		r := row{name: name, goType: inside, column: map[string]string{
			"kind":            kind,
			"Go type":         typeName,
			"protobuf number": protobufNumber(f.Tag.Get("protobuf")),
			"omission":        options,
			"patch strategy":  f.Tag.Get("patchStrategy"),
			"merge key":       f.Tag.Get("patchMergeKey"),
			"list type":       listType(field.Type),
			"list map keys":   listKeys(field.Type),
			"map type":        mapType(field.Type),
		}}
		if f.Anonymous && name == "" {
			r.name, r.column["kind"], r.column["Go type"], r.column["omission"] = f.Name, "INLINE", f.Name, ""
		}
		found = append(found, r)
	}
	return found
}

// The kinds of fields that are not named after their Go type alone.
var rowKinds = map[string]string{
	"string":                       "STR",
	"bool":                         "BOOL",
	"int32":                        "I32",
	"int64":                        "I64",
	"v1.Time":                      "TIME",
	"v1.MicroTime":                 "MICROTIME",
	"resource.Quantity":            "QUANTITY",
	"intstr.IntOrString":           "INTSTR",
	"runtime.RawExtension":         "RAW",
	"v1.FieldsV1":                  "RAW",
	"v1.JSON":                      "RAW",
	"float64":                      "F64",
	"map[string]string":            "MSTR",
	"map[string]v1.Time":           "MTIME",
	"map[string]resource.Quantity": "MQUANTITY",
}

// rowKind names the kind of a field and its named type, and tells what struct is inside, if there are rows in it.
func rowKind(t reflect.Type) (kind, name string, inside reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer:
		kind, name, inside = rowKind(t.Elem())
		if kind == "OBJ" {
			return "PTR", "", inside
		}
		return "P" + kind, name, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "BYTES", "", nil
		}
		kind, name, inside = rowKind(t.Elem())
		switch kind {
		case "OBJ":
			return "LIST", "", inside
		case "RAW":
			if t.Elem().String() == "runtime.RawExtension" { // of a List
				return "LRAW", "runtime.RawExtension", nil
			}
		}
		return "L" + kind, name, nil
	case reflect.Map:
		kind, _, inside = rowKind(t.Elem())
		switch kind {
		case "OBJ":
			return "MOBJ", t.String(), inside
		case "BYTES":
			return "MBYTES", "", nil
		case "LSTR":
			return "MLSTR", t.String(), nil
		}
		plain := "map[string]" + plainName(t.Elem())
		if t.String() != plain {
			name = t.String()
		}
		return orUnknown(rowKinds[plain], plain), name, nil
	case reflect.Struct:
		if kind, ok := rowKinds[t.String()]; ok {
			return kind, "", nil
		}
		return "OBJ", "", t
	}
	return orUnknown(rowKinds[t.Kind().String()], t.String()), namedType(t), nil
}

func orUnknown(kind, goName string) string {
	if kind == "" {
		return "no kind for " + goName
	}
	return kind
}

func plainName(t reflect.Type) string {
	if t.Kind() == reflect.String {
		return "string"
	}
	return t.String()
}

func namedType(t reflect.Type) string {
	if t.PkgPath() == "" {
		return ""
	}
	return t.String()
}

// protobufNumber is the second part of a tag such as "varint,3,opt,name=replicas".
func protobufNumber(tag string) string {
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return "0"
	}
	if _, err := strconv.Atoi(parts[1]); err != nil {
		return tag
	}
	return parts[1]
}

var mapTypes = map[smd.ElementRelationship]string{smd.Atomic: "atomic"}

// definition is what server-side apply knows about a struct: nothing if it is never applied, as Status is not.
func (c *rowCheck) definition(t reflect.Type) *smd.Map {
	if named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		if found, ok := c.apply.FindNamedType(named.OpenAPIModelName()); ok && found.Map != nil {
			return found.Map
		}
	}
	return &smd.Map{}
}

func listType(ref smd.TypeRef) string {
	list := ref.Inlined.List
	switch {
	case list == nil || list.ElementRelationship != smd.Associative:
		return "atomic"
	case len(list.Keys) == 0:
		return "set"
	}
	return "map"
}

func listKeys(ref smd.TypeRef) string {
	if ref.Inlined.List == nil {
		return ""
	}
	return strings.Join(ref.Inlined.List.Keys, ",")
}

// mapType is what a field says about the struct or map in it, which may differ from what its type says.
func mapType(ref smd.TypeRef) string {
	switch {
	case ref.ElementRelationship != nil && *ref.ElementRelationship == smd.Separable:
		return "granular"
	case ref.ElementRelationship != nil:
		return mapTypes[*ref.ElementRelationship]
	case ref.Inlined.Map != nil:
		return mapTypes[ref.Inlined.Map.ElementRelationship]
	}
	return ""
}
