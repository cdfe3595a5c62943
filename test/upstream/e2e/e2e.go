// Package e2e only says which version of the e2e tests of Kubernetes is built: tools/real e2e.test.
package e2e

import _ "k8s.io/kubernetes/test/e2e"
