package main

// The audit log of the server: who bound what, by the request and its answer.

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
)

type auditEvent struct {
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	ObjectRef struct {
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	RequestObject struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	} `json:"requestObject"`
}

// readAudit counts the successful bindings of each pod, and all by their code. A server that is
// killed may leave half a line.
func readAudit(path string) (map[string]int, map[string]int, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	bound, codes := map[string]int{}, map[string]int{}
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return bound, codes, nil
		}
		var e auditEvent
		if json.Unmarshal(line, &e) != nil || e.ObjectRef.Subresource != "binding" {
			continue
		}
		codes[strconv.Itoa(e.ResponseStatus.Code)]++
		if e.ResponseStatus.Code == 201 {
			bound[e.ObjectRef.Namespace+"/"+e.ObjectRef.Name+" "+e.RequestObject.Metadata.UID]++
		}
	}
}
