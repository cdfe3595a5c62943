package main

import (
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	configvalidation "k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

// Plug-ins that have nothing to say where no pod has claims; a line with a configuration does not show them then.
var silentPlugins = map[string]bool{"DynamicResources": true, "VolumeBinding": true}

// profilesOf gives the options for the line's configuration, if it has one.
func profilesOf(l line) []scheduler.Option {
	if !l.has("config") {
		return nil
	}
	decoded, _, err := scheme.Codecs.UniversalDecoder().Decode(l["config"], nil, &config.KubeSchedulerConfiguration{})
	if err == nil {
		err = configvalidation.ValidateKubeSchedulerConfiguration(decoded.(*config.KubeSchedulerConfiguration))
	}
	if err != nil {
		panic(badQuestion{err})
	}
	return []scheduler.Option{scheduler.WithProfiles(decoded.(*config.KubeSchedulerConfiguration).Profiles...)}
}
