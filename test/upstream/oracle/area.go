package main

import (
	"fmt"
	"math/rand/v2"
)

// An area is one kind of question. Adding one means: a file with its answer, a generator, a row below.
type area struct {
	name     string // of the file of vectors too, without .jsonl
	answer   func(line)
	generate func(*rand.Rand) line
	outputs  []string // the members that answer sets; each may be absent
	share    int      // of all cases, against the shares of the others
}

var areas = []*area{
	{"tolerate", tolerate, generateTolerate, []string{"match"}, 120},
	{"untolerated", untolerated, generateUntolerated, []string{"first_untolerated", "prefer_intolerable_count",
		"matching_all_tolerated", "matching_tolerations", "eviction"}, 120},
	{"semver", semverAnswer, generateSemver, []string{"tolerant", "strict", "result"}, 100},
	{"quantity", quantityAnswer, generateQuantity, []string{"string", "canonical", "format", "value", "milli", "sign",
		"error", "result", "sum", "difference"}, 100},
	{"yaml", yamlAnswer, generateYAML, []string{"json", "refused"}, 100},
	{"nodeselector", nodeSelector, generateNodeSelector, []string{"required_match", "required_error", "preferred_score",
		"preferred_error", "match", "error"}, 100},
	{"labelselector", labelSelector, generateLabelSelector, []string{"match", "string", "error"}, 100},
	{"cel_vectors", celAnswer, generateCEL, []string{"issues", "type", "est_min", "est_max", "program_error",
		"result", "result_type", "eval_error", "cost"}, 160},
	{"validate_create", validateCreate, generateCreate, []string{"valid", "errors", "status", "decode_error"}, 150},
	{"validate_update", validateUpdate, generateUpdate, []string{"valid", "errors", "status", "decode_error"}, 80},
	{"decode", decodeAnswer, generateDecode, []string{"decode_error", "defaulted"}, 150},
	{"metadata", metadataAnswer, generateMetadata, []string{"valid", "errors", "status"}, 100},
	{"rules", rulesAnswer, generateRules, []string{"valid", "errors", "status", "warnings"}, 150},
	{"network", networkAnswer, generateNetwork, []string{"valid", "errors", "status", "warnings"}, 100},
	{"warnings", warningsAnswer, generateWarnings, []string{"warnings"}, 80},
	{"merge", merge, generateMerge, []string{"affinity_after", "topologySpreadConstraints_after", "valid", "errors"}, 50},
	{"daemon", daemonAnswer, generateDaemon, []string{"should_run", "should_continue_running"}, 40},
	{"kubelet", kubeletAnswer, generateKubelet, []string{"admit", "reason", "message", "all_failures"}, 40},
	{"schedule", schedule, generateSchedule, []string{"outcome", "result"}, 50},
	{"preempt", preempt, generatePreempt, []string{"result"}, 50},
	{"requeue", requeue, generateRequeue, []string{"requeued"}, 50},
	{"validate_status", validateStatus, generateStatus, []string{"valid", "errors", "status", "after"}, 60},
	{"validate_subresource", validateSubresource, generateSubresource, []string{"valid", "errors", "status", "after"}, 60},
	{"prepare", prepareAnswer, generatePrepare, []string{"after", "creates", "needs_version"}, 120},
	{"delete", deleteAnswer, generateDelete, []string{"outcome", "after", "status"}, 50},
	{"proto", protoAnswer, generateProto, []string{"json", "again", "refused"}, 150},
	{"patch", patchAnswer, generatePatch, []string{"patched", "faults", "failure", "cause", "spent"}, 100},
	{"rbac", rbacAnswer, generateRBAC, []string{"allowed", "reason", "status", "accepted", "refusal"}, 80},
	{"rbac_policy", policyAnswer, generatePolicy, []string{"objects", "operation", "after"}, 20},
	{"jwt", jwtAnswer, generateJWT, []string{"signed", "signed_text", "authenticated", "user", "for", "error"}, 40},
	{"apply", applyAnswer, generateApply, []string{"managedFields", "after", "failure", "causes"}, 100},
	{"convert", convertAnswer, generateConvert, []string{"converted"}, 60},
	{"admission", admissionAnswer, generateAdmission, []string{"status", "after", "used"}, 100},
	{"discovery", discoveryAnswer, generateDiscovery, []string{"resource", "subresources"}, 5},
}

func areaOf(name string) (*area, error) {
	for _, a := range areas {
		if a.name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no area %q", name)
}

// ask forgets what the line says about the answer and puts upstream's in its place; where upstream crashes,
// "panic" says so.
func (a *area) ask(l line) (err error) {
	defer func() {
		e := recover()
		if bad, ok := e.(badQuestion); ok {
			err = bad.error
		} else if e != nil {
			l.set("panic", fmt.Sprint(e))
		}
	}()
	delete(l, "panic")
	for _, key := range a.outputs {
		delete(l, key)
	}
	a.answer(l)
	return nil
}
