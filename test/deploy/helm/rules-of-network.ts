import { isAllowed, selects, type Peer } from './network.js';
import { container, isProcess, PORTS, rolesOf } from './pods.js';
import { those, type Rule } from './rule.js';
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

const nameOf = ({ owner }: Pod): string => owner.metadata.name;
const hasPolicies = (rendering: Rendering): boolean => rendering.all('NetworkPolicy').length > 0;
const isOpen = (rendering: Rendering): boolean => hasPolicies(rendering) && !hasNoPeers(rendering);
/** The set of values with empty lists. */
const hasNoPeers = (rendering: Rendering): boolean =>
  rendering.all('NetworkPolicy').every(({ spec }) => !spec!.ingress && !spec!.egress);
/** Sets with their own hosts of egress in place of the defaults. */
const hasOwnEgress = ({ given }: Rendering): boolean =>
  (given.values['networkPolicy'] as { egress?: unknown } | undefined)?.egress !== undefined;
const portsOf = (pod: Pod): readonly number[] =>
  rolesOf(pod).flatMap((role) => PORTS[role]!.map(([, port]) => port));

/** Names of the pods that break the condition, where the rule applies. */
const wrongPods = (
  rendering: Rendering,
  applies: boolean,
  holds: (pod: Pod) => boolean,
): readonly string[] => (applies ? those(rendering.pods(), holds, nameOf) : []);

export const NETWORK_RULES: readonly Rule[] = [
  {
    sentence: 'a Service of each role with a port leads to the pods with that role, alone or among others',
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
          reached.map(nameOf).join() === expected.map(nameOf).join() &&
          ports.sort().join() === PORTS[role]!.map((each) => each.join(' ')).join();
        return isRight ? [] : [role];
      });
    },
  },
  {
    sentence: 'every pod is denied what no policy allows it',
    violations: (rendering) =>
      wrongPods(
        rendering,
        hasPolicies(rendering),
        (pod) =>
          STRANGERS.every((peer) =>
            EVERY_PORT.every((port) => !isAllowed(rendering, 'Ingress', pod, peer, port)),
          ) &&
          [22, 25, 80, 6443].every(
            (port) => !isAllowed(rendering, 'Egress', pod, { address: RECEIVER }, port),
          ),
      ),
  },
  {
    sentence: 'the ingress controller reaches the API and the pages, and never the admin API or metrics',
    violations: (rendering) =>
      wrongPods(rendering, isOpen(rendering), (pod) =>
        EVERY_PORT.every(
          (port) =>
            isAllowed(rendering, 'Ingress', pod, CONTROLLER, port) ===
            (portsOf(pod).includes(port) && port !== 3003),
        ),
      ),
  },
  {
    sentence: 'operators reach the admin API alone, and no peer does where none are named',
    violations: (rendering) => {
      const { operators } = (rendering.values as { networkPolicy: { operators: unknown[] } }).networkPolicy;
      return wrongPods(rendering, hasPolicies(rendering), (pod) =>
        EVERY_PORT.every(
          (port) =>
            isAllowed(rendering, 'Ingress', pod, OPERATORS, port) ===
            (operators.length > 0 && rolesOf(pod).includes('admin') && port === 3003),
        ),
      );
    },
  },
  {
    sentence: 'Prometheus reaches the metrics of every process, and nothing else',
    violations: (rendering) =>
      wrongPods(rendering, isOpen(rendering), (pod) =>
        EVERY_PORT.every(
          (port) =>
            isAllowed(rendering, 'Ingress', pod, PROMETHEUS, port) === (isProcess(pod) && port === 9464),
        ),
      ),
  },
  {
    sentence: 'every process and the migration reach DNS and the database, and processes the chain',
    violations: (rendering) =>
      wrongPods(rendering, isOpen(rendering) && !hasOwnEgress(rendering), (pod) => {
        const reaches = (peer: Peer, port: number): boolean =>
          isAllowed(rendering, 'Egress', pod, peer, port);
        return (
          reaches({ namespace: 'kube-system' }, 53) &&
          reaches({ namespace: 'databases' }, 5432) &&
          reaches({ address: '10.1.2.3' }, 5432) &&
          reaches({ address: RECEIVER }, 443) === isProcess(pod)
        );
      }),
  },
  {
    sentence: 'no process reaches the metadata of the machine, or receivers in private networks',
    violations: (rendering) =>
      wrongPods(
        rendering,
        isOpen(rendering),
        (pod) =>
          [53, 80, 443, 5432].every(
            (port) => !isAllowed(rendering, 'Egress', pod, { address: METADATA }, port),
          ) &&
          ['10.1.2.3', '172.20.1.1', '192.168.1.1', 'fd00::1'].every(
            (address) => !isAllowed(rendering, 'Egress', pod, { address }, 443),
          ),
      ),
  },
  {
    sentence: 'a worker reaches receivers where the chain is elsewhere, and the portal none',
    violations: (rendering) =>
      wrongPods(
        rendering,
        (rendering.given.values['networkPolicy'] as { egress?: { more?: unknown } } | undefined)?.egress
          ?.more !== undefined,
        (pod) => {
          const reaches = (peer: Peer, port: number): boolean =>
            isAllowed(rendering, 'Egress', pod, peer, port);
          const needsPublic = rolesOf(pod).some((role) => role !== 'portal');
          return (
            reaches({ address: RECEIVER }, 443) === needsPublic &&
            reaches({ namespace: 'chain' }, 8545) === isProcess(pod) &&
            reaches({ namespace: 'tracing' }, 4318) === isProcess(pod) &&
            reaches({ namespace: 'money', labels: { 'cnpg.io/cluster': 'db' } }, 2113) &&
            !reaches({ namespace: 'other', labels: { 'cnpg.io/cluster': 'db' } }, 2113)
          );
        },
      ),
  },
  {
    sentence: 'a rule without peers or ports, which would be everybody and everything, is left out',
    violations: (rendering) =>
      those(
        rendering
          .all('NetworkPolicy')
          .flatMap(({ spec }) => [
            ...(spec!.ingress ?? []).map(({ from, ports }) => [from, ports]),
            ...(spec!.egress ?? []).map(({ to, ports }) => [to, ports]),
          ]),
        ([peers, ports]) => peers!.length > 0 && ports!.length > 0,
      ),
  },
  {
    sentence: 'an Ingress leads to ports of Services that are there, each host to its own',
    violations: (rendering) =>
      those(backends(rendering), ({ service, port }) =>
        rendering
          .all('Service')
          .some(
            ({ metadata, spec }) =>
              metadata.name === service && spec!.ports!.some(({ name }) => name === port),
          ),
      ),
  },
  {
    sentence:
      'the admin API is in no Ingress with anything else, and the address of clients is that of the proxies that are trusted',
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
