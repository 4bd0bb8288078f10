import ipaddr from 'ipaddr.js';

export type Refused = readonly [text: string, reason: RegExp];

/** Splits a table of texts by the reason of their refusal. Texts are separated by spaces. */
const refused = (table: Readonly<Record<string, string>>): readonly Refused[] =>
  Object.entries(table).flatMap(([reason, texts]) =>
    texts.split(' ').map((text): Refused => [text, new RegExp(reason)]),
  );

/** Ranges of the IANA special-purpose registries (2025), multicast, class E and unassigned IPv6. */
const RANGES = refused({
  'this network': '0.0.0.0/8',
  'RFC 1918': '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16',
  'RFC 6598': '100.64.0.0/10',
  loopback: '127.0.0.0/8 ::1/128',
  'link-local': '169.254.0.0/16 fe80::/10',
  protocols:
    '192.0.0.0/24 192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/31 2001:1::/120' +
    ' 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:100::/24',
  documentation: '192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20',
  AS112: '192.31.196.0/24 192.175.48.0/24 2620:4f:8000::/48',
  AMT: '192.52.193.0/24',
  '6to4': '192.88.99.0/24 2002::/16',
  benchmarks: '198.18.0.0/15',
  multicast: '224.0.0.0/4 ff00::/8',
  'class E': '240.0.0.0/4',
  unspecified: '::/128',
  mapped: '::ffff:0:0/96',
  NAT64: '64:ff9b::/96 64:ff9b:1::/48',
  discard: '100::/64',
  'not public': '100:0:0:1::/64 fec0::/10 200::/7 400::/6 1000::/4 4000::/3 8000::/3 e000::/4',
  Teredo: '2001::/32',
  'segment routing': '5f00::/16',
  'unique local': 'fc00::/7',
});

const METADATA = [
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.42.42', '169.254.0.23'],
  ...['168.63.129.16', '100.100.100.200', '192.0.0.192'],
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42', 'fe80::a9fe:a9fe'],
];

/** IPv4 inside IPv6 is refused, even with a public address. */
const EMBEDDED = ['127.0.0.1', '10.0.0.1', '192.168.1.1', '169.254.169.254', '8.8.8.8'].flatMap(
  (inner): Refused[] => {
    const hex = ipaddr.IPv4.parse(inner).toIPv4MappedAddress().toString().slice('::ffff:'.length);
    return [
      [`::ffff:${hex}`, /mapped/],
      [`::ffff:0:${hex}`, /translated/],
      [`::${hex}`, /compatible/],
      [`64:ff9b::${hex}`, /NAT64/],
      [`64:ff9b:1::${hex}`, /NAT64/],
      [`64:ff9b:1:ffff::${hex}`, /NAT64/],
      [`2002:${hex}::1`, /6to4/],
      [`2001:0:${hex}:8000:63bf:3fff:fdd2`, /Teredo/],
      [`2001:0:4136:e378:8000:63bf:${hex}`, /Teredo/],
      [`2a00:1450:4001:800::5efe:${hex}`, /ISATAP/],
      [`2a00:1450:4001:800:200:5efe:${hex}`, /ISATAP/],
    ];
  },
);

/** Returns the address `steps` above the first of a range, or null beyond the ends of the family. */
function at(network: ipaddr.IPv4 | ipaddr.IPv6, steps: bigint): string | null {
  const bytes = network.toByteArray();
  const value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n) + steps;
  if (value < 0n || value >= 1n << BigInt(bytes.length * 8)) return null;
  const ordered = bytes.map((_, index) => Number((value >> BigInt(8 * (bytes.length - 1 - index))) & 255n));
  return ipaddr.fromByteArray(ordered).toString();
}

const sizeOf = ([network, prefix]: [ipaddr.IPv4 | ipaddr.IPv6, number]): bigint =>
  1n << BigInt(network.toByteArray().length * 8 - prefix);

function endsOf(cidr: string): string[] {
  const range = ipaddr.parseCIDR(cidr);
  const size = sizeOf(range);
  return [...new Set([0n, size / 2n, size - 1n])].map((steps) => at(range[0], steps)!);
}

const firstOfEach = (table: readonly Refused[]): readonly Refused[] => [
  ...new Map(table.map((each) => [each[0], each])).values(),
];

/** The first, middle and last address of every range, metadata addresses, and IPv4 inside IPv6, each once. */
export const hostileAddresses: readonly Refused[] = firstOfEach([
  ...METADATA.map((address): Refused => [address, /metadata/]),
  ...EMBEDDED,
  ...RANGES.flatMap(([cidr, reason]) => endsOf(cidr).map((address): Refused => [address, reason])),
]);

