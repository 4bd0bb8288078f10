import { readConfig } from '../../../src/composition.js';
import { selects } from './network.js';
import { container, env, isProcess, PORT_SETTINGS, PORTS, rolesOf, SECRET } from './pods.js';
import { ownerOf, ruleOf, those, type Rule } from './rule.js';
import type { Pod, Rendering } from './chart.js';

const settings = (rendering: Rendering): Readonly<Record<string, string>> =>
  rendering.all('ConfigMap')[0]?.data ?? {};

const pods = (sentence: string, holds: (pod: Pod, rendering: Rendering) => boolean | undefined): Rule =>
  ruleOf((rendering) => rendering.pods(), sentence, holds, ownerOf);
const processes: typeof pods = (sentence, holds) =>
  pods(sentence, (pod, rendering) => !isProcess(pod) || holds(pod, rendering));

export const POD_RULES: readonly Rule[] = [
  pods(
    'no pod runs as root, and each has only the system calls of the default profile',
    ({ spec: { securityContext: context } }) =>
      context?.runAsNonRoot &&
      context.runAsUser === 1000 &&
      context.seccompProfile?.type === 'RuntimeDefault',
  ),
  pods('the root file system of a container is read-only, and it cannot gain privileges', (pod) => {
    const context = container(pod).securityContext;
    const drops = context?.capabilities?.drop?.includes('ALL') && !context.capabilities.add;
    return (
      context?.readOnlyRootFilesystem &&
      context.allowPrivilegeEscalation === false &&
      drops &&
      !context.privileged
    );
  }),
  pods('only /tmp is writable, and of limited size', (pod) => {
    const writable = container(pod).volumeMounts!.filter(({ readOnly }) => readOnly !== true);
    const volume = pod.spec.volumes!.find(({ name }) => name === writable[0]!.name);
    return (
      writable.length === 1 && writable[0]!.mountPath === '/tmp' && volume?.emptyDir?.sizeLimit !== undefined
    );
  }),
  pods(
    'no pod gets an API token of the cluster',
    (pod, rendering) =>
      pod.spec.automountServiceAccountToken === false &&
      rendering
        .all('ServiceAccount')
        .some(
          (each) => each.metadata.name === pod.spec.serviceAccountName && !each.automountServiceAccountToken,
        ),
  ),
  pods(
    'a Service named admin or portal in the namespace does not become a setting',
    ({ spec }) => spec.enableServiceLinks === false,
  ),
  pods(
    'every container runs in production mode, even with another MODE in the Secret',
    (pod) => env(pod)['MODE'] === 'production',
  ),
  processes('the labels of a pod name the roles of its process', (pod) => {
    const labelled = Object.keys(pod.labels).flatMap((name) => /^disburse\/role-(.*)$/.exec(name)?.[1] ?? []);
    return rolesOf(pod).length > 0 && labelled.sort().join() === [...rolesOf(pod)].sort().join();
  }),
  processes('a container names each port that its roles listen on, and no other', (pod) => {
    const named = container(pod).ports!.map(({ name, containerPort }) => `${name} ${containerPort}`);
    const expected = [...rolesOf(pod).flatMap((role) => PORTS[role]!), ['metrics', 9464]].map((each) =>
      each.join(' '),
    );
    return named.sort().join() === expected.sort().join();
  }),
  processes('the service listens on the ports that its container names', (pod) =>
    container(pod).ports!.every(
      ({ name, containerPort }) => env(pod)[PORT_SETTINGS[name!]!] === `${containerPort}`,
    ),
  ),
  processes('the service starts with the variables of its container', (pod, rendering) => {
    const config = readConfig({ NODE_ENV: 'production', ...settings(rendering), ...SECRET, ...env(pod) });
    return config.mode === 'production' && config.roles.join() === rolesOf(pod).join();
  }),
  pods(
    'the variables of a container come from the ConfigMap of the release and the Secret in the values',
    (pod, rendering) => {
      const [config, secret, ...rest] = container(pod).envFrom ?? [];
      const store = rendering.all('ExternalSecret')[0]?.spec?.target?.name;
      const { name } = (rendering.given.values as { secret: { name: string } }).secret;
      return (
        config?.configMapRef?.name === rendering.all('ConfigMap')[0]?.metadata.name &&
        secret?.secretRef?.name === (store ?? name) &&
        rest.length === 0
      );
    },
  ),
  {
    sentence: 'no object holds a secret, and no variable of the ConfigMap is one',
    violations: (rendering) => [
      ...rendering.all('Secret').map((each) => each.metadata.name),
      ...those(
        rendering.objects.filter(({ kind }) => kind !== 'ExternalSecret'),
        (each) => !/MASTER_KEY|DATABASE_URL|CHAIN_RPC_URL|(SECRET|TOKEN)["']?:/.test(JSON.stringify(each)),
        ({ kind }) => kind,
      ),
    ],
  },
  processes('changed settings replace the pods', ({ annotations }) =>
    /^[0-9a-f]{64}$/.test(annotations['checksum/settings'] ?? ''),
  ),
  processes(
    'SIGTERM is sent after proxies have noticed that the pod leaves, and the service has enough time to stop',
    ({ spec, ...pod }, rendering) => {
      const [sleep, seconds] = container({ spec, ...pod }).lifecycle!.preStop!.exec!.command!;
      const grace = Number(settings(rendering)['SHUTDOWN_GRACE_MS'] ?? 30_000) / 1000;
      const given = spec.terminationGracePeriodSeconds!;
      return sleep === 'sleep' && Number(seconds) >= 5 && given >= 40 && given >= Number(seconds) + grace + 5;
    },
  ),
  processes(
    'a boot may wait ten minutes for a migration, and its Deployment waits longer',
    (pod, rendering) => {
      const { periodSeconds = 10, failureThreshold = 3 } = container(pod).startupProbe!;
      const { progressDeadlineSeconds = 600 } = rendering
        .all('Deployment')
        .find((each) => each.metadata.name === ownerOf(pod))!.spec!;
      const seconds = periodSeconds * failureThreshold;
      return seconds > 600 && progressDeadlineSeconds > seconds;
    },
  ),
  processes(
    'a container gets requests while it is ready, and only a failed liveness check restarts it',
    (pod) => {
      const { startupProbe, livenessProbe, readinessProbe } = container(pod);
      const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
      return (
        paths.map((each) => each?.path).join() === '/health/live,/health/live,/health/ready' &&
        paths.every((each) => each?.port === 'metrics')
      );
    },
  ),
  pods('every image has a version other than "latest"', (pod) =>
    /^[\w./-]+(:(?!latest)[\w.-]+|@sha256:[0-9a-f]{64})$/.test(container(pod).image!),
  ),
  pods(
    'a new chart version alone replaces no pod',
    ({ labels }) =>
      labels['helm.sh/chart'] === undefined && labels['app.kubernetes.io/version'] === undefined,
  ),
  processes(
    'the pods of the present version of a process are spread over nodes and zones',
    (pod) =>
      pod.spec
        .topologySpreadConstraints!.map(({ topologyKey }) => topologyKey)
        .sort()
        .join() === 'kubernetes.io/hostname,topology.kubernetes.io/zone' &&
      pod.spec.topologySpreadConstraints!.every(
        ({ labelSelector, matchLabelKeys }) =>
          selects(labelSelector, pod.labels) &&
          labelSelector!.matchLabels!['app.kubernetes.io/component'] !== undefined &&
          matchLabelKeys?.join() === 'pod-template-hash',
      ),
  ),
];
