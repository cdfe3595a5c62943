package main

// A kind as cases use it: a template that servers accept, and changes of it, of which not all are accepted.
type kind struct {
	prefix, resource, kind string
	cluster                bool
	hasStatus              bool
	template               string
	changes                []string
}

const (
	podSpec  = `{"containers":[{"name":"c","image":"nginx:1"}],"serviceAccountName":"default"}`
	template = `{"metadata":{"labels":{"app":"web"}},"spec":` + podSpec + `}`
	selector = `{"matchLabels":{"app":"web"}}`
)

// A certificate of an authority, as JSON has it.
const authority = "" +
	`-----BEGIN CERTIFICATE-----\n` +
	`MIIBbjCCARWgAwIBAgIUb9L3TfHoB5NqVCPG6WZcI+3QFqwwCgYIKoZIzj0EAwIw\n` +
	`DDEKMAgGA1UEAwwBYzAgFw0yNjExMTgyMjA4MDBaGA8yMTI2MTAyNTIyMDgwMFow\n` +
	`DDEKMAgGA1UEAwwBYzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLZqLdEDDk7W\n` +
	`vLRzF5CLjQnupY1eW0xUv9IPeCnqlhXpXTsyfDR1H4nDHDTT9nVtVXSQ24q+nhmt\n` +
	`NCaDyoVvWd6jUzBRMB0GA1UdDgQWBBTZE2nltaSNzoAHthQbdGoVdFhVADAfBgNV\n` +
	`HSMEGDAWgBTZE2nltaSNzoAHthQbdGoVdFhVADAPBgNVHRMBAf8EBTADAQH/MAoG\n` +
	`CCqGSM49BAMCA0cAMEQCIHsL3TJX8n0rYhuJubLxefGQi6Xq4LH2ImzqTOAqUE08\n` +
	`AiBP5BJb9V3Xo+IC9YZtXg1sW8XSyczawOJM0j2IWBv4og==\n` +
	`-----END CERTIFICATE-----\n`

