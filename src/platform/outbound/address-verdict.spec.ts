import { describe, expect, it } from '@jest/globals';
import {
  hostileAddresses,
  publicAddresses,
} from '../../../test/support/webhooks/addresses/hostile-addresses.js';
import { parseCidrs } from '../config/cidrs.js';
import { addressRefusal } from './address-verdict.js';

const strict = { loopback: false, allowed: [] };
const allowing = (list: string) => ({ loopback: false, allowed: parseCidrs(list) });

describe('the check of an IP address', () => {
  it.each(hostileAddresses)('refuses %s with the reason %s', (address, reason) => {
    expect(addressRefusal(address, strict)).toMatch(reason);
  });

  it.each(publicAddresses)('allows %s', (address) => expect(addressRefusal(address, strict)).toBeNull());

  it.each(['', 'example.com', '127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '[::1]', '::1/128'])(
    'refuses %j because it is not an IP address',
    (text) => expect(addressRefusal(text, strict)).toBe('is no IP address'),
  );
  it('refuses an IPv6 address with a zone', () =>
    expect(addressRefusal('2606:4700::1%eth0', strict)).toMatch(/zone/));

  it('allows loopback addresses in sandbox mode, but no other hostile address', () => {
    const sandbox = { loopback: true, allowed: [] };
    const loopback = hostileAddresses.filter(([address]) => addressRefusal(address, sandbox) === null);
    expect(loopback.map(([address]) => address)).toEqual([
      '127.0.0.0',
      '127.128.0.0',
      '127.255.255.255',
      '::1',
    ]);
  });
});

describe('an allowed range', () => {
  it('allows only its own addresses', () => {
    const policy = allowing('10.1.0.0/16, fd00:1::/32,127.0.0.2/32');
    expect(addressRefusal('10.1.2.3', policy)).toBeNull();
    expect(addressRefusal('10.2.0.0', policy)).toMatch(/RFC 1918/);
    expect(addressRefusal('fd00:1::1', policy)).toBeNull();
    expect(addressRefusal('fd00:2::1', policy)).toMatch(/unique local/);
    expect(addressRefusal('127.0.0.2', policy)).toBeNull();
    expect(addressRefusal('127.0.0.1', policy)).toMatch(/loopback/);
  });

  it('allows a metadata address only if the range is exactly this address', () => {
    for (const address of ['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']) {
      const wide = allowing('169.254.0.0/16,168.63.129.0/24,100.64.0.0/10,fc00::/7');
      expect(addressRefusal(address, wide)).toMatch(/metadata/);
      const alone = allowing(`${address}/${address.includes(':') ? 128 : 32}`);
      expect(addressRefusal(address, alone)).toBeNull();
    }
  });

  it('never allows an IPv6 address that embeds an IPv4 address, but may allow the IPv6 loopback', () => {
    const wide = allowing('2000::/7,::1/128');
    expect(addressRefusal('2002:7f00:1::', wide)).toMatch(/6to4/);
    expect(addressRefusal('2001:0:a00:1::', wide)).toMatch(/Teredo/);
    expect(addressRefusal('::1', wide)).toBeNull();
  });
});
