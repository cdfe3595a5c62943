// What programs do with @kubernetes/client-node: create, get, list, replace, patches, apply, delete, and an informer
// that lives through a restart of the server. KUBECONFIG says where that is, and RESTART is a command that kills
// it and starts it again.
import { execSync } from 'node:child_process';
import { strict as assert } from 'node:assert';
import * as k8s from '@kubernetes/client-node';

const namespace = 'client-node';
const patience = 60_000;
const config = new k8s.KubeConfig();
config.loadFromFile(process.env.KUBECONFIG);
const core = config.makeApiClient(k8s.CoreV1Api);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function within(what, ok) {
    for (const end = Date.now() + patience; Date.now() < end; await sleep(50)) {
        if (await ok()) return;
    }
    throw new Error(`not within ${patience} ms: ${what}`);
}

const failsWith = (code) => (e) => e.code === code;

async function objects() {
    const own = { name: 'a', namespace };
    await core.createNamespace({ body: { metadata: { name: namespace } } });
    const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' }, data: { a: '1' } } });
    await assert.rejects(core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' } } }), failsWith(409));
    await core.replaceNamespacedConfigMap({ ...own, body: { ...made, data: { a: '2' } } });
    await assert.rejects(core.replaceNamespacedConfigMap({ ...own, body: { ...made, data: { a: '3' } } }), failsWith(409));
    const patch = (body, type) => core.patchNamespacedConfigMap({ ...own, body, fieldManager: 'node', force: type === k8s.PatchStrategy.ServerSideApply || undefined },
        k8s.setHeaderOptions('Content-Type', type));
    await patch([{ op: 'add', path: '/data/json', value: 'x' }], k8s.PatchStrategy.JsonPatch);
    await patch({ data: { merge: 'x' } }, k8s.PatchStrategy.MergePatch);
    await patch({ data: { strategic: 'x' } }, k8s.PatchStrategy.StrategicMergePatch);
    await patch({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { applied: 'x' } }, k8s.PatchStrategy.ServerSideApply);
    const got = await core.readNamespacedConfigMap(own);
    assert.deepEqual(Object.keys(got.data).sort(), ['a', 'applied', 'json', 'merge', 'strategic']);
    const list = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=a' });
    assert.equal(list.items.length, 1);
    await core.deleteNamespacedConfigMap(own);
    await assert.rejects(core.readNamespacedConfigMap(own), failsWith(404));
    const any = k8s.KubernetesObjectApi.makeApiClient(config);
    await any.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace }, stringData: { a: 'b' } });
    assert.equal((await any.read({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace } })).data.a, 'Yg==');
    console.log('ok client-node: create, get, list, replace, patch, apply, delete');
}

async function informer() {
    const told = [];
    const selector = 'watched=yes';
    const watcher = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`,
        () => core.listNamespacedConfigMap({ namespace, labelSelector: selector }), selector);
    const note = (sign) => (o) => told.push(sign + o.data.v);
    watcher.on('add', note('+'));
    watcher.on('update', note('~'));
    watcher.on('delete', note('-'));
    let stopped = false;
    watcher.on('error', () => !stopped && setTimeout(() => watcher.start(), 200));
    await watcher.start();
    const body = (v) => ({ metadata: { name: 'w', labels: { watched: 'yes' } }, data: { v } });
    await core.createNamespacedConfigMap({ namespace, body: body('1') });
    await within('an addition', () => told.includes('+1'));
    await core.replaceNamespacedConfigMap({ name: 'w', namespace, body: body('2') });
    await within('a change', () => told.includes('~2'));
    execSync(process.env.RESTART);
    await core.replaceNamespacedConfigMap({ name: 'w', namespace, body: body('3') });
    await within('a change behind the restart', () => told.includes('~3'));
    await core.deleteNamespacedConfigMap({ name: 'w', namespace });
    await within('the deletion', () => told.includes('-3'));
    assert.deepEqual([...new Set(told)], ['+1', '~2', '~3', '-3']);
    stopped = true;
    await watcher.stop();
    console.log('ok client-node: an informer lives through a restart of the server');
}

await objects();
await informer();
process.exit(0);
