import { isAllowed, selects, type Peer } from './network.js';
import { container, isProcess, PORTS, rolesOf } from './pods.js';
import { ownerOf, ruleOf, those, type Rule } from './rule.js';
import type { Pod, Rendering } from './chart.js';

const CONTROLLER: Peer = { namespace: 'ingress-nginx' };
const PROMETHEUS: Peer = { namespace: 'monitoring' };
const OPERATORS: Peer = { namespace: 'ingress-internal' };
const STRANGERS: readonly Peer[] = [
  { namespace: 'default' },
  { namespace: 'money' },
  { address: '203.0.113.7' },
];
const EVERY_PORT = [...Object.values(PORTS).flat(), ['metrics', 9464] as const].map(([, port]) => port);
const METADATA = '169.254.169.254';
const RECEIVER = '203.0.113.7';

const hasPolicies = (rendering: Rendering): boolean => rendering.all('NetworkPolicy').length > 0;
const isOpen = (rendering: Rendering): boolean => hasPolicies(rendering) && !hasNoPeers(rendering);
/** Returns whether the values are those with empty lists. */
const hasNoPeers = (rendering: Rendering): boolean =>
  rendering.all('NetworkPolicy').every(({ spec }) => !spec!.ingress && !spec!.egress);
/** Returns whether the values replace the default hosts of egress. */
const hasOwnEgress = ({ given }: Rendering): boolean =>
  (given.values['networkPolicy'] as { egress?: unknown } | undefined)?.egress !== undefined;
const portsOf = (pod: Pod): readonly number[] =>
  rolesOf(pod).flatMap((role) => PORTS[role]!.map(([, port]) => port));

type Holds = (pod: Pod, reaches: (peer: Peer, port: number) => boolean, rendering: Rendering) => boolean;

/** A rule for the traffic of each pod, where it applies. */
const traffic = (
  direction: 'Ingress' | 'Egress',
  applies: (rendering: Rendering) => boolean,
  sentence: string,
  holds: Holds,
): Rule =>
  ruleOf(
    (rendering) => (applies(rendering) ? rendering.pods() : []),
    sentence,
    (pod, rendering) =>
      holds(pod, (peer, port) => isAllowed(rendering, direction, pod, peer, port), rendering),
    ownerOf,
  );
/** A rule for the ports that a peer reaches, and for those that it does not. */
const reachedBy = (
  peer: Peer,
  applies: (rendering: Rendering) => boolean,
  sentence: string,
  isReached: (pod: Pod, port: number, rendering: Rendering) => boolean,
): Rule =>
  traffic('Ingress', applies, sentence, (pod, reaches, rendering) =>
    EVERY_PORT.every((port) => reaches(peer, port) === isReached(pod, port, rendering)),
  );

