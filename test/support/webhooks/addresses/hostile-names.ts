import type { DnsResponse, DnsRecord, RecordType, Zone } from './dns-server.js';

const SUFFIX = '.receiver.example';
export const nameOf = (label: string): string => `${label}${SUFFIX}`;

const a = (...addresses: string[]): DnsRecord[] => addresses.map((data) => ({ type: 'A', data }));
const aaaa = (...addresses: string[]): DnsRecord[] => addresses.map((data) => ({ type: 'AAAA', data }));
const thousands = Array.from({ length: 2000 }, (_, index) => `9.0.${index >> 8}.${index & 255}`);
const hundreds = thousands.slice(0, 300);

/** `name` is another name of `last`, over as many steps as there are names. */
function chain(last: DnsRecord, ...names: string[]): DnsRecord[] {
  const steps = names.map((data, index): DnsRecord => ({
    type: 'CNAME',
    data,
    ...(index === 0 ? {} : { owner: names[index - 1]! }),
  }));
  return [...steps, { ...last, owner: names.at(-1)! }];
}

export interface HostileName {
  readonly label: string;
  readonly A: DnsResponse;
  readonly AAAA: DnsResponse;
}

/** Names that must never be connected to, and what the refusal must say. */
export const hostileNames: readonly (HostileName & { readonly reason: RegExp })[] = [
  { label: 'bad-a', A: a('10.0.0.1'), AAAA: [], reason: /10\.0\.0\.1.*is private/ },
  { label: 'bad-aaaa', A: [], AAAA: aaaa('fd00::1'), reason: /fd00::1.*is private/ },
  { label: 'loopback-a', A: a('127.0.0.1'), AAAA: [], reason: /loopback/ },
  { label: 'loopback-aaaa', A: [], AAAA: aaaa('::1'), reason: /loopback/ },
  { label: 'zero', A: a('0.0.0.0'), AAAA: aaaa('::'), reason: /this network/ },
  { label: 'metadata-a', A: a('169.254.169.254'), AAAA: [], reason: /metadata/ },
  { label: 'metadata-aaaa', A: [], AAAA: aaaa('fd00:ec2::254'), reason: /metadata/ },
  { label: 'azure', A: a('168.63.129.16'), AAAA: [], reason: /metadata/ },
  { label: 'mapped', A: a('8.8.8.8'), AAAA: aaaa('::ffff:808:808'), reason: /mapped/ },
  { label: 'nat64', A: a('8.8.8.8'), AAAA: aaaa('64:ff9b::808:808'), reason: /NAT64/ },
  { label: 'good-a-bad-a', A: a('8.8.8.8', '10.0.0.1'), AAAA: [], reason: /10\.0\.0\.1/ },
  { label: 'bad-a-good-a', A: a('10.0.0.1', '8.8.8.8'), AAAA: [], reason: /10\.0\.0\.1/ },
  { label: 'good-a-bad-aaaa', A: a('8.8.8.8'), AAAA: aaaa('fd00::1'), reason: /fd00::1/ },
  {
    label: 'bad-a-good-aaaa',
    A: a('10.0.0.1'),
    AAAA: aaaa('2606:4700:4700::1111'),
    reason: /10\.0\.0\.1/,
  },
  { label: 'last-of-hundreds', A: a(...hundreds, '10.0.0.1'), AAAA: [], reason: /10\.0\.0\.1/ },
  { label: 'thousands', A: a(...thousands), AAAA: [], reason: /more than 512 addresses/ },
  { label: 'last-of-both', A: a(...hundreds), AAAA: aaaa('2000::1', '2000::2', '::1'), reason: /loopback/ },
  {
    label: 'cname',
    A: chain(a('10.0.0.1')[0]!, 'inside.elsewhere.example'),
    AAAA: [],
    reason: /10\.0\.0\.1/,
  },
  {
    label: 'cname-chain',
    A: chain(a('169.254.169.254')[0]!, 'one.elsewhere.example', 'two.elsewhere.example', 'metadata.internal'),
    AAAA: [],
    reason: /metadata/,
  },
  {
    label: 'cname-localhost',
    A: chain(a('127.0.0.1')[0]!, 'localhost'),
    AAAA: chain(aaaa('::1')[0]!, 'localhost'),
    reason: /loopback/,
  },
  // The hosts file says 10.0.0.5, and it counts before DNS.
  { label: 'listed-inside', A: a('8.8.8.8'), AAAA: [], reason: /10\.0\.0\.5/ },
];

