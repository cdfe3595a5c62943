/*
 * Every limit on what comes from outside, in one place: its value, its reason, and, somewhere in
 * test/limit or test/unit, the test that tries both sides of it (tools/check-limits sees to it).
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* One API object as JSON text: what kube-apiserver takes in a request body (3 MiB). */
#define LIMIT_OBJECT_BYTES (3U << 20)

/* Elements of all lists of one decoded object: a container is 368 bytes, also one that was written
 * as {}. The shortest containers that an API server takes make a third of it. */
#define LIMIT_DECODED_BYTES (128U << 20)

/* Operations of one JSON patch, as kube-apiserver takes them. */
#define LIMIT_PATCH_OPERATIONS 10000

/* Bytes that the copy operations of one JSON patch may add to an object: kube-apiserver's limit,
 * which is that of a request body. A dozen of them would otherwise make gigabytes. */
#define LIMIT_PATCH_COPY_BYTES (3U << 20)

/* Why a patch was refused, of which upstream's texts may show the whole patch, twice and as a Go
 * map. Longer texts are cut. */
#define LIMIT_PATCH_ERROR_BYTES (16U << 20)

/* Nesting of arrays and objects: real manifests stay below 30; deeper ones only cost stack in
 * whoever reads our output. Go's decoder stops at 10,000. */
#define LIMIT_JSON_DEPTH 1000

/* Nesting in YAML: real manifests stay below 30, and nobody writes more by hand. */
#define LIMIT_YAML_DEPTH 128

/* JSON nodes that aliases and merge keys of one YAML document may add: stops "billion laughs". */
#define LIMIT_YAML_ALIAS_NODES 100000

/* Decimal digits of a sum or difference of quantities, counted from the finest place of either
 * operand: 1e100000000 + 1 has a hundred million of them. Real quantities have fewer than 30. */
#define LIMIT_QUANTITY_DIGITS 4096

/* Text of what is wrong with one requirement of a label selector: upstream lists every bad value
 * with a sentence of 300 bytes, so bad input would grow a hundredfold. Longer texts are cut. */
#define LIMIT_SELECTOR_ERROR_BYTES (1U << 20)

/* Field errors that one verdict lists; how many more were found is said behind them. An object can
 * have hundreds of thousands, and whoever mends one mends them a few at a time. */
#define LIMIT_FIELD_ERRORS 10000

/* Texts of the field errors that one verdict lists, but for the last of them: an error may quote a
 * whole list, once for each of its items. An answer of the API server has them twice. */
#define LIMIT_FIELD_ERROR_BYTES (8U << 20)

/* Warnings that one object gets; how many more there were is said behind them. An object can earn a
 * million, of 300 bytes each. */
#define LIMIT_WARNINGS 10000

/* A struct that is shown in a diff, as a tree and as a text in which every field has a line: a pod
 * of a hundred containers takes some 200 KiB. The error of one that is longer has no diff. */
#define LIMIT_DIFF_BYTES (4U << 20)

/* Pairs of equal lines that are looked at for one diff in an error text, 16 bytes each: texts that
 * repeat themselves have as many as the product of their lengths. Without the diff the error still
 * says what is wrong. A quarter second. */
#define LIMIT_DIFF_PAIRS (4U << 20)

/* Texts of field errors that one validation writes, also of those that repeat another and are
 * listed once, or that are too long to be listed whole. About a quarter second. */
#define LIMIT_FIELD_ERROR_WORK (16U << 20)

/* Memory of the objects that are made anew to find out which feature gate would change a verdict.
 * That takes some twenty of them; objects above ten megabytes get no more such hints. */
#define LIMIT_HINT_BYTES (256U << 20)

/* Directives (%TAG) in front of one YAML document: each is compared with all others. */
#define LIMIT_YAML_DIRECTIVES 64

/* Memory of one CEL evaluation: the limit of its cost alone would let some calls take more. */
#define LIMIT_CEL_EVAL_BYTES (64U << 20)

