/*
 * The objects of small clusters, as rules: everything that the default plug-ins read, with so few
 * names and values that objects meet, collide and repeat.
 *
 * <a|b|c> is one of the three, $name the rule of this name. Of the object itself, # is its number,
 * @ the namespace and % the place there that the number stands for, ! how often it was made anew
 * and ^ its version; ~ is the era that it comes from, with which all names change, and nothing in
 * the first era. Quotes of JSON are ', and " stands for ' in strings.
 */
#ifndef TEST_SCHED_WALK_GRAMMAR_H
#define TEST_SCHED_WALK_GRAMMAR_H

struct walk_rule {
    const char *name, *text;
};

static const struct walk_rule walk_rules[] = {
    /* ---- what several kinds have ---- */
    {"selector",
     "<{'matchLabels':{'app~':'<x|y|z>~'}}|{'matchLabels':{'app~':'x~','tier~':'<s|t>~'}}|"
     "{'matchExpressions':[{'key':'<app|tier>~','operator':'<Exists|DoesNotExist>'}]}|"
     "{'matchExpressions':[{'key':'<app|tier|rev>~','operator':'<In|NotIn>','values':"
     "['<x|s|1>~','<y|t|2>~']}]}|{}>"},
    {"zone", "z<0|1|2>~"},
    {"version", "<1.2|v1.2.0|1.9.0|1.10.0|1.10.0-rc.1~|x~>"},
    {"nodeterm",
     "<{'matchExpressions':[{'key':'zone~','operator':'<In|NotIn>','values':['$zone','z3~']}]}|"
     "{'matchExpressions':[{'key':'<zone|rack>~','operator':'<Exists|DoesNotExist>'}]}|"
     "{'matchExpressions':[{'key':'size~','operator':'<Gt|Lt>','values':['<1|3|5>']}]}|"
     "{'matchExpressions':[{'key':'version~','operator':'<SemverGt|SemverLt|SemverEq>','values':"
     "['$version']}]}|"
     "{'matchExpressions':[{'key':'zone~','operator':'In','values':['$zone']},{'key':'size~',"
     "'operator':'Gt','values':['2']}]}|"
     "{'matchFields':[{'key':'metadata.name','operator':'<In|In|NotIn>','values':"
     "['n<0|1|2|3|4|5>~']}]}>"},

    /* ---- nodes ---- */
    {"taint", "{'key':'k<0|1|2>~','value':'<5|950|1.2.3|1.10.0|x~|>','effect':"
              "'<NoSchedule|NoSchedule|PreferNoSchedule|NoExecute>'}"},
    /* Sizes that machines come in: sums of amounts, weighted or not, are alike for many of them. */
    {"machine", "<'cpu':'2','memory':'4Gi','ephemeral-storage':'26Gi'|"
                "'cpu':'2','memory':'16Gi','ephemeral-storage':'18Gi'|"
                "'cpu':'2','memory':'10Gi','ephemeral-storage':'22Gi'|"
                "'cpu':'4','memory':'8Gi','ephemeral-storage':'20Gi'|"
                "'cpu':'8','memory':'4Gi','ephemeral-storage':'20Gi'|"
                "'cpu':'1','memory':'2Gi'|"
                "'cpu':'32','memory':'64Gi','ephemeral-storage':'200Gi'|"
                "'cpu':'16','memory':'64Gi','ephemeral-storage':'200Gi'|"
                "'cpu':'16','memory':'128Gi'>"},
    {"devices", "<|,'ex.io/gpu~':'4'|,'ex.io/gpu~':'<1|2>'|,'ex.io/fpga~':'2','ex.io/gpu~':'<0|1>'|"
                ",'hugepages-2Mi':'4Mi','ex.io/fpga~':'1'>"},
    /* The size of an image is that of the node which named it first, so it goes with the name. */
    {"image", "<{'names':['a~:latest'],'sizeBytes':300000000}|"
              "{'names':['b~:1','b~@sha256:0'],'sizeBytes':700000000}|"
              "{'names':['a~:latest','c~:2'],'sizeBytes':300000000}|"
              "{'names':['n#~.own:latest'],'sizeBytes':<100000000|900000000>}>"},
    {"declared", "'<RestartAllContainersOnContainerExits|UserNamespacesHostNetworkSupport|"
                 "VolumeBindMountOptions>'"},
    {"zonelabel", ",'zone~':'z<0|1|2|3>~'"},
    {"node",
     "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n#~','uid':'#','labels':{'host~':'n#~',"
     "'kubernetes.io/hostname':'n<#|#|#|0>~'<|$zonelabel|$zonelabel|$zonelabel>"
     "<|,'topology.kubernetes.io/zone':'<z0~|z1~|>'><|||,'topology.kubernetes.io/region':'r<0|1>~'>"
     "<|||,'failure-domain.beta.kubernetes.io/zone':'z<0|1>~'>"
     "<||,'rack~':'r<0|1>~'><|,'size~':'<1|3|5|7|x>'><|,'version~':'$version'>}},"
     "'spec':{<|||||||||||||||'unschedulable':true,>'taints':[<||||||||||$taint|$taint,$taint>]},"
     "'status':{'allocatable':{$machine,'pods':'<1|1|1|2|2|9|9|9>'$devices},"
     "'images':[<|$image|$image,$image>]<||,'declaredFeatures':[$declared<|,$declared>]>"
     "<|||,'conditions':[{'type':'Ready','status':'<True|False>'}]>}}"},

    /* ---- pods ---- */
    {"effect", "'effect':'<|NoSchedule|PreferNoSchedule|NoExecute>'"},
    {"toleration",
     "{<'operator':'Exists'<|,'key':'k<0|1|2>~'|,'key':'node.kubernetes.io/unschedulable'>,$effect|"
     "'key':'k<0|1|2>~','operator':'Equal','value':'<5|950|x~|>',$effect|"
     "'key':'k<0|1|2>~','operator':'<Gt|Lt>','value':'<4|5|940|960>',$effect|"
     "'key':'k<0|1|2>~','operator':'<SemverGt|SemverLt|SemverEq>','value':'$version',$effect|"
     "'key':'k<0|1|2>~','operator':'Exists','effect':'NoExecute','tolerationSeconds':<0|9>|"
     "'expression':'<taint~|taint.key == \"k0~\"|true>'>}"},
    {"nodeaffinity",
     "'nodeAffinity':{<'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':"
     "[$nodeterm<|,$nodeterm>]}|'preferredDuringSchedulingIgnoredDuringExecution':"
     "[{'weight':<1|50|100>,'preference':$nodeterm}<|,{'weight':1,'preference':$nodeterm}>]>}"},
    {"topologykey", "<zone~|host~|rack~|kubernetes.io/hostname|topology.kubernetes.io/zone>"},
    {"podterm",
     "{'topologyKey':'$topologykey'<|||||,'matchLabelKeys':['rev~']|,'mismatchLabelKeys':['tier~']>"
     ",'labelSelector':$selector"
     "<||,'namespaces':['<a|b|c>~']|,'namespaceSelector':$selector|"
     ",'namespaces':['a~','<b|c>~'],'namespaceSelector':$selector>}"},
    {"podterms",
     "{<'requiredDuringSchedulingIgnoredDuringExecution':[$podterm<||,$podterm>]|"
     "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':<1|50|100>,'podAffinityTerm':"
     "$podterm}<||,{'weight':<1|50>,'podAffinityTerm':$podterm}>]>}"},
    {"affinity", ",'affinity':{<$nodeaffinity|'podAffinity':$podterms|'podAntiAffinity':$podterms|"
                 "$nodeaffinity,'podAffinity':$podterms|"
                 "'podAffinity':$podterms,'podAntiAffinity':$podterms>}"},
    {"spreadrest", "'topologyKey':'$topologykey','maxSkew':<1|2|3>"
                   "<|,'nodeAffinityPolicy':'<Honor|Ignore>'><|,'nodeTaintsPolicy':'<Ignore|Honor>'"
                   "><|||,'matchLabelKeys':['<rev|tier>~']>,'labelSelector':$selector}"},
    {"hard", "{'whenUnsatisfiable':'DoNotSchedule',<|'minDomains':<2|3>,>$spreadrest"},
    {"soft", "{'whenUnsatisfiable':'ScheduleAnyway',$spreadrest"},
    {"spread",
     ",'topologySpreadConstraints':[<$hard|$soft|$soft|$hard,$soft|$hard,$hard|$soft,$soft>]"},
    {"amounts", "{<|||'cpu':'0'|'memory':'0'|'cpu':'<100m|500m|1|2>'|'cpu':'<100m|200m>'|'memory':'"
                "<64Mi|1Gi|5Gi|9Gi>'|"
                "'cpu':'<500m|1>','memory':'<1Gi|5Gi>'|'ephemeral-storage':'<1|9|19>Gi'|"
                "'cpu':'1','ex.io/gpu~':'<1|2>'|'ex.io/gpu~':'1','ex.io/fpga~':'<1|2>'|"
                "'hugepages-2Mi':'<2|4|6>Mi','memory':'1Gi','cpu':'1'>}"},
    {"resources", "'resources':{<'requests':$amounts|'requests':$amounts|'limits':$amounts>}"},
    {"ports", "<||,'ports':[{'containerPort':80,'hostPort':<80|81>,'protocol':'<TCP|UDP>'"
              "<|,'hostIP':'<127.0.0.1|0.0.0.0|10.0.0.1>'>}]>"},
    {"needed",
     "<|||||||,'volumeMounts':[{'name':'e','mountPath':'/e','bindMountOptions':['noexec']}]|"
     ",'restartPolicyRules':[{'action':'<Restart|RestartAllContainers>'}]>"},
    {"pulled", "<a~|b~:1|c~:2|n<0|1>~.own>"},
    {"container", "'image':'$pulled'$ports$needed,$resources"},
    {"initcontainer", "<$container|'image':'a'$ports>"},
    {"containers", "'containers':[{'name':'c',$container}<|||,{'name':'d',$container}>]"
                   "<|||,'initContainers':[{'name':'i',$initcontainer<|,'restartPolicy':'Always'>}"
                   "<|,{'name':'j',$initcontainer<|,'restartPolicy':'Always'>}>]>"
                   "<|||||||,'overhead':{'cpu':'250m','memory':'<128Mi|1Gi>'}>"
                   "<|||||||,'resources':{'requests':{'cpu':'<1|2>','memory':'<1|5>Gi'}}>"},
    {"podvolume", "{'name':'<e|f>',"
                  "<'persistentVolumeClaim':{'claimName':'c<0|1>~'}|"
                  "'persistentVolumeClaim':{'claimName':'c<0|1|9>~'}|"
                  "'ephemeral':{'volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce'],"
                  "'storageClassName':'s<0|1>~','resources':{'requests':{'storage':'1Gi'}}}}}|"
                  "'gcePersistentDisk':{'pdName':'d<0|1>~'<|,'readOnly':true>}|"
                  "'awsElasticBlockStore':{'volumeID':'vol-<0|1>~'}|"
                  "'iscsi':{'targetPortal':'t','iqn':'q<0|1>~','lun':0<|,'readOnly':true>}|"
                  "'rbd':{'monitors':['m0','m<1|2>~'],'image':'i'<|,'readOnly':true>}|"
                  "'csi':{'driver':'d<0|1>~.io'}|'emptyDir':{}>}"},
    {"owner", "<||||,'ownerReferences':[{<'apiVersion':'v1','kind':'ReplicationController'|"
              "'apiVersion':'apps/v1','kind':'ReplicaSet'|'apiVersion':'apps/v1','kind':"
              "'StatefulSet'>,'name':'o<0|0|1>~','uid':'w','controller':true}]>"},
    {"podmeta", "'metadata':{'name':'p#~','namespace':'@~','uid':'u#.!','labels':{'app~':'<x|y|z>~'"
                "<||,'tier~':'<s|t>~'><|,'rev~':'<1|2>~'>}$owner"
                "<|||||||,'deletionTimestamp':'2026-01-01T00:00:00Z'>}"},
    {"podspec",
     "$containers,'priority':<0|0|10|10|20|100><||||,'preemptionPolicy':'Never'>"
     "<|||||||||,'schedulerName':'<packer|packer|packer|other>'>"
     "<|||||||||,'schedulingGates':[{'name':'<g|h>~'}]>"
     "<|||||||||||||||||||,'schedulingGroup':{'podGroupName':'g'}>"
     "<|||||||||||,'hostNetwork':true,'hostUsers':<true|false>>"
     "<||||||||||||||,'nodeSelector':{'zone~':'$zone'}|,'nodeSelector':{'host~':'n<0|1>~'}>"
     "<|,'tolerations':[$toleration<|,$toleration>]><|||$affinity><||$spread>"
     "<||||||,'volumes':[$podvolume<||,$podvolume>]>"},
    {"resize", "'containerStatuses':[{'name':'c','image':'a','imageID':'a','ready':true,"
               "'restartCount':0<|,'allocatedResources':$amounts>,$resources}]"
               "<||,'conditions':[{'type':'PodResizePending','status':'True','reason':"
               "'<Infeasible|Deferred>'}]>"},
    {"disruption", "'conditions':[{'type':'DisruptionTarget','status':'True','reason':"
                   "'PreemptionByScheduler'}]"},
    {"lent", "'nodeAllocatableResourceClaimStatuses':[{'resourceClaimName':'r','containers':['c'],"
             "'mapping':[{'name':'<cpu|memory|ex.io/gpu~>','quantity':'<1|1Gi>'}]"
             "<|,'overhead':[{'name':'cpu','perPod':'<250m|2>'}]>}]"},
    {"podstatus", "<||||||'nominatedNodeName':'n<0|1|2|3|4|5>~'|'phase':'<Succeeded|Failed>'|"
                  "$resize|$lent|$disruption>"},
    /* These two have all choices in common but those behind the spec. */
    {"pending", "{'apiVersion':'v1','kind':'Pod',$podmeta,'spec':{$podspec"
                "<|||||||||,'nodeName':'n<0|1|9>~'>},'status':{$podstatus}}"},
    {"pod", "{'apiVersion':'v1','kind':'Pod',$podmeta,'spec':{$podspec"
            "<||,'nodeName':'n<0|1|2|3|4|5>~'>},'status':{$podstatus}}"},

    /* ---- what selects pods ---- */
    {"namespace",
     "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'@~','uid':'#','labels':"
     "{'name':'@~'<|,'app~':'<x|y>~'><|,'tier~':'t~'>}}}"},
    {"labels", "{'app~':'<x|y|z>~'<||,'tier~':'<s|t>~'>}"},
    {"service",
     "{'apiVersion':'v1','kind':'Service','metadata':{'uid':'#','name':'s%~','namespace':'@~'},"
     "'spec':{<|'selector':{}|'selector':$labels|'selector':$labels>}}"},
    {"controller",
     "{'apiVersion':'v1','kind':'ReplicationController','metadata':{'uid':'#','name':'o0~',"
     "'namespace':'@~'},'spec':{'selector':$labels}}"},
    {"template",
     "'template':{'metadata':{'labels':{'app~':'x~'}},'spec':{'containers':[{'name':'c',"
     "'image':'a'}]}}"},
    {"replicaset", "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'uid':'#','name':'o0~',"
                   "'namespace':'@~'},'spec':{'selector':$selector,$template}}"},
    {"statefulset",
     "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'uid':'#','name':'o0~',"
     "'namespace':'@~'},'spec':{'serviceName':'s','selector':$selector,$template}}"},
    {"budget",
     "{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'uid':'#','name':'b%~',"
     "'namespace':'@~'},'spec':{'selector':$selector},'status':"
     "{'disruptionsAllowed':<0|1|2><|||,'disruptedPods':{'p<0|1|2>~':"
     "'2026-01-01T00:00:00Z'}>}}"},

    /* ---- storage ---- */
    {"claimspec", "'spec':{'accessModes':['<ReadWriteOnce|ReadWriteOnce|ReadWriteOncePod>']"
                  "<|||,'selector':$selector><|||,'volumeMode':'Block'>,"
                  "'storageClassName':'<s0~|s1~|>','resources':{'requests':{'storage':'<1|2>Gi'}}"
                  "<|,'volumeName':'v<0|1|2>~'>}"},
    {"annotations", "<|,'annotations':{'pv.kubernetes.io/bind-completed':'yes'}|"
                    ",'annotations':{'pv.kubernetes.io/bind-completed':'yes'}|"
                    ",'annotations':{'volume.kubernetes.io/selected-node':'n<0|1|2>~'}|"
                    ",'annotations':{'volume.beta.kubernetes.io/storage-class':'s<0|1>~'}>"},
    {"claim", "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c%~',"
              "'namespace':'@~','uid':'uc#.!','resourceVersion':'^'$annotations},$claimspec}"},
    {"ephemeralclaim",
     "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'p#~-e','namespace':'@~'"
     ","
     "'uid':'ue#','resourceVersion':'^'$annotations<|,'ownerReferences':[{'apiVersion':'v1','kind':"
     "'Pod','name':'p#~','uid':'u#.<0|0|1>','controller':true}]>},$claimspec}"},
    {"volumesource",
     "<'csi':{'driver':'d<0|1>~.io','volumeHandle':'h#~'}|'csi':{'driver':'d0~.io','volumeHandle':"
     "'h#~'}|'gcePersistentDisk':{'pdName':'d#~'}>"},
    {"volume",
     "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'uid':'#','name':'v#~','"
     "resourceVersion':'^',"
     "'labels':{<||'topology.kubernetes.io/zone':'<z0~|z1~|z0~__z1~>'|"
     "'failure-domain.beta.kubernetes.io/zone':'z0~'|'app~':'x~'>}},"
     "'spec':{'capacity':{'storage':'<1|2>Gi'},'accessModes':['ReadWriteOnce'],"
     "'storageClassName':'s<0|1>~',$volumesource<|||,'volumeMode':'Block'>"
     "<|,'nodeAffinity':{'required':{'nodeSelectorTerms':[$nodeterm]}}>"
     "<|||,'claimRef':{'kind':'PersistentVolumeClaim','namespace':'<a|b|c>~','name':'c<0|1>~'}>},"
     "'status':{'phase':'<Available|Available|Bound>'}}"},
    {"storageclass",
     "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'uid':'#','name':'s#~'},"
     "'provisioner':'<d0~.io|d1~.io|kubernetes.io/no-provisioner|kubernetes.io/gce-pd>',"
     "'volumeBindingMode':'<WaitForFirstConsumer|WaitForFirstConsumer|Immediate>'<||,"
     "'allowedTopologies':[{'matchLabelExpressions':[{'key':'zone~','values':['z0~','z1~']}]}]>}"},
    {"driver", "{'name':'<d0~.io|d0~.io|d1~.io|pd.csi.storage.gke.io>','nodeID':'x'"
               "<|,'allocatable':{'count':<0|1|2>}>}"},
    {"csinode",
     "{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'uid':'#','name':'n#~'<||,"
     "'annotations':{'storage.alpha.kubernetes.io/migrated-plugins':"
     "'kubernetes.io/gce-pd'}>},'spec':{'drivers':[<|$driver|$driver,$driver>]}}"},
    {"csidriver",
     "{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'uid':'#','name':"
     "'d#~.io'},'spec':{'storageCapacity':<true|false>"
     "<|,'preventPodSchedulingIfMissing':<true|false>>}}"},
    {"capacity",
     "{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity','metadata':{'uid':'#','name':"
     "'k%~','namespace':'@~'},'storageClassName':'s<0|1>~'<|,'nodeTopology':<{}|"
     "{'matchLabels':{'zone~':'$zone'}}>><|,'capacity':'<1|3>Gi'>"
     "<|||,'maximumVolumeSize':'1Gi'>}"},
    {"attachment",
     "{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment','metadata':{'uid':'#','name':"
     "'t#~'},'spec':{'attacher':'d<0|1>~.io','nodeName':'n<0|1|2>~','source':"
     "{'persistentVolumeName':'v<0|1|2>~'}}}"},
};

/* The kinds of objects: how many there can be, and how often events are about one of them. Pods of
 * the kind WALK_PROBE are never told to a scheduler but asked about again and again. */
enum walk_kind_id { WALK_NODE, WALK_POD, WALK_PROBE };
static const struct walk_kind {
    const char *rule;
    unsigned numbers, weight;
} walk_kinds[] = {
    {"node", 6, 4},         {"pod", 12, 3},       {"pending", 4, 4},         {"namespace", 3, 1},
    {"service", 6, 1},      {"controller", 3, 1}, {"replicaset", 3, 2},      {"statefulset", 3, 2},
    {"budget", 6, 1},       {"claim", 6, 2},      {"ephemeralclaim", 12, 1}, {"volume", 4, 2},
    {"storageclass", 2, 2}, {"csinode", 6, 1},    {"csidriver", 2, 1},       {"capacity", 3, 1},
    {"attachment", 3, 1},
};
enum { WALK_KINDS = sizeof walk_kinds / sizeof *walk_kinds };

#endif
