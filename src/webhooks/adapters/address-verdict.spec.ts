import { describe, expect, it } from '@jest/globals';
import { addressRefusal, parseCidrs } from './address-verdict.js';

const strict = { loopback: false, allowed: [] };

const hostile: [string, RegExp][] = [
  ['0.0.0.0', /this network/],
  ['10.0.0.1', /RFC 1918/],
  ['10.255.255.255', /RFC 1918/],
  ['100.64.0.1', /RFC 6598/],
  ['100.127.255.255', /RFC 6598/],
  ['127.0.0.1', /loopback/],
  ['127.255.255.254', /loopback/],
  ['168.63.129.16', /metadata/],
  ['169.254.169.254', /metadata/],
  ['172.16.0.1', /RFC 1918/],
  ['172.31.255.255', /RFC 1918/],
  ['192.0.0.8', /protocols/],
  ['192.0.2.1', /documentation/],
  ['192.168.1.1', /RFC 1918/],
  ['198.18.0.1', /benchmarks/],
  ['198.51.100.7', /documentation/],
  ['203.0.113.9', /documentation/],
  ['224.0.0.1', /multicast/],
  ['240.0.0.1', /class E/],
  ['255.255.255.255', /class E/],
  ['::', /unspecified/],
  ['::1', /loopback/],
  ['::ffff:8.8.8.8', /mapped/],
  ['::ffff:7f00:1', /mapped/],
  ['::8.8.8.8', /IPv4/],
  ['::808:808', /compatible/],
  ['64:ff9b::a00:1', /NAT64/],
  ['64:ff9b:1::1', /NAT64/],
  ['100::1', /discard/],
  ['2001::1', /Teredo/],
  ['2001:20::1', /protocols/],
  ['2001:db8::1', /documentation/],
  ['2002:a00:1::', /6to4/],
  ['3fff::1', /documentation/],
  ['fd00:ec2::254', /metadata/],
  ['fc00::1', /private/],
  ['fe80::1', /link-local/],
  ['fec0::1', /not public/],
  ['ff02::1', /multicast/],
  ['4000::1', /not public/],
  ['example.com', /no IP address/],
];

describe('the address verdict', () => {
  it.each(hostile)('refuses %s and says why', (address, reason) => {
    expect(addressRefusal(address, strict)).toMatch(reason);
  });

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '2606:4700::1',
    '2a00:1450:4001::1',
    '2001:4860:4860::8888',
  ])('allows %s', (address) => expect(addressRefusal(address, strict)).toBeNull());

  it('allows loopback, and nothing else, in sandbox mode', () => {
    const sandbox = { loopback: true, allowed: [] };
    expect(addressRefusal('127.0.0.1', sandbox)).toBeNull();
    expect(addressRefusal('::1', sandbox)).toBeNull();
    expect(addressRefusal('10.0.0.1', sandbox)).toMatch(/RFC 1918/);
    expect(addressRefusal('::ffff:127.0.0.1', sandbox)).toMatch(/mapped/);
  });

  it('allows what an operator names', () => {
    const policy = { loopback: false, allowed: parseCidrs('10.1.0.0/16, fd00::/8') };
    expect(addressRefusal('10.1.2.3', policy)).toBeNull();
    expect(addressRefusal('10.2.2.3', policy)).toMatch(/RFC 1918/);
    expect(addressRefusal('fd00::1', policy)).toBeNull();
    expect(() => parseCidrs('10.0.0.0/8,nonsense')).toThrow(/nonsense/);
  });
});