/* Text of one CEL error: it may quote a value of any length. Longer texts are cut. */
#define LIMIT_CEL_ERROR_BYTES (64U << 10)

/* Work of one CEL evaluation that its cost does not see, in bytes read: size() of a string costs 1
 * at any length, and so does compiling a pattern, comparing lists of long lists, or a probe of a
 * map. About half a second. */
#define LIMIT_CEL_EVAL_WORK (1U << 28)

/* Memory that RE2 may use for one pattern of a CEL expression: its own default. Go's programs are
 * smaller where a class has many ranges, so it takes some patterns that are refused here. */
#define LIMIT_CEL_REGEX_BYTES (8U << 20)

/* Instructions of all constant patterns of one CEL expression, which can ask for 70 seconds of
 * compiling in 10 KiB; these are half a second and 32 MiB. */
#define LIMIT_CEL_REGEX_STEPS (1U << 20)

/* Types that the type of a part of a CEL expression is made of: each {a: a} in a chain of macros
 * doubles it, so that 10 KiB ask for more steps than there can be. Honest ones have a few. */
#define LIMIT_CEL_TYPE_SIZE 1000

/* Digits that a clause of CEL's format may ask for: upstream writes a gigabyte for "%.999999999f"
 * at the cost of one. A double has 1,074 decimals at most. */
#define LIMIT_CEL_FORMAT_PRECISION 10000

/* Texts of the parts of one expression that `berth cel --explain` compiles, each part counted again
 * in every whole: depth and length of an expression multiply. A tenth second; expressions that a
 * toleration can have stay below it. */
#define LIMIT_CEL_PARTS_BYTES (1U << 20)

/* What `berth cel` prints before it stops to tell of the parts for further taints, a quarter second
 * of writing. */
#define LIMIT_CEL_REPORT_BYTES (16U << 20)

/* A CEL expression in a toleration: KEP-5500's 10 KiB, the length of DRA's selectors. */
#define LIMIT_TOLERATION_EXPRESSION_BYTES (10U << 10)

/* Compiling of all expressions of one pod, in bytes of text that take as long: nodes that macros
 * copy and instructions of patterns count with the text, and every expression as 1 KiB at least.
 * About half a second, and 256 expressions; honest pods have a few short ones. */
#define LIMIT_TOLERATION_COMPILE_BYTES (256U << 10)

/* What one of them counts at least: an environment is set up for each, however short it is. */
#define LIMIT_TOLERATION_COMPILE_LEAST 1024U

/* The same for an object with other expressions: those that select devices, those of webhooks and
 * policies. A sixteenth of what is said about bad ones counts with them. About half a second, and
 * 1,024 expressions; large policies have some dozens. */
#define LIMIT_OBJECT_COMPILE_BYTES (256U << 10)

/* What one of them counts at least. */
#define LIMIT_OBJECT_COMPILE_LEAST 256U

/* Cost of all expressions of a pod on all taints of a node; each evaluation has an equal share, and
 * none more than KEP-5500's 1,000,000. That of the match conditions of a webhook, whose expressions
 * are like these. */
#define LIMIT_TOLERATION_COST 2500000

/* Memory of the cache of compiled toleration expressions, beside its newest entry: a plain one
 * takes a kilobyte, the errors of a bad one up to a megabyte. */
#define LIMIT_TOLERATION_CACHE_BYTES (8U << 20)

/* Text of what is wrong with the terms of a node selector: upstream lists every bad value with a
 * sentence of 300 bytes, so bad input would grow a hundredfold. Longer texts are cut. */
#define LIMIT_NODE_SELECTOR_ERROR_BYTES (1U << 20)

/* The message of a pod that fits nowhere, or of a namespace that does not go: reasons name
 * resources and drivers, or finalizers, of which a cluster may have many. Longer texts are cut. */
#define LIMIT_MESSAGE_BYTES (1U << 20)

