package main

import "strings"

func long(n int) string { return strings.Repeat("n", n) }

// Values that mean something to rules, by "Kind.member" or by the member alone.
var ruleWords = map[string][]any{
	"name":      {"a", "b", "a.b", "A", "a b", "", "example.com/a", long(63), long(64)},
	"namespace": {"default", "kube-system", "other", "", "A"},

	"Event.reason":              {"r", "", long(128), long(129)},
	"Event.action":              {"a", "", long(128), long(129)},
	"Event.reportingInstance":   {"i", "", long(128), long(129)},
	"Event.message":             {"m", "", long(1024), long(1025)},
	"Event.note":                {"m", "", long(1024), long(1025)},
	"Event.type":                {"Normal", "Warning", "Odd", ""},
	"Event.eventTime":           {nil, "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000001Z"},
	"Event.count":               {0, 1, 2, -1},
	"Event.reportingController": {"x", "a b", "", "example.com/x", "a/b/c"},
	"Event.reportingComponent":  {"x", "a b", "", "example.com/x", "a/b/c"},

	"provisioner":                         {"a", "A/B", "a b", "", "example.com/x", "/"},
	"driverName":                          {"a", "A/B", "a b", "", "example.com/x", "/"},
	"parameters":                          {object{"a": "b"}, object{}, object{"": "b"}, object{"a": long(256<<10 - 1)}, object{"a": long(256 << 10)}},
	"reclaimPolicy":                       {"Delete", "Retain", "Recycle", "", nil},
	"volumeBindingMode":                   {"Immediate", "WaitForFirstConsumer", "Odd", "", nil},
	"StorageClass.key":                    {"a", "b", "a b", ""},
	"StorageClass.values":                 {[]any{"x"}, []any{"y", "x"}, []any{"x", "y"}, []any{"x", "x"}, []any{}},
	"CSINode.name":                        {"d.example.com", "E", "e", "a_b", "", long(63), long(64), "d.Example.com"},
	"nodeID":                              {"n", "", long(256), long(257)},
	"topologyKeys":                        {[]any{"a", "b"}, []any{"a", "a"}, []any{""}, []any{"a b"}, []any{}},
	"CSINode.count":                       {0, -1, 5},
	"CSINode.status":                      {"StorageDegraded", "StorageUnreachable", "Odd", ""},
	"CSINode.reason":                      {"Bad", "", "a b", "x:", long(256), long(257)},
	"accessMode":                          {"ReadWriteOnce", "ReadOnlyMany", "Odd", ""},
	"volumeMode":                          {"Filesystem", "Block", "Odd", ""},
	"CSINode.message":                     {"m", "", long(1024), long(1025)},
	"volumeLifecycleModes":                {[]any{"Persistent"}, []any{"Ephemeral", "Persistent"}, []any{"Odd"}, []any{}},
	"fsGroupPolicy":                       {"File", "None", "ReadWriteOnceWithFSType", "Odd", ""},
	"audience":                            {"a", "b", ""},
	"CSIDriver.expirationSeconds":         {600, 599, 1 << 32, 1<<32 + 1, 0},
	"tokenRequests":                       {[]any{}, []any{object{"audience": "a"}}, []any{object{"audience": "a"}, object{"audience": "a", "expirationSeconds": 1}}},
	"nodeAllocatableUpdatePeriodSeconds":  {10, 9, 0},
	"storageClassName":                    {"c", "", "C", "a.b"},
	"capacity":                            {"1Gi", "-1", "0", "1m"},
	"attacher":                            {"d.example.com", "D.Example.com", "", "a_b", long(63), long(64), long(254), "d."},
	"nodeName":                            {"n", "", "N"},
	"persistentVolumeName":                {"v", "", "V", "a.b"},
	"VolumeAttachment.message":            {"m", "", long(1024), long(1025)},
	"errorCode":                           {0, -1, 13},
	"VolumeAttachment.inlineVolumeSpec":   {object{}, object{"accessModes": []any{"ReadWriteOnce"}, "csi": object{"driver": "d", "volumeHandle": "h"}}, object{"accessModes": []any{"Odd"}, "nfs": object{"server": "s", "path": "/"}, "capacity": object{"storage": "1Gi"}, "storageClassName": "x", "volumeMode": "Block", "persistentVolumeReclaimPolicy": "Delete", "claimRef": object{"name": "x"}, "nodeAffinity": object{"required": object{"nodeSelectorTerms": []any{}}}}, object{"local": object{"path": "/"}, "nodeAffinity": object{}}},
	"VolumeAttachment.attachmentMetadata": {object{"a": "b"}, object{"a": long(256<<10 - 1)}, object{"a": long(256 << 10)}},
}