export const NETWORK_RULES: readonly Rule[] = [
  {
    sentence: 'the Service of each role with a port leads to all pods with that role',
    violations: (rendering) => {
      const roles = [...new Set(rendering.pods().flatMap(rolesOf))].filter((role) => PORTS[role]!.length > 0);
      return roles.flatMap((role) => {
        const service = rendering
          .all('Service')
          .find(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === role);
        const reached = rendering
          .pods()
          .filter(({ labels }) => selects({ matchLabels: service?.spec?.selector }, labels));
        const expected = rendering.pods().filter((pod) => rolesOf(pod).includes(role));
        const ports = (service?.spec?.ports ?? []).map(({ name, port }) => `${name} ${port}`);
        const leads = (service?.spec?.ports ?? []).every(({ targetPort }) =>
          reached.every((pod) => container(pod).ports!.some(({ name }) => name === targetPort)),
        );
        const isRight =
          leads &&
          reached.map(ownerOf).join() === expected.map(ownerOf).join() &&
          ports.sort().join() === PORTS[role]!.map((each) => each.join(' ')).join();
        return isRight ? [] : [role];
      });
    },
  },
  traffic('Ingress', hasPolicies, 'a pod is reached by no peer that no policy allows', (_, reaches) =>
    STRANGERS.every((peer) => EVERY_PORT.every((port) => !reaches(peer, port))),
  ),
  traffic('Egress', hasPolicies, 'a pod reaches no port that no policy allows', (_, reaches) =>
    [22, 25, 80, 6443].every((port) => !reaches({ address: RECEIVER }, port)),
  ),
  reachedBy(
    CONTROLLER,
    isOpen,
    'the ingress controller reaches the API and the pages, and never the admin API or metrics',
    (pod, port) => portsOf(pod).includes(port) && port !== 3003,
  ),
  reachedBy(
    OPERATORS,
    hasPolicies,
    'operators reach only the admin API, and no client reaches it if no peers are named',
    (pod, port, { values }) =>
      (values as { networkPolicy: { operators: unknown[] } }).networkPolicy.operators.length > 0 &&
      rolesOf(pod).includes('admin') &&
      port === 3003,
  ),
  reachedBy(
    PROMETHEUS,
    isOpen,
    'Prometheus reaches the metrics of every process, and nothing else',
    (pod, port) => isProcess(pod) && port === 9464,
  ),
  traffic(
    'Egress',
    (rendering) => isOpen(rendering) && !hasOwnEgress(rendering),
    'every process and the migration reach DNS and the database, and processes also reach the chain',
    (pod, reaches) =>
      reaches({ namespace: 'kube-system' }, 53) &&
      reaches({ namespace: 'databases' }, 5432) &&
      reaches({ address: '10.1.2.3' }, 5432) &&
      reaches({ address: RECEIVER }, 443) === isProcess(pod),
  ),
  traffic(
    'Egress',
    isOpen,
    'no process reaches the metadata service of the machine or receivers in private networks',
    (_, reaches) =>
      [53, 80, 443, 5432].every((port) => !reaches({ address: METADATA }, port)) &&
      ['10.1.2.3', '172.20.1.1', '192.168.1.1', 'fd00::1'].every((address) => !reaches({ address }, 443)),
  ),
  traffic(
    'Egress',
    ({ given }) =>
      (given.values['networkPolicy'] as { egress?: { more?: unknown } } | undefined)?.egress?.more !==
      undefined,
    'a worker reaches webhook receivers even if the chain is elsewhere, and the portal reaches none',
    (pod, reaches) =>
      reaches({ address: RECEIVER }, 443) === rolesOf(pod).some((role) => role !== 'portal') &&
      reaches({ namespace: 'chain' }, 8545) === isProcess(pod) &&
      reaches({ namespace: 'tracing' }, 4318) === isProcess(pod) &&
      reaches({ namespace: 'money', labels: { 'cnpg.io/cluster': 'db' } }, 2113) &&
      !reaches({ namespace: 'other', labels: { 'cnpg.io/cluster': 'db' } }, 2113),
  ),
  ruleOf(
    (rendering) =>
      rendering
        .all('NetworkPolicy')
        .flatMap(({ spec }) => [
          ...(spec!.ingress ?? []).map(({ from, ports }) => [from, ports]),
          ...(spec!.egress ?? []).map(({ to, ports }) => [to, ports]),
        ]),
    'a rule without peers or ports is omitted, because it would allow everybody and everything',
    ([peers, ports]) => peers!.length > 0 && ports!.length > 0,
  ),
  ruleOf(
    backends,
    'an Ingress leads each host to the port of its existing Service',
    ({ service, port }, rendering) =>
      rendering
        .all('Service')
        .some(
          ({ metadata, spec }) => metadata.name === service && spec!.ports!.some(({ name }) => name === port),
        ),
  ),
  {
    sentence: 'the admin API has a separate Ingress, and TRUST_PROXY is set if there is any Ingress',
    violations: (rendering) => [
      ...those(backends(rendering), ({ ingress, port }) => /-admin$/.test(ingress) === (port === 'admin')),
      ...those(
        rendering.all('Ingress'),
        () => (rendering.all('ConfigMap')[0]?.data?.['TRUST_PROXY'] ?? '') !== '',
        ({ metadata }) => metadata.name,
      ),
    ],
  },
];

interface Backend {
  readonly ingress: string;
  readonly host: string;
  readonly service: string;
  readonly port: string;
}

function backends(rendering: Rendering): readonly Backend[] {
  return rendering.all('Ingress').flatMap(({ metadata, spec }) =>
    spec!.rules!.flatMap(({ host, http }) =>
      http!.paths.map(({ backend }) => ({
        ingress: metadata.name,
        host: host!,
        service: backend.service!.name,
        port: backend.service!.port!.name!,
      })),
    ),
  );
}