/* What berth match says about the taints of one pair of a pod and a node, but for the last
 * sentence: each taint is held against each toleration, and manifests have room for a hundred
 * thousand of both. How much more there is to say follows as a number. */
#define LIMIT_MATCH_PAIR_BYTES (8U << 20)

/* The same for all pairs of one run, about a second; every further pair has its number. A pod of
 * ten tolerations on 5,000 nodes of five taints takes a megabyte. */
#define LIMIT_MATCH_REPORT_BYTES (64U << 20)

/* Pairs of a pod and a node in one report: 2,000 pods on 5,000 nodes. The report of more would be
 * gigabytes that nobody reads. */
#define LIMIT_MATCH_PAIRS 10000000

/* Pods that one run makes of workload templates, which can ask for two billion in ten lines: as
 * many as Kubernetes promises to carry in a whole cluster. */
#define LIMIT_EXPANDED_PODS 150000

/* Pods that `berth schedule --replicas-that-fit` places before it ends to count: nodes may say that
 * they take any number. As many as one run makes of templates. */
#define LIMIT_FITTING_PODS 150000

/* Nodes that `berth schedule --node-template` adds: after each, all pods that still wait may be
 * tried again. Node groups of clouds have fewer. */
#define LIMIT_ADDED_NODES 1000

/* Memory of what one run makes of workload templates. Replicas that differ only in their names
 * share all but the body of a pod. Members that are numbered or have a node of their own count with
 * all that their template says, as the scheduler compiles it for each, and claims with theirs:
 * 85,000 daemons of 2.5 KiB, or 60,000 of 5 KiB, where honest templates have 2 to 5; or 38,000
 * members of a StatefulSet or an Indexed Job, which are each a class of its own. */
#define LIMIT_EXPANDED_BYTES (512U << 20)

/* One amount of a resource (100P; of cpu a thousandth of it): larger ones would leave 64 bits when
 * they are added up, and upstream takes what comes out for a small or a negative amount. */
#define LIMIT_RESOURCE_AMOUNT 100000000000000000

/* Memory of what the scheduler remembers of nodes for classes of pods, beside the class at hand;
 * the least recently used go first. A class takes some 1,500 bytes, and 1 byte per node or 17 to 37
 * if it has scores, so these are about 500 classes on 5,000 nodes. */
#define LIMIT_SCHED_EVAL_BYTES (64U << 20)

/* What is remembered of the storage capacities that nodes reach. Nodes of which each reaches many
 * ask again when that is full; real clusters need some bytes for each node. */
#define LIMIT_SCHED_REACH_BYTES (16U << 20)

/* Pods and nodes that the search for changes of `berth explain` compiles before it ends, in bytes:
 * each of its up to 1,200 steps compiles a changed copy. Pods and nodes of 10 KiB together stay
 * below half of it. */
#define LIMIT_SUGGEST_BYTES (32U << 20)

/* Extended resources, huge pages and the like that one pod asks for, containers counted one by one:
 * every name is a column of figures of all nodes. Real pods name fewer than ten. */
#define LIMIT_POD_RESOURCES 1000

/* Terms of pod affinity and anti-affinity of one pod, in all four lists: every other topologyKey is
 * a column of all nodes and every other selector a set of pods. Real pods have fewer than ten. */
#define LIMIT_POD_AFFINITY_TERMS 1000

/* Topology spread constraints of a pod to be placed, each such a term. Real pods have two. */
#define LIMIT_POD_SPREAD_CONSTRAINTS 1000

/* Requirements on nodes of a pod to be placed, in its nodeSelector and the terms of node affinity,
 * or of a PersistentVolume: each node is held against each, by an explanation several times. Real
 * ones have fewer than twenty; a requirement may have any number of values. */
#define LIMIT_POD_NODE_REQUIREMENTS 1000

/* Tolerations of a pod to be placed: each is compared with each taint of each node, and an
 * expression may be evaluated each time. Real pods have fewer than fifty. */
#define LIMIT_POD_TOLERATIONS 1000

