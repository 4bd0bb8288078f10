import { describe, expect, it } from '@jest/globals';
import { parseCidrs } from './cidrs.js';
import { readConfig } from '../../composition.js';
import { ConfigError } from './settings.js';

describe('a list of address ranges', () => {
  it.each([null, '', ' , '])('is empty when it is %j', (list) => expect(parseCidrs(list)).toEqual([]));

  it('can hold IPv4 and IPv6 ranges up to the widest private networks', () =>
    expect(parseCidrs('10.0.0.0/8, fc00::/7,127.0.0.2/32').map(([, prefix]) => prefix)).toEqual([8, 7, 32]));

  it.each([
    ['nonsense', 'is no address range'],
    ['10.0.0.0', 'is no address range'],
    ['10.0.0.0/33', 'is no address range'],
    ['10.0.0.0/8/8', 'is no address range'],
    ['10.0.0.0/', 'is no address range'],
    ['10.0.0.0/-1', 'is no address range'],
    ['010.0.0.0/8', 'is no address range'],
    ['0x0a.0.0.0/8', 'is no address range'],
    ['10.1/16', 'is no address range'],
    ['fe80::1%eth0/64', 'is no address range'],
    ['fd00::/129', 'is no address range'],
    ['0.0.0.0/0', 'is wider than /8'],
    ['10.0.0.0/7', 'is wider than /8'],
    ['::/0', 'is wider than /7'],
  ])('stops the boot when it holds %s', (cidr, fault) => {
    const boot = (): unknown => readConfig({ WEBHOOK_ALLOW_CIDRS: `10.1.0.0/16,${cidr}` });
    expect(boot).toThrow(ConfigError);
    expect(boot).toThrow(
      `WEBHOOK_ALLOW_CIDRS must be a comma-separated list of address ranges, such as 10.1.0.0/16 (${cidr} ${fault})`,
    );
  });
});
