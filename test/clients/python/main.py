"""What programs do with the Python client: create, get, list, replace, patches, apply, delete, and a watch that goes
on through a restart of the server. KUBECONFIG says where that is, and RESTART is a command that kills it and starts
it again."""
import os
import shlex
import subprocess
import threading
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "python"
PATIENCE = 60


def fails_with(code, call, *args, **more):
    try:
        call(*args, **more)
    except ApiException as e:
        assert e.status == code, e
        return
    raise AssertionError(f"{call.__name__} does not fail with {code}")


def within(what, ok):
    end = time.monotonic() + PATIENCE
    while not ok():
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
        time.sleep(0.05)


def objects(core):
    core.create_namespace({"metadata": {"name": NAMESPACE}})
    made = core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": "a"}, "data": {"a": "1"}})
    fails_with(409, core.create_namespaced_config_map, NAMESPACE, {"metadata": {"name": "a"}})
    made.data = {"a": "2"}
    core.replace_namespaced_config_map("a", NAMESPACE, made)
    fails_with(409, core.replace_namespaced_config_map, "a", NAMESPACE, made)
    core.patch_namespaced_config_map("a", NAMESPACE, [{"op": "add", "path": "/data/json", "value": "x"}])
    core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"strategic": "x"}})
    got = core.read_namespaced_config_map("a", NAMESPACE)
    assert sorted(got.data) == ["a", "json", "strategic"], got.data
    assert len(core.list_namespaced_config_map(NAMESPACE, field_selector="metadata.name=a").items) == 1
    maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
    maps.patch(name="a", namespace=NAMESPACE, body={"data": {"merge": "x"}}, content_type="application/merge-patch+json")
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"applied": "x"}}
    maps.server_side_apply(name="a", namespace=NAMESPACE, body=applied, field_manager="python")
    got = core.read_namespaced_config_map("a", NAMESPACE)
    assert sorted(got.data) == ["a", "applied", "json", "merge", "strategic"], got.data
    core.delete_namespaced_config_map("a", NAMESPACE)
    fails_with(404, core.read_namespaced_config_map, "a", NAMESPACE)
    print("ok python: create, get, list, replace, patch, apply, delete")


def follow(core, version, told, done):
    """Watches as programs do: from the last version seen, and again when the stream ends."""
    while not done.is_set():
        try:
            stream = watch.Watch().stream(core.list_namespaced_config_map, NAMESPACE, label_selector="watched=yes",
                                          resource_version=version, timeout_seconds=30)
            for event in stream:
                version = event["object"].metadata.resource_version
                told.append(f"{event['type']} {event['object'].data['v']}")
                if done.is_set():
                    return
        except Exception:  # the server is away
            time.sleep(0.2)


def watched(core):
    told, done = [], threading.Event()
    version = core.list_namespaced_config_map(NAMESPACE, label_selector="watched=yes").metadata.resource_version
    thread = threading.Thread(target=follow, args=(core, version, told, done), daemon=True)
    thread.start()

    def body(value):
        return {"metadata": {"name": "w", "labels": {"watched": "yes"}}, "data": {"v": value}}

    core.create_namespaced_config_map(NAMESPACE, body("1"))
    within("an addition", lambda: "ADDED 1" in told)
    core.replace_namespaced_config_map("w", NAMESPACE, body("2"))
    within("a change", lambda: "MODIFIED 2" in told)
    subprocess.run(shlex.split(os.environ["RESTART"]), check=True)
    within("a write behind the restart", lambda: write(core, body("3")))
    within("a change behind the restart", lambda: "MODIFIED 3" in told)
    done.set()
    core.delete_namespaced_config_map("w", NAMESPACE)
    within("the deletion", lambda: "DELETED 3" in told)
    assert told == ["ADDED 1", "MODIFIED 2", "MODIFIED 3", "DELETED 3"], told
    print("ok python: a watch goes on through a restart of the server, without a gap")


def write(core, body):
    try:
        core.replace_namespaced_config_map("w", NAMESPACE, body)
        return True
    except Exception:  # connections that the old server had are broken
        return False


if __name__ == "__main__":
    config.load_kube_config(os.environ["KUBECONFIG"])
    objects(client.CoreV1Api())
    watched(client.CoreV1Api())