/* Taints of one node, for the same reason. Real nodes have fewer than ten. */
#define LIMIT_NODE_TAINTS 1000

/* Volumes of a pod to be placed: each may be a claim for which all volumes of the cluster are
 * looked at. Nodes attach fewer than 300. */
#define LIMIT_POD_VOLUMES 1000

/* Findings of one plug-in on one node in an explanation: a pod may have a thousand terms or
 * tolerations, and each node may have other values. What is left out is said to be. */
#define LIMIT_EXPLAIN_FINDINGS 32U

/* Values of one requirement that an explanation shows: it may have tens of thousands, and each node
 * may fail it with another value. How many there are is told. */
#define LIMIT_EXPLAIN_VALUES 32U

/* One sentence of an explanation, in which texts may be long. Longer ones are cut, and say so. */
#define LIMIT_SENTENCE_BYTES (32U << 10)

/* Items of one list of a KubeSchedulerConfiguration: profiles, plug-ins, resources to score,
 * default constraints. Each may be held against each node; real ones have fewer than fifty. */
#define LIMIT_CONFIG_ITEMS 1000

/* One report of `berth explain`, beside its last item, where groups of nodes, nodes and scores are
 * items: what else there would be is counted. 25,000 nodes with all their verdicts fit. */
#define LIMIT_REPORT_BYTES (128U << 20)

/* Connections of a server: each takes a descriptor and, with TLS, 25 to 50 KiB. kubelets and
 * controllers of 5,000 nodes have some 10,000. Further ones are closed at once. */
#define LIMIT_NET_CONNECTIONS 50000

/* Connections of a server on one of its loops, which are given them in turn. */
#define LIMIT_NET_LOOP_CONNECTIONS 20000

/* The head of a request: Go's default (http.DefaultMaxHeaderBytes). */
#define LIMIT_NET_HEAD_BYTES (1U << 20)

/* Headers of a request: each takes 32 bytes, and looking for one looks at all. Real requests have
 * fewer than thirty. */
#define LIMIT_NET_HEADERS 1000

/* Streams that a peer may have open on one connection of HTTP/2: what kube-apiserver allows, and
 * what clients assume before they are told. */
#define LIMIT_NET_STREAMS 100

/* Streams that a peer may break off on one connection at once: more is "rapid reset", which asks
 * for work that nobody waits for. Default of later nghttp2. */
#define LIMIT_NET_RESETS 1000

/* How many of them are forgotten in each second. Default of later nghttp2, too. */
#define LIMIT_NET_RESETS_PER_SECOND 33

/* Answers to PING and SETTINGS that may wait for a peer of HTTP/2: nghttp2's default. */
#define LIMIT_NET_ACKS 1000

/* Bytes of a body that a peer of HTTP/2 may send before the handler asks for it: what
 * kube-apiserver gives a stream, as 99 of 100 bodies are shorter. */
#define LIMIT_NET_WINDOW_BYTES (256U << 10)

/* What is left of a body when its request is answered, and is read so that the connection can be
 * used again: as Go does. A connection with more is closed. */
#define LIMIT_NET_REST_BYTES (256U << 10)

/* Bytes of a stream that wait for the peer before the stream is called full: a hundred events of a
 * watch. */
#define LIMIT_NET_STREAM_BYTES (256U << 10)

/* Bytes of a connection that wait for the socket before no more are made of answers, and nothing
 * more is read: what a fast peer takes in a millisecond. Parts of answers that are counted and not
 * copied may go beyond it by one answer. */
#define LIMIT_NET_OUT_BYTES (128U << 10)

/* Bytes that TLS makes of one call before the connection breaks: a turn gathers 64 KiB and a
 * record, and a handshake has a chain of certificates and the names of authorities, some 100 KiB
 * at most. A peer that asks for new keys without end would be answered without end. */
#define LIMIT_NET_SEALED_BYTES (1U << 20)

/* A message that a peer sends on a WebSocket. They are not even kept; browsers send none. */
#define LIMIT_NET_WEBSOCKET_BYTES (64U << 10)