var kinds = []kind{
	{"/api/v1", "configmaps", "ConfigMap", false, false, `{"data":{"a":"1"}}`, []string{
		`{"data":{"b":"2"}}`, `{"data":{"a":null}}`, `{"binaryData":{"c":"aGk="}}`, `{"immutable":true}`, `{"data":{"bad key":"x"}}`, `{"data":{"a":1}}`, `{"data":["a"]}`}},
	{"/api/v1", "secrets", "Secret", false, false, `{"data":{"a":"aGk="}}`, []string{
		`{"stringData":{"b":"2"}}`, `{"type":"kubernetes.io/tls"}`, `{"immutable":true}`, `{"type":"kubernetes.io/basic-auth","stringData":{"username":"u"}}`, `{"data":{"a":"%"}}`}},
	{"/api/v1", "pods", "Pod", false, true, `{"spec":` + podSpec + `}`, []string{
		`{"spec":{"nodeName":"n1"}}`, `{"spec":{"restartPolicy":"Never"}}`, `{"spec":{"terminationGracePeriodSeconds":5}}`,
		`{"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}}`, `{"spec":{"priorityClassName":"system-node-critical"}}`,
		`{"spec":{"containers":[{"name":"c","image":"nginx:2"}]}}`, `{"spec":{"activeDeadlineSeconds":30}}`,
		`{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m","memory":"1Gi"},"limits":{"cpu":"1"}}}]}}`,
		`{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"env":[{"name":"A","value":"1"}]}]}}`,
		`{"spec":{"schedulingGates":[{"name":"example.com/g"}]}}`, `{"spec":{"hostNetwork":true}}`, `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`,
		`{"spec":{"containers":[]}}`, `{"spec":{"nodeSelector":{"a":"b"}}}`, `{"spec":{"priority":7}}`, `{"status":{"phase":"Running"}}`,
		`{"spec":{"containers":[{"name":"c","image":"i","imagePullPolicy":"Sometimes"}]}}`}},
	{"/apis/apps/v1", "deployments", "Deployment", false, true, `{"spec":{"selector":` + selector + `,"template":` + template + `}}`, []string{
		`{"spec":{"replicas":3}}`, `{"spec":{"replicas":-1}}`, `{"spec":{"paused":true}}`, `{"spec":{"strategy":{"type":"Recreate"}}}`,
		`{"spec":{"template":{"metadata":{"labels":{"app":"other"}}}}}`, `{"spec":{"template":{"metadata":{"annotations":{"x":"y"}}}}}`, `{"spec":{"minReadySeconds":5}}`, `{"status":{"replicas":4}}`, `{"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}`}},
	{"/apis/apps/v1", "replicasets", "ReplicaSet", false, true, `{"spec":{"selector":` + selector + `,"template":` + template + `}}`, []string{
		`{"spec":{"replicas":2}}`, `{"spec":{"minReadySeconds":1}}`, `{"spec":{"selector":{"matchLabels":{"app":"x"}}}}`}},
	{"/apis/apps/v1", "statefulsets", "StatefulSet", false, true, `{"spec":{"serviceName":"s","selector":` + selector + `,"template":` + template + `}}`, []string{
		`{"spec":{"replicas":2}}`, `{"spec":{"serviceName":"t"}}`, `{"spec":{"podManagementPolicy":"Parallel"}}`}},
	{"/apis/apps/v1", "daemonsets", "DaemonSet", false, true, `{"spec":{"selector":` + selector + `,"template":` + template + `}}`, []string{
		`{"spec":{"minReadySeconds":1}}`, `{"spec":{"updateStrategy":{"type":"OnDelete"}}}`, `{"spec":{"template":{"metadata":{"annotations":{"x":"y"}}}}}`}},
	{"/apis/apps/v1", "controllerrevisions", "ControllerRevision", false, false, `{"revision":1,"data":{"spec":{"a":1}}}`, []string{
		`{"revision":2}`, `{"revision":-1}`, `{"data":{"b":1}}`}},
	{"/apis/batch/v1", "jobs", "Job", false, true, `{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`, []string{
		`{"spec":{"parallelism":2}}`, `{"spec":{"suspend":true}}`, `{"spec":{"completions":3,"completionMode":"Indexed"}}`, `{"spec":{"backoffLimit":1}}`, `{"spec":{"ttlSecondsAfterFinished":5}}`}},
	{"/apis/batch/v1", "cronjobs", "CronJob", false, true, `{"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`, []string{
		`{"spec":{"suspend":true}}`, `{"spec":{"schedule":"x"}}`, `{"spec":{"timeZone":"Europe/Rome"}}`, `{"spec":{"concurrencyPolicy":"Forbid"}}`}},
	{"/api/v1", "replicationcontrollers", "ReplicationController", false, true, `{"spec":{"selector":{"app":"web"},"template":` + template + `}}`, []string{
		`{"spec":{"replicas":2}}`, `{"spec":{"selector":null}}`}},
	{"/api/v1", "podtemplates", "PodTemplate", false, false, `{"template":` + template + `}`, []string{
		`{"template":{"metadata":{"labels":{"a":"b"}}}}`}},
	{"/api/v1", "serviceaccounts", "ServiceAccount", false, false, `{}`, []string{
		`{"automountServiceAccountToken":false}`, `{"imagePullSecrets":[{"name":"a"}]}`, `{"secrets":[{"name":"b"}]}`}},
	{"/api/v1", "persistentvolumeclaims", "PersistentVolumeClaim", false, true, `{"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"slow","resources":{"requests":{"storage":"1Gi"}}}}`, []string{
		`{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`, `{"spec":{"volumeName":"v"}}`, `{"spec":{"accessModes":["ReadOnlyMany"]}}`, `{"spec":{"storageClassName":null}}`}},
	{"/api/v1", "persistentvolumes", "PersistentVolume", true, true, `{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}}`, []string{
		`{"spec":{"capacity":{"storage":"2Gi"}}}`, `{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`, `{"spec":{"storageClassName":"slow"}}`, `{"spec":{"hostPath":{"path":"/y"}}}`}},
	{"/api/v1", "nodes", "Node", true, true, `{}`, []string{
		`{"spec":{"unschedulable":true}}`, `{"spec":{"taints":[{"key":"a","value":"b","effect":"NoSchedule"}]}}`, `{"spec":{"podCIDR":"10.1.0.0/24"}}`, `{"spec":{"providerID":"p"}}`, `{"status":{"capacity":{"cpu":"4"}}}`, `{"metadata":{"labels":{"node-role.kubernetes.io/worker":""}}}`, `{"spec":{"taints":[{"key":"a","effect":"X"}]}}`}},
	{"/apis/scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", true, false, `{"value":10}`, []string{
		`{"value":11}`, `{"preemptionPolicy":"Never"}`, `{"description":"d"}`, `{"value":2000000001}`}},
	{"/apis/storage.k8s.io/v1", "storageclasses", "StorageClass", true, false, `{"provisioner":"example.com/p"}`, []string{
		`{"provisioner":"other"}`, `{"allowVolumeExpansion":true}`, `{"volumeBindingMode":"WaitForFirstConsumer"}`, `{"parameters":{"a":"b"}}`, `{"reclaimPolicy":"Retain"}`}},
	{"/apis/storage.k8s.io/v1", "csidrivers", "CSIDriver", true, false, `{"spec":{}}`, []string{
		`{"spec":{"attachRequired":false}}`, `{"spec":{"podInfoOnMount":true}}`}},
	{"/apis/storage.k8s.io/v1", "csinodes", "CSINode", true, true, `{"spec":{"drivers":[]}}`, []string{
		`{"spec":{"drivers":[{"name":"d","nodeID":"n","topologyKeys":["a"]}]}}`}},
	{"/apis/storage.k8s.io/v1", "volumeattachments", "VolumeAttachment", true, true, `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, []string{
		`{"spec":{"nodeName":"m"}}`, `{"status":{"attached":true}}`}},
	{"/apis/storage.k8s.io/v1", "csistoragecapacities", "CSIStorageCapacity", false, false, `{"storageClassName":"s","capacity":"1Gi"}`, []string{
		`{"capacity":"2Gi"}`, `{"storageClassName":"t"}`, `{"nodeTopology":{"matchLabels":{"a":"b"}}}`}},
	{"/apis/coordination.k8s.io/v1", "leases", "Lease", false, false, `{"spec":{"holderIdentity":"h"}}`, []string{
		`{"spec":{"holderIdentity":"i"}}`, `{"spec":{"leaseDurationSeconds":10}}`, `{"spec":{"renewTime":"2020-01-01T00:00:00.000000Z"}}`, `{"spec":{"leaseDurationSeconds":-1}}`}},
	{"/apis/policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", false, true, `{"spec":{"minAvailable":1,"selector":` + selector + `}}`, []string{
		`{"spec":{"minAvailable":"50%"}}`, `{"spec":{"maxUnavailable":1}}`, `{"spec":{"selector":null}}`, `{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`}},
	{"/api/v1", "events", "Event", false, false, `{"involvedObject":{"kind":"Pod","namespace":"` + placeholder + `","name":"p"},"reason":"R","message":"m","type":"Normal","source":{"component":"c"}}`, []string{
		`{"count":2}`, `{"involvedObject":{"namespace":"other"}}`, `{"type":"Warning"}`, `{"message":"again"}`}},
	{"/apis/events.k8s.io/v1", "events", "Event", false, false, `{"regarding":{"kind":"Pod","namespace":"` + placeholder + `","name":"p"},"eventTime":"2020-01-01T00:00:00.000000Z","reason":"R","action":"A","reportingController":"example.com/c","reportingInstance":"i","type":"Normal","note":"m"}`, []string{
		`{"series":{"count":2,"lastObservedTime":"2020-01-01T00:00:00.000000Z"}}`, `{"type":"Odd"}`, `{"note":"n"}`, `{"eventTime":null}`}},
	{"/api/v1", "limitranges", "LimitRange", false, false, `{"spec":{"limits":[{"type":"PersistentVolumeClaim","max":{"storage":"5Gi"}}]}}`, []string{
		`{"spec":{"limits":[{"type":"Pod","max":{"cpu":"8"}}]}}`}},
	{"/api/v1", "resourcequotas", "ResourceQuota", false, true, `{"spec":{"hard":{"services.loadbalancers":"5"}}}`, []string{
		`{"spec":{"hard":{"services.nodeports":"6"}}}`}},
	{"/api/v1", "endpoints", "Endpoints", false, false, `{"subsets":[{"addresses":[{"ip":"10.1.2.3"}],"ports":[{"port":80}]}]}`, []string{
		`{"subsets":[{"addresses":[{"ip":"10.1.2.4"}],"ports":[{"port":81,"name":"a"}]}]}`, `{"subsets":null}`, `{"subsets":[{"addresses":[{"ip":"127.0.0.1"}]}]}`}},
	{"/apis/discovery.k8s.io/v1", "endpointslices", "EndpointSlice", false, false, `{"addressType":"IPv4","endpoints":[{"addresses":["10.1.2.3"]}],"ports":[{"port":80}]}`, []string{
		`{"addressType":"IPv6"}`, `{"addressType":"FQDN","endpoints":[{"addresses":["a.example.com"]}]}`, `{"endpoints":[{"addresses":["010.1.2.3","::1"]}]}`, `{"endpoints":[{"addresses":[]}]}`, `{"endpoints":[]}`, `{"ports":[{"port":81,"name":"a"}]}`}},
	{"/apis/networking.k8s.io/v1", "ingresses", "Ingress", false, true, `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`, []string{
		`{"spec":{"ingressClassName":"c"}}`, `{"spec":{"rules":[{"host":"a.example.com","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"name":"p"}}}}]}}]}}`, `{"spec":{"defaultBackend":null}}`}},
	{"/apis/networking.k8s.io/v1", "ingressclasses", "IngressClass", true, false, `{"spec":{"controller":"example.com/c"}}`, []string{
		`{"spec":{"controller":"example.com/d"}}`, `{"spec":{"parameters":{"kind":"K","name":"n","scope":"Cluster"}}}`}},
	{"/apis/networking.k8s.io/v1", "networkpolicies", "NetworkPolicy", false, false, `{"spec":{"podSelector":{}}}`, []string{
		`{"spec":{"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16","11.0.0.0/16"]}}]}]}}`, `{"spec":{"ingress":[{"from":[{"ipBlock":{"cidr":"FD00::/64"}}],"ports":[{"port":80,"endPort":79}]}]}}`, `{"spec":{"ingress":[{"from":[{"ipBlock":{}}]}]}}`, `{"spec":{"policyTypes":["Egress"]}}`, `{"spec":{"ingress":[{"from":[{"podSelector":{}}]}]}}`}},
	{"/apis/node.k8s.io/v1", "runtimeclasses", "RuntimeClass", true, false, `{"handler":"h"}`, []string{
		`{"handler":"i"}`, `{"overhead":{"podFixed":{"cpu":"1"}}}`, `{"scheduling":{"nodeSelector":{"a":"b"}}}`}},
	{"/apis/rbac.authorization.k8s.io/v1", "roles", "Role", false, false, `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`, []string{
		`{"rules":[]}`, `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":[]}]}`}},
	{"/apis/rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding", false, false, `{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"}]}`, []string{
		`{"subjects":[{"kind":"ServiceAccount","name":"s","namespace":"` + placeholder + `"}]}`, `{"roleRef":{"name":"other"}}`, `{"subjects":null}`}},
	{"/apis/rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", true, false, `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`, []string{
		`{"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`, `{"rules":[{"nonResourceURLs":["/x"],"verbs":["get"]}]}`}},
	{"/apis/autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", false, true, `{"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":5}}`, []string{
		`{"spec":{"minReplicas":2}}`, `{"spec":{"minReplicas":9}}`, `{"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]}}`}},
	{"/apis/resource.k8s.io/v1", "resourceclaims", "ResourceClaim", false, true, `{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"d"}}]}}}`, []string{
		`{"spec":{"devices":{"requests":[{"name":"q","exactly":{"deviceClassName":"d"}}]}}}`, `{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"d","count":2,"allocationMode":"ExactCount"}}]}}}`}},
	{"/apis/resource.k8s.io/v1", "resourceclaimtemplates", "ResourceClaimTemplate", false, false, `{"spec":{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"d"}}]}}}}`, []string{
		`{"spec":{"metadata":{"labels":{"a":"b"}}}}`}},
	{"/apis/resource.k8s.io/v1", "deviceclasses", "DeviceClass", true, false, `{"spec":{}}`, []string{
		`{"spec":{"selectors":[{"cel":{"expression":"device.driver == \"d\""}}]}}`, `{"spec":{"selectors":[{"cel":{"expression":"x("}}]}}`}},
	{"/apis/resource.k8s.io/v1", "resourceslices", "ResourceSlice", true, false, `{"spec":{"driver":"d.example.com","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"dev"}]}}`, []string{
		`{"spec":{"pool":{"generation":2}}}`, `{"spec":{"devices":[{"name":"dev","attributes":{"a":{"int":1}}}]}}`, `{"spec":{"driver":"e"}}`}},
	{"/apis/flowcontrol.apiserver.k8s.io/v1", "flowschemas", "FlowSchema", true, true, `{"spec":{"priorityLevelConfiguration":{"name":"global-default"},"matchingPrecedence":9000}}`, []string{
		`{"spec":{"matchingPrecedence":9001}}`, `{"spec":{"distinguisherMethod":{"type":"ByUser"}}}`}},
	{"/apis/flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations", "PriorityLevelConfiguration", true, true, `{"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}}`, []string{
		`{"spec":{"limited":{"nominalConcurrencyShares":5}}}`, `{"spec":{"type":"Exempt"}}`}},
	{"/apis/certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest", true, true, `{"spec":{"request":"eA==","signerName":"example.com/s","usages":["client auth"]}}`, []string{
		`{"spec":{"signerName":"x"}}`, `{"spec":{"expirationSeconds":600}}`}},
	{"/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", true, true, `{"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["xs"]}]},"validations":[{"expression":"true"}]}}`, []string{
		`{"spec":{"failurePolicy":"Ignore"}}`, `{"spec":{"validations":[{"expression":"1"}]}}`}},
	{"/apis/apps/v1", "deployments", "Deployment", false, true, `{"spec":{"replicas":2,"selector":` + selector + `,"template":` + template + `}}`, []string{
		`{"spec":{"replicas":3}}`, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"nginx:2"}]}}}}`, `{"spec":{"selector":{"matchLabels":{"app":"x"}}}}`}},
	{"/api/v1", "services", "Service", false, true, `{"spec":{"clusterIP":"None","ports":[{"port":80}]}}`, []string{
		`{"spec":{"selector":{"a":"b"}}}`, `{"spec":{"ports":[{"port":81,"name":"x"}]}}`, `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`, `{"spec":{"sessionAffinity":"ClientIP"}}`}},
	{"/apis/storage.k8s.io/v1", "volumeattributesclasses", "VolumeAttributesClass", true, false, `{"driverName":"d.example.com","parameters":{"a":"b"}}`, []string{
		`{"parameters":{"a":"c"}}`, `{"driverName":"e.example.com"}`}},
	{"/apis/resource.k8s.io/v1", "devicetaintrules", "DeviceTaintRule", true, true, `{"spec":{"deviceSelector":{"driver":"d.example.com"},"taint":{"key":"k","effect":"NoSchedule"}}}`, []string{
		`{"spec":{"taint":{"value":"v"}}}`, `{"spec":{"taint":{"effect":"Odd"}}}`, `{"spec":{"deviceSelector":{"pool":"p"}}}`}},
	{"/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", true, false, `{"spec":{"policyName":"p.example.com","validationActions":["Deny"],"matchResources":{"namespaceSelector":{"matchLabels":{"no":"where"}}}}}`, []string{
		`{"spec":{"validationActions":["Audit"]}}`, `{"spec":{"paramRef":{"name":"n","parameterNotFoundAction":"Deny"}}}`, `{"spec":{"validationActions":["Odd"]}}`}},
	{"/apis/admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", true, false, `{"webhooks":[{"name":"w.example.com","clientConfig":{"url":"https://127.0.0.1:1/"},"failurePolicy":"Ignore","sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["things"]}]}]}`, []string{
		`{"webhooks":[]}`}},
	{"/apis/admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", true, false, `{"webhooks":[{"name":"w.example.com","clientConfig":{"url":"https://127.0.0.1:1/"},"failurePolicy":"Ignore","sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["things"]}]}]}`, []string{
		`{"webhooks":[]}`}},
	{"/apis/autoscaling/v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", false, true, `{"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":5}}`, []string{
		`{"spec":{"targetCPUUtilizationPercentage":50}}`, `{"spec":{"minReplicas":2}}`}},
	{"/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", "ClusterRoleBinding", true, false, `{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},"subjects":[{"kind":"User","name":"u"}]}`, []string{
		`{"subjects":[{"kind":"Group","name":"g"}]}`, `{"roleRef":{"name":"other"}}`}},
	{"/api/v1", "services", "Service", false, true, `{"spec":{"selector":{"a":"b"},"ports":[{"port":80}]}}`, []string{
		`{"spec":{"type":"NodePort"}}`, `{"spec":{"type":"LoadBalancer"}}`, `{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local"}}`, `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`, `{"spec":{"type":"ClusterIP"}}`,
		`{"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30055}]}}`, `{"spec":{"type":"NodePort","ports":[{"port":80,"name":"a","nodePort":30056},{"port":80,"name":"b","protocol":"UDP"},{"port":81,"name":"c"}]}}`, `{"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":80}]}}`,
		`{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false}}`, `{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30057}}`, `{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":7}}`,
		`{"spec":{"clusterIP":"10.0.0.99"}}`, `{"spec":{"clusterIP":"10.0.0.1"}}`, `{"spec":{"clusterIP":"10.0.0.0"}}`, `{"spec":{"clusterIP":"10.1.0.1"}}`, `{"spec":{"clusterIP":"fd00::1"}}`, `{"spec":{"clusterIP":"None"}}`, `{"spec":{"clusterIP":"","clusterIPs":null}}`, `{"spec":{"clusterIPs":["10.0.0.98"]}}`,
		`{"spec":{"ipFamilyPolicy":"RequireDualStack"}}`, `{"spec":{"ipFamilyPolicy":"PreferDualStack"}}`, `{"spec":{"ipFamilies":["IPv6"]}}`, `{"spec":{"ipFamilies":["IPv4","IPv6"]}}`, `{"spec":{"externalIPs":["1.2.3.4"]}}`, `{"spec":{"internalTrafficPolicy":"Local"}}`, `{"spec":{"trafficDistribution":"PreferClose"}}`,
		`{"spec":{"ports":[{"port":80,"targetPort":"http"},{"port":80}]}}`, `{"spec":{"ports":null}}`, `{"spec":{"loadBalancerClass":"a/b"}}`, `{"spec":{"sessionAffinity":"ClientIP"}}`}},
	{"/apis/networking.k8s.io/v1", "servicecidrs", "ServiceCIDR", true, true, `{"spec":{"cidrs":["10.9.0.0/24"]}}`, []string{
		`{"spec":{"cidrs":["10.9.0.0/24","fd09::/64"]}}`, `{"spec":{"cidrs":["10.8.0.0/24"]}}`, `{"spec":{"cidrs":[]}}`, `{"spec":{"cidrs":["x"]}}`}},
	{"/api/v1", "namespaces", "Namespace", true, true, `{}`, []string{
		`{"spec":{"finalizers":["kubernetes"]}}`, `{"spec":{"finalizers":["example.com/f","kubernetes"]}}`, `{"status":{"phase":"Terminating"}}`, `{"metadata":{"labels":{"kubernetes.io/metadata.name":"z"}}}`, `{"spec":{"finalizers":["x"]}}`}},
	{"/apis/storagemigration.k8s.io/v1", "storageversionmigrations", "StorageVersionMigration", true, true, `{"spec":{"resource":{"group":"apps","resource":"deployments"}}}`, []string{
		`{"spec":{"resource":{"resource":"pods"}}}`, `{"spec":{"resource":{"group":"","resource":"secrets"}}}`, `{"spec":{"resource":{"resource":"Odd/x"}}}`, `{"spec":null}`, `{"status":{"resourceVersion":"7"}}`}},
	{"/apis/certificates.k8s.io/v1", "clustertrustbundles", "ClusterTrustBundle", true, false, `{"spec":{"trustBundle":"` + authority + `"}}`, []string{
		`{"spec":{"signerName":"example.com/s"}}`, `{"spec":{"trustBundle":"x"}}`, `{"spec":{"trustBundle":""}}`, `{"spec":{"trustBundle":"` + authority + authority + `"}}`, `{"spec":{"trustBundle":"` + authority + `# more\n"}}`}},
	{"/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", true, false, `{"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["xs"]}]},"failurePolicy":"Fail","reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{metadata: Object.metadata{labels: {'a': 'b'}}}"}}]}}`, []string{
		`{"spec":{"reinvocationPolicy":"IfNeeded"}}`, `{"spec":{"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'add', path: '/x', value: 'y'}]"}}]}}`, `{"spec":{"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"1"}}]}}`, `{"spec":{"mutations":[]}}`, `{"spec":{"variables":[{"name":"v","expression":"1"}]}}`, `{"spec":{"failurePolicy":"Ignore"}}`, `{"spec":{"reinvocationPolicy":null}}`}},
	{"/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", true, false, `{"spec":{"policyName":"p.example.com","matchResources":{"namespaceSelector":{"matchLabels":{"no":"where"}}}}}`, []string{
		`{"spec":{"paramRef":{"name":"n","parameterNotFoundAction":"Deny"}}}`, `{"spec":{"policyName":""}}`, `{"spec":{"paramRef":{"name":"n"}}}`}},
}