/** The same, where one family is not resolved: what was seen is checked. */
export const halfResolvedNames: typeof hostileNames = [
  { label: 'bad-a-servfail', A: a('10.0.0.1'), AAAA: 'SERVFAIL', reason: /10\.0\.0\.1/ },
  { label: 'servfail-bad-aaaa', A: 'SERVFAIL', AAAA: aaaa('fd00::1'), reason: /fd00::1/ },
  { label: 'bad-a-nxdomain', A: a('10.0.0.1'), AAAA: 'NXDOMAIN', reason: /10\.0\.0\.1/ },
  { label: 'bad-a-unresponsive', A: a('10.0.0.1'), AAAA: null, reason: /10\.0\.0\.1/ },
];

/** Names that must be reached, at one of these addresses. */
export const publicNames: readonly (HostileName & { readonly at: readonly string[] })[] = [
  { label: 'good-a', A: a('8.8.8.8'), AAAA: [], at: ['8.8.8.8'] },
  { label: 'good-aaaa', A: [], AAAA: aaaa('2000::1'), at: ['2000::1'] },
  { label: 'good-both', A: a('8.8.8.8'), AAAA: aaaa('2000::1'), at: ['8.8.8.8', '2000::1'] },
  {
    label: 'good-chain',
    A: chain(a('9.9.9.10')[0]!, 'a.cdn.example', 'b.cdn.example'),
    AAAA: [],
    at: ['9.9.9.10'],
  },
  { label: 'good-hundreds', A: a(...hundreds), AAAA: [], at: hundreds },
  { label: 'good-servfail', A: a('8.8.8.8'), AAAA: 'SERVFAIL', at: ['8.8.8.8'] },
  { label: 'servfail-good', A: 'SERVFAIL', AAAA: aaaa('2000::1'), at: ['2000::1'] },
  { label: 'good-nxdomain', A: a('8.8.8.8'), AAAA: 'NXDOMAIN', at: ['8.8.8.8'] },
  { label: 'good-unresponsive', A: a('8.8.8.8'), AAAA: null, at: ['8.8.8.8'] },
  { label: 'listed-outside', A: a('10.0.0.1'), AAAA: [], at: ['8.8.4.4'] },
  // The first address takes connections and says nothing; see UNRESPONSIVE_ADDRESS.
  { label: 'dead-first', A: a('9.9.9.9', '8.8.8.8'), AAAA: [], at: ['8.8.8.8'] },
];

/** Accepts connections and never says a word, where everyone else speaks TLS. */
export const UNRESPONSIVE_ADDRESS = '9.9.9.9';

/** /etc/hosts of the test network. */
export const NETWORK_HOSTS = [
  '127.0.0.1 localhost',
  '::1 localhost ip6-localhost ip6-loopback',
  `10.0.0.5 ${nameOf('listed-inside')} # inside`,
  `8.8.4.4 other.example ${nameOf('Listed-Outside')}`,
  '10.1.0.5 db',
  '',
].join('\n');

const table = new Map<string, HostileName>(
  [...hostileNames, ...halfResolvedNames, ...publicNames].map((each) => [each.label, each]),
);

const BAD = a('10.0.0.1');
const GOOD = a('8.8.8.8');

/** Names whose response depends on how often it was requested. */
const moving: Readonly<Record<string, (nth: number) => DnsResponse>> = {
  'becomes-bad': (nth) => (nth === 0 ? GOOD : BAD),
  'becomes-bad-while-kept': (nth) => (nth === 0 ? GOOD : BAD),
  'becomes-bad-after-the-check': (nth) => (nth === 0 ? GOOD : BAD),
  'bad-then-good': (nth) => (nth === 0 ? BAD : GOOD),
  'every-other': (nth) => (nth % 2 === 0 ? GOOD : BAD),
  stays: () => GOOD,
  'resolved-once': () => GOOD,
  'all-dead': () => a(...Array.from({ length: 300 }, () => UNRESPONSIVE_ADDRESS)),
};

/** What the DNS server of the test network responds. Names that begin with `unresponsive` are never resolved; unknown ones do not exist. */
export const hostileZone: Zone = (name: string, type: RecordType, nth: number): DnsResponse => {
  if (name.startsWith('unresponsive')) return null;
  if (name === 'cache') return type === 'A' ? a('10.1.0.9') : [];
  if (!name.endsWith(SUFFIX)) return 'NXDOMAIN';
  const label = name.slice(0, -SUFFIX.length);
  const move = moving[label];
  if (move) return type === 'A' ? move(nth) : [];
  return table.get(label)?.[type] ?? (table.has(label) ? null : 'NXDOMAIN');
};