/* Seconds for a TLS handshake: three round trips around the world and a slow signature. */
#define LIMIT_NET_HANDSHAKE_SECONDS 10

/* Seconds for the head of a request, against peers that send it byte by byte: as kube-apiserver. */
#define LIMIT_NET_HEAD_SECONDS 32

/* Seconds for the body of a request: kube-apiserver's time for a whole request. */
#define LIMIT_NET_BODY_SECONDS 60

/* Seconds that a connection without requests stays open: as kube-apiserver. */
#define LIMIT_NET_IDLE_SECONDS 90

/* Seconds in which a peer takes nothing of what waits for it. */
#define LIMIT_NET_STALL_SECONDS 60
/* Strings that are compared to find out whether somebody grants more than they have: the lists of a
 * rule multiply, so that a role of 3 MiB has more parts than could ever be looked at. Half a
 * second; real roles need some thousands. */
#define LIMIT_AUTH_COVER_STEPS (32U << 20)

/* Text of what somebody may not grant to others, a line for each resource. Longer texts are cut. */
#define LIMIT_AUTH_ESCALATION_BYTES (1U << 20)

/* A certificate, key or list of tokens that is read from a file. Real ones have some kilobytes; a
 * list of 10,000 tokens has a megabyte. */
#define LIMIT_AUTH_FILE_BYTES (4U << 20)

/* Certificates that a client may show of itself and of authorities above it: each is verified.
 * Real chains have up to four. */
#define LIMIT_AUTH_CLIENT_CHAIN 10U

/* A bearer token: those of service accounts have a kilobyte or two, and the headers of a request
 * are not much longer than this. */
#define LIMIT_AUTH_TOKEN_BYTES (64U << 10)

/* Tokens whose good signature is remembered, 32 bytes each: that of a key takes longer to verify
 * than all else that is done for a GET. The pods of a thousand components use as many at a time. */
#define LIMIT_AUTH_VERIFIED_TOKENS 1024U

/* Records of a file of tokens, each with its user: a cluster has some dozens. */
#define LIMIT_AUTH_FILE_TOKENS 100000U

/* Requests that the scheduler has under way: a turn of the API server's core executes some thousand
 * of them. Then no more pods are decided about until answers come. */
#define LIMIT_SCHEDULER_CALLS 1000

/* Resources of a store: Kubernetes has some seventy. They are the bits of a set. */
#define LIMIT_STORE_RESOURCES 256

/* Nodes that `berth up` makes to begin with: ten times as many as upstream is tested with. */
#define LIMIT_SIMULATED_NODES 50000

/* Pools of simulated nodes: each look at a node asks all of them whether it is theirs. */
#define LIMIT_NODE_POOLS 64

/* Things that differ between the nodes of a pool, and values that each of them may have. */
#define LIMIT_NODE_POOL_VARIATIONS 64

/* Values of one of these: as many as a cluster has racks, and more. */
#define LIMIT_NODE_POOL_VALUES 1000

/* How much faster the time of a cluster may run: at this, Leases of ten nodes are renewed a
 * thousand times a second, and the loops' milliseconds are seconds. */
#define LIMIT_CLUSTER_SPEED 1000

/* Pods of a cluster, and claims, from which on controllers make no more of them: a workload may ask
 * for two billion in ten lines. As many pods as Kubernetes promises to carry. */
#define LIMIT_MANAGED_OBJECTS 150000

/* Commands of containers whose doings are told without running them: what is longer is a program
 * and no example, and each look at a pod reads it again. */
#define LIMIT_SIMULATED_COMMAND_BYTES 4096

/* Words of one command or statement among these, for the same reason. */
#define LIMIT_SIMULATED_COMMAND_WORDS 64

/* Objects whose time is over that are deleted at once: some milliseconds of the core's thread. */
#define LIMIT_STORE_EXPIRE 500

/* Events in the log of one resource. Upstream's watch cache keeps 102,400. */
#define LIMIT_STORE_LOG_EVENTS 100000

