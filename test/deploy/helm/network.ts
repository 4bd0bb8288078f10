import type { NetworkPolicyPeer, NetworkPolicyPort } from 'kubernetes-types/networking/v1.js';
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import ipaddr from 'ipaddr.js';
import { isWithin } from '../../../src/platform/config/cidrs.js';
import type { Pod, Rendering } from './chart.js';

type Labels = Readonly<Record<string, string>>;

/** The other side of traffic: a pod in a namespace, or an external address. */
export interface Peer {
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly address?: string;
}

/** Matches labels with a selector. Throws for expressions, which the chart does not use. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector?.matchExpressions !== undefined) throw new Error('expressions are not read here');
  return Object.entries(selector?.matchLabels ?? {}).every(([name, value]) => labels[name] === value);
}

/** Applies the policies like Kubernetes: once one selects the pod, everything without a rule is denied. */
export function isAllowed(
  rendering: Rendering,
  direction: 'Ingress' | 'Egress',
  pod: Pod,
  peer: Peer,
  port: number,
): boolean {
  const policies = rendering
    .all('NetworkPolicy')
    .filter(({ spec }) => selects(spec!.podSelector, pod.labels) && spec!.policyTypes!.includes(direction));
  if (policies.length === 0) return true;
  return policies.some(({ spec }) => {
    const rules =
      direction === 'Ingress'
        ? (spec!.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
        : (spec!.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
    // A missing and an empty list of peers allow everybody.
    return rules.some(
      ({ peers, ports }) =>
        hasPort(ports, port) && (!peers?.length || peers.some((each) => isPeer(each, peer, rendering))),
    );
  });
}

const hasPort = (ports: readonly NetworkPolicyPort[] | undefined, port: number): boolean =>
  !ports?.length || ports.some((each) => each.port === port);

function isPeer(each: NetworkPolicyPeer, peer: Peer, { given }: Rendering): boolean {
  if (each.ipBlock !== undefined) {
    if (peer.address === undefined) return false;
    const address = ipaddr.parse(peer.address);
    const isIn = (cidr: string): boolean => isWithin(address, ipaddr.parseCIDR(cidr));
    return isIn(each.ipBlock.cidr) && !(each.ipBlock.except ?? []).some(isIn);
  }
  if (peer.namespace === undefined) return false;
  const inNamespace = each.namespaceSelector
    ? selects(each.namespaceSelector, { 'kubernetes.io/metadata.name': peer.namespace })
    : peer.namespace === given.namespace;
  return inNamespace && selects(each.podSelector, peer.labels ?? {});
}
