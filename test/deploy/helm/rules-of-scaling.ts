import { container, isProcess } from './pods.js';
import { selects } from './network.js';
import { nameOf, ownerOf, ruleOf, those, type Rule } from './rule.js';
import type { Rendering } from './chart.js';

const NAME = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL = /^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/;

const deployments = (rendering: Rendering) => rendering.all('Deployment');

export const SCALING_RULES: readonly Rule[] = [
  ruleOf(
    deployments,
    'a Deployment selects its own pods, and no others',
    ({ metadata, spec }, rendering) => {
      const selected = rendering.pods().filter(({ labels }) => selects(spec!.selector, labels));
      return selected.map(ownerOf).join() === metadata.name;
    },
    nameOf,
  ),
  ruleOf(
    deployments,
    'a pod selector contains nothing that changes with an upgrade',
    ({ spec }) =>
      Object.keys(spec!.selector.matchLabels!).sort().join() ===
      'app.kubernetes.io/component,app.kubernetes.io/instance,app.kubernetes.io/name',
    nameOf,
  ),
  {
    sentence: 'a Deployment has the replicas of the values, or no number if an autoscaler decides',
    violations: (rendering) => {
      const scaled = [
        ...rendering.all('HorizontalPodAutoscaler').map(({ spec }) => spec!.scaleTargetRef.name),
        ...rendering.all('ScaledObject').map(({ spec }) => spec.scaleTargetRef.name),
      ];
      const names = rendering.all('Deployment').map(nameOf);
      const values = (rendering.values as { processes: Record<string, { replicas?: number }> }).processes;
      return [
        ...those(scaled, (name) => names.includes(name) && scaled.indexOf(name) === scaled.lastIndexOf(name)),
        ...those(
          rendering.all('Deployment'),
          ({ metadata, spec }) => {
            const component = metadata.labels!['app.kubernetes.io/component']!;
            const replicas = scaled.includes(metadata.name) ? undefined : (values[component]!.replicas ?? 1);
            return spec!.replicas === replicas;
          },
          nameOf,
        ),
      ];
    },
  },
  ruleOf(
    (rendering) => rendering.all('HorizontalPodAutoscaler'),
    'an autoscaler of CPU has a request of CPU to compare with',
    ({ spec }, rendering) => {
      const pod = rendering.pods().find((each) => ownerOf(each) === spec!.scaleTargetRef.name)!;
      const resource = spec!.metrics?.[0]?.resource;
      return (
        resource?.name === 'cpu' &&
        resource.target.type === 'Utilization' &&
        container(pod).resources?.requests?.['cpu'] !== undefined &&
        spec!.maxReplicas >= spec!.minReplicas!
      );
    },
    nameOf,
  ),
  ruleOf(
    (rendering) => rendering.all('ScaledObject'),
    'workers scale with the work of their own release, never to none, and to many while Prometheus is unavailable',
    ({ spec }, rendering) => {
      const [trigger] = spec.triggers;
      const metrics = rendering
        .all('Service')
        .find(({ spec: service }) => service!.publishNotReadyAddresses)!;
      return (
        spec.minReplicaCount! >= 1 &&
        spec.fallback!.replicas >= spec.minReplicaCount! &&
        trigger!.metadata['query'] ===
          `sum(max by (work) (disburse_due_work{namespace="money",service="${metrics.metadata.name}"}))` &&
        /^[1-9][0-9]*$/.test(trigger!.metadata['threshold']!) &&
        trigger!.metadata['ignoreNullValues'] === 'false'
      );
    },
    nameOf,
  ),
  {
    sentence:
      'each process has its own disruption budget, which does not block draining a single replica or unready pods',
    violations: (rendering) => {
      const budgets = rendering.all('PodDisruptionBudget');
      const own = budgets.map(({ spec }) =>
        rendering
          .pods()
          .filter(({ labels }) => selects(spec!.selector, labels))
          .map(ownerOf)
          .join(),
      );
      return [
        ...those(
          rendering.all('Deployment'),
          ({ metadata }) => own.filter((name) => name === metadata.name).length === 1,
          nameOf,
        ),
        ...those(
          budgets,
          ({ spec }) =>
            spec!.maxUnavailable === 1 &&
            spec!.minAvailable === undefined &&
            spec!.unhealthyPodEvictionPolicy === 'AlwaysAllow',
          nameOf,
        ),
        ...(own.length === rendering.all('Deployment').length ? [] : ['a budget of no process']),
      ];
    },
  },
  ruleOf(
    deployments,
    'an upgrade has a new pod ready before it ends an old one',
    ({ spec }) =>
      spec!.strategy?.rollingUpdate?.maxUnavailable === 0 && spec!.strategy.rollingUpdate.maxSurge === 1,
    nameOf,
  ),
  {
    sentence:
      'names and label values are DNS labels of at most 63 characters, and no two objects share a name',
    violations: (rendering) => {
      const ids = rendering.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      return [
        ...those(rendering.objects, ({ metadata }) => NAME.test(metadata.name), nameOf),
        ...those(
          rendering.objects.flatMap(({ metadata }) => Object.entries(metadata.labels ?? {})),
          ([, value]) => LABEL.test(value),
        ),
        ...those(ids, (id) => ids.indexOf(id) === ids.lastIndexOf(id)),
      ];
    },
  },
  ruleOf(
    ({ objects }) => objects,
    'no object names a namespace, so that all are in that of the release',
    ({ metadata }) => metadata.namespace === undefined,
    nameOf,
  ),
  ruleOf(
    ({ objects }) => objects,
    'every object has the labels of its release',
    ({ metadata }, rendering) =>
      metadata.labels?.['app.kubernetes.io/instance'] === rendering.given.name &&
      metadata.labels['helm.sh/chart'] === 'disburse-0.1.0',
    nameOf,
  ),
  {
    sentence:
      'Prometheus scrapes every process under the job of the rules, even if it is not ready, but no migration',
    violations: (rendering) => {
      const services = rendering
        .all('Service')
        .filter(({ spec }) => spec!.ports!.some(({ name }) => name === 'metrics'));
      const [service] = services;
      const scraped = rendering
        .pods()
        .filter(({ labels }) => selects({ matchLabels: service?.spec?.selector }, labels));
      const found =
        services.length === 1 &&
        service!.spec!.publishNotReadyAddresses === true &&
        scraped.length === rendering.all('Deployment').length &&
        scraped.every(isProcess);
      return [
        ...(found ? [] : ['the Service of metrics']),
        ...those(
          rendering.all('ServiceMonitor'),
          ({ spec }) =>
            rendering
              .all('Service')
              .filter(({ metadata }) => selects(spec.selector, metadata.labels!))
              .map(nameOf)
              .join() === service?.metadata.name &&
            spec.endpoints[0]!.port === 'metrics' &&
            spec.endpoints[0]!.relabelings?.[0]?.targetLabel === 'job' &&
            spec.endpoints[0]!.relabelings[0].replacement === 'disburse',
          nameOf,
        ),
      ];
    },
  },
  ruleOf(
    (rendering) => rendering.pods().filter((pod) => container(pod).resources !== undefined),
    'each process of the defaults and the sizes has resource requests and no CPU limit',
    (pod) => {
      const { requests, limits } = container(pod).resources!;
      return (
        requests?.['cpu'] !== undefined &&
        requests['memory'] !== undefined &&
        limits?.['memory'] !== undefined &&
        limits['cpu'] === undefined
      );
    },
    ownerOf,
  ),
];