/* Memory of objects that only the logs of changes keep. When they take a quarter of it, events are
 * kept for 75 seconds instead of five minutes; when they take all of it, the oldest events of the
 * largest log go. The leases of 5,000 nodes are 56 MiB in 75 seconds. */
#define LIMIT_STORE_LOG_BYTES (64U << 20)

/* Pairs of ports, or of files of a volume, that a server compares with each other to warn of those
 * which are in each other's way: more than any pod has, and some milliseconds. */
#define LIMIT_WARNED_PAIRS 1000000U

/* Encoded bytes that a store's objects keep, those that were read last: some 10,000 pods that are
 * read again and again. */
#define LIMIT_STORE_READ_BYTES (64U << 20)

/* Objects that were written in the last seconds, with their encoded bytes: some 3,000 pods, so that
 * watchers may be a tenth of a second behind the fastest writers before anything is encoded again.
 */
#define LIMIT_STORE_WRITTEN_BYTES (32U << 20)

/* Lines for the audit log that wait for the disk, in bytes: what does not fit is dropped and
 * counted, so that a slow disk neither stops the server nor fills its memory. */
#define LIMIT_AUDIT_QUEUE_BYTES (64U << 20)

/* Amounts that the LimitRanges of a namespace set in one pod or compare with those of its
 * containers, and containers that they look at. The annotations and the size of an object leave
 * room for fewer in a pod. */
#define LIMIT_RANGE_AMOUNTS 500000

/* What is told of them in an annotation: more than all annotations of an object may have together,
 * so that one that was cut is refused as the whole one would have been. */
#define LIMIT_RANGE_TOLD_BYTES (300U << 10)

/* What is told of what LimitRanges refuse in one object. */
#define LIMIT_RANGE_FAULT_BYTES (1U << 20)

/* A file with an audit policy: those of large clusters have some dozens of kilobytes. */
#define LIMIT_AUDIT_POLICY_BYTES (1U << 20)

/* What a check of a store's file lists; how much more there is, is told. */
#define LIMIT_STORE_FINDINGS 100

/* The addresses of a range that services get theirs from are counted, four bytes each: 2^20 as
 * kube-apiserver once allowed. */
#define LIMIT_SERVICE_RANGE_BITS 20

/* Addresses at ports that one service's Endpoints are put together of, when ports that all have the
 * same addresses count as one; and ports that it has in its pods, where pods with the same ports
 * count as one. Endpoints keep 1,000 addresses, and services have a port or two. */
#define LIMIT_ENDPOINT_PAIRS (1U << 20)

/* Labels and annotations in all EndpointSlices of a service that are written at a time: each has
 * those of the service or its Endpoints, of which there may be megabytes. Real ones have a dozen.
 */
#define LIMIT_SLICE_LABEL_BYTES (16U << 20)

/* Files that $KUBECONFIG may name. People have one for each cluster that they look after. */
#define LIMIT_KUBECONFIG_FILES 1000

/* One event of a watch, or an answer that is one object: an object as a server takes it, with what
 * the server notes in it (its managers). */
#define LIMIT_CLIENT_EVENT_BYTES (8U << 20)

/* The answer to a request, which may be a list: 12,000 pods of 5 KiB. Longer lists are asked for in
 * parts. */
#define LIMIT_CLIENT_ANSWER_BYTES (64U << 20)

/* Objects that are read page by page for one answer, so that a server which never comes to an end
 * does not fill the memory. Kubernetes is made for 150,000 pods. */
#define LIMIT_CLIENT_LISTED 2000000U

/* How often a request is sent again because the server said when to come again; as client-go, so
 * that a server that is always busy is at last told of as such. */
#define LIMIT_CLIENT_RETRIES 10

/* How many seconds behind an answer a server may want the request again. Whoever is told to come
 * much later is told so, rather than held up by a server, or something before it, for a day. */
#define LIMIT_CLIENT_RETRY_SECONDS 60

#endif