/** Public unicast, and the neighbours of every refused range, unless another range begins there. */
export const publicAddresses: readonly string[] = [
  ...['8.8.8.8', '1.1.1.1', '9.255.255.255', '11.0.0.0', '1.0.0.0', '100.63.255.255', '100.128.0.0'],
  ...['126.255.255.255', '128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0'],
  ...['172.15.255.255', '172.32.0.0', '191.255.255.255', '192.0.1.0', '192.0.1.255', '192.0.3.0'],
  ...['192.31.195.255', '192.31.197.0', '192.52.192.255', '192.52.194.0', '192.88.98.255', '192.88.100.0'],
  ...['192.167.255.255', '192.169.0.0', '192.175.47.255', '192.175.49.0', '198.17.255.255', '198.20.0.0'],
  ...['198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
  ...['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001::1', '2000::1', '2001:200::'],
  ...['2001:db7:ffff::1', '2001:db9::', '2001:ffff::1', '2003::', '2620:4f:7fff::1', '2620:4f:8001::'],
  ...['3ffe:ffff::1', '3fff:1000::', '3fff:ffff::1', '2a00:1450::5eff:7f00:1', '2a00:1450::1:5efe:7f00:1'],
];

/** Spellings of hosts that URL parsers misread, including hosts by name. */
const hostileHosts: readonly Refused[] = [
  ...refused({
    '127\\.0\\.0\\.1 is loopback':
      '2130706433 017700000001 0x7f000001 0x7f.0x0.0x0.0x1 0177.0.0.1 127.1 127.0.0.1. %31%32%37.0.0.1' +
      ' 127%2E0%2E0%2E1 １２７.０.０.１ 127。0。0。1 ①②⑦.⓪.⓪.① 0x7f.\u00ad0.0.1',
    '127\\.0\\.255\\.255 is loopback': '127.65535',
    '0\\.0\\.0\\.0 is .*this network': '0',
    '10\\.0\\.0\\.1 is private': '167772161',
    '169\\.254\\.169\\.254 is a cloud metadata': '2852039166 0xa9fea9fe １６９.２５４.１６９.２５４',
    '168\\.63\\.129\\.16 is a cloud metadata': '0xA83F8110',
    '::1 is loopback': '[::1] [0:0:0:0:0:0:0:1]',
    unspecified: '[::]',
    compatible: '[::127.0.0.1]',
    mapped: '[::ffff:127.0.0.1]',
    NAT64: '[64:FF9B::169.254.169.254]',
    metadata: '[FD00:EC2::254]',
    'localhost resolves to an address that is not public': 'localhost',
    'not public': 'LOCALHOST localhost. ｌｏｃａｌｈｏｓｔ %6c%6f%63%61%6c%68%6f%73%74 foo.localhost',
    'not a full domain name': 'ip6-localhost db postgres.',
    'an internal name':
      'metadata.google.internal METADATA.GOOGLE.INTERNAL printer.local router.home.arpa' +
      ' facebookcorewwwi.onion',
    'valid host': 'a..b.example example..',
  }),
  [`${'a'.repeat(64)}.example`, /valid host/],
  [`${'a.'.repeat(127)}example`, /valid host/],
  ["a'b.example", /valid host/],
];

/** Whole URLs with a disguised host. They are refused at registration and at connect alike. */
export const hostileUrls: readonly Refused[] = [
  ...hostileHosts.map(([host, reason]): Refused => [`https://${host}/hooks`, reason]),
  ...refused({
    loopback:
      'https:127.0.0.1/ https:////127.0.0.1/ https:\\\\127.0.0.1\\hooks https://127.0.0.1\\@8.8.8.8/' +
      ' https://127.0.0.1#@8.8.8.8/ HTTPS://127.0.0.1/ https://127.0.0.1:443/',
    metadata: 'https://169.254.169.254/latest/meta-data/iam/ https://[fd00:ec2::254]/latest/',
  }),
  ['\thttps://127.0.0.1/', /loopback/],
  ['https://127.0.0.1/ ', /loopback/],
  ['https://127.0.\t0.1/', /loopback/],
  ['ht\ntps://127.0.0.1/', /loopback/],
  ['https://[::\t1]/', /loopback/],
  ['https://local\thost/', /not public/],
];

/** URLs refused for their form, before any address is checked. The host of some is public. */
export const malformedUrls: readonly Refused[] = [
  ['', /valid URL/],
  ...refused({
    'valid URL':
      'https:// 127.0.0.1 https://[::1%25lo]/ https://[::1/ https://256.0.0.1/ https://1.2.3.4.5/' +
      ' https://127.0.0.1%00/ https://a%2fb/ https://8.8.8.8:65536/',
    'user name or password': 'https://8.8.8.8@127.0.0.1/ https://user:pw@8.8.8.8/',
    https: 'http://8.8.8.8/ ftp://8.8.8.8/ file:///etc/passwd javascript:alert(1) unix:/var/run/docker.sock',
  }),
  [`https://8.8.8.8/${'a'.repeat(2048)}`, /2048/],
];

export const hostOf = (address: string): string => (address.includes(':') ? `[${address}]` : address);
