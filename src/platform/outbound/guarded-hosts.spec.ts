import dns, { Resolver } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  hostileAddresses,
  hostileUrls,
  hostOf,
  malformedUrls,
  publicAddresses,
} from '../../../test/support/webhooks/addresses/hostile-addresses.js';
import { parseCidrs } from '../config/cidrs.js';
import { GuardedHosts, OperatorHosts } from './guarded-hosts.js';
import { specFolder } from '../../../test/support/run-folder.js';

// Refused names are for the operator's log.
Logger.overrideLogger(false);
const production = new GuardedHosts({ loopback: false, allowed: [] });
const sandbox = new GuardedHosts({ loopback: true, allowed: [] });

describe('an untrusted URL', () => {
  it.each([...hostileUrls, ...malformedUrls])('is refused when it is %j', async (url, reason) =>
    expect(await production.refusal(url)).toMatch(reason),
  );

  it('is refused if it contains a hostile address', async () => {
    for (const [address, reason] of hostileAddresses)
      expect(await production.refusal(`https://${hostOf(address)}/hooks`)).toMatch(reason);
  });

  it('can contain each public address', async () => {
    for (const address of publicAddresses)
      expect(await production.refusal(`https://${hostOf(address)}:8443/hooks?x=1`)).toBeNull();
  });

  it('is refused if its name resolves to a non-public address or to more than 512 addresses', async () => {
    const resolving = (...addresses: readonly string[]): GuardedHosts =>
      Object.assign(new GuardedHosts({ loopback: false, allowed: [] }), {
        findAddresses: () => Promise.resolve(addresses),
      });
    const [one, other] = ['93.184.216.34', '2606:2800:220:1::1'];
    const refusal = (...addresses: readonly string[]) =>
      resolving(...addresses).refusal('https://receiver.example/hooks');
    expect(await refusal(one, other)).toBeNull();
    for (const inside of ['10.0.0.1', '::1'])
      for (const addresses of [[inside], [inside, one], [one, inside], [one, other, inside]])
        expect(await refusal(...addresses)).toMatch(/resolves to an address that is not public/);
    expect(await refusal(...Array<string>(512).fill(one))).toBeNull();
    expect(await refusal(...Array<string>(513).fill(one))).toMatch(/resolves to more than 512 addresses/);
  });

  it('is accepted if its host name does not resolve yet', async () =>
    expect(await production.refusal('https://nowhere.invalid/hooks')).toBeNull());

  it('can be plain http on loopback in sandbox mode', async () => {
    expect(await sandbox.refusal('http://127.0.0.1:4000/')).toBeNull();
    expect(await sandbox.refusal('http://[::1]:4000/')).toBeNull();
    expect(await sandbox.refusal('http://localhost:4000/')).toBeNull();
    expect(await sandbox.refusal('http://hooks.localhost:4000/')).toBeNull();
    expect(await sandbox.refusal('http://10.0.0.1/')).toMatch(/RFC 1918/);
    expect(await sandbox.refusal('http://[::ffff:127.0.0.1]/')).toMatch(/mapped/);
  });

  it('must be https:// in production, even if an operator allows the address', async () => {
    const allowing = new GuardedHosts({ loopback: false, allowed: parseCidrs('10.1.0.0/16') });
    expect(await allowing.refusal('http://10.1.2.3/')).toMatch(/https/);
    expect(await allowing.refusal('https://10.1.2.3/')).toBeNull();
  });
});

const file = join(specFolder('hosts'), 'hosts');
const names = new OperatorHosts(file);
const found = (name: string) => names.resolve(name, 5000);

describe('host names', () => {
  it('resolve to loopback without DNS if they are localhost or a subdomain of it', async () => {
    for (const name of ['localhost', 'localhost.', 'foo.localhost', 'a.b.localhost.'])
      expect(await found(name)).toEqual(['127.0.0.1', '::1']);
  });

  it('resolve by the valid lines of the hosts file first, in any letter case', async () => {
    writeFileSync(
      file,
      [
        '# 10.0.0.9 one.example',
        '10.0.0.1\tone.example  ONE-ALIAS.example # one.example of old',
        'fd00::1 one.example.',
        '999.0.0.1 one.example',
        '10.0.0.2',
      ].join('\n'),
    );
    expect(await found('one.example')).toEqual(['10.0.0.1', 'fd00::1']);
    expect(await found('one.example.')).toEqual(['10.0.0.1', 'fd00::1']);
    expect(await found('one-alias.example')).toEqual(['10.0.0.1']);
  });

  it('resolve to new addresses after a change of the hosts file', async () => {
    writeFileSync(file, '10.0.0.33 one.example\n');
    expect(await found('one.example')).toEqual(['10.0.0.33']);
  });

  it('fail with a text and the error code if they do not exist', async () => {
    await expect(found('nowhere.invalid')).rejects.toMatchObject({
      phase: 'dns',
      message: expect.stringMatching(/^the name .* \([A-Z_]+\)$/),
    });
  });
});

describe('a DNS query', () => {
  type Family = readonly string[] | string | null;

  /** Responds to queries of each family with addresses, the code of a failure, or never. */
  function respond(ipv4: Family, ipv6: Family) {
    const response = async (family: Family): Promise<readonly string[]> => {
      if (family === null) return new Promise(() => undefined);
      if (typeof family === 'string') throw Object.assign(new Error(), { code: family });
      return family;
    };
    jest.spyOn(Resolver.prototype, 'resolve6').mockImplementation((() => response(ipv6)) as never);
    const queries = jest.spyOn(Resolver.prototype, 'resolve4');
    return queries.mockImplementation((() => response(ipv4)) as never);
  }
  afterEach(() => {
    jest.restoreAllMocks();
    syncBuiltinESMExports();
  });

  it.each<[what: string, ipv4: Family, ipv6: Family, addresses: readonly string[]]>([
    ['of both families', ['8.8.8.8', '10.0.0.1'], ['2000::1'], ['8.8.8.8', '2000::1', '10.0.0.1']],
    ['of one family if the other fails', 'ESERVFAIL', ['fd00::1'], ['fd00::1']],
    ['of one family if the other never responds', ['10.0.0.1'], null, ['10.0.0.1']],
  ])('returns the addresses %s', async (_what, ipv4, ipv6, addresses) => {
    respond(ipv4, ipv6);
    expect(await found('two.example')).toEqual(addresses);
  });

  it('is shared by concurrent lookups of a name but not by later ones', async () => {
    const queries = respond(['8.8.8.8'], []);
    await Promise.all(Array.from({ length: 16 }, () => found('one-query.example')));
    expect(queries).toHaveBeenCalledTimes(1);
    await found('one-query.example');
    expect(queries).toHaveBeenCalledTimes(2);
  });

  it('ends with the timeout if there is no response', async () => {
    respond(null, null);
    const given = jest.spyOn(Resolver.prototype, 'cancel');
    const late = { phase: 'dns', message: 'the name servers do not respond (ETIMEOUT)' };
    await expect(names.resolve('never.example', 20)).rejects.toMatchObject(late);
    expect(given).toHaveBeenCalledTimes(1);
  });

  it('for a name without a dot waits for the earlier query, and never runs after its timeout', async () => {
    let end!: (records: never[]) => void;
    const lookups = jest.spyOn(dns, 'lookup');
    lookups.mockImplementation((() => new Promise((resolve) => (end = resolve))) as never);
    syncBuiltinESMExports();
    const waiting = Array.from({ length: 10 }, (_, n) => names.resolve(`short-${n}`, 20));
    const ended = await Promise.allSettled(waiting);
    expect(ended.map(({ status }) => status)).toEqual(waiting.map(() => 'rejected'));
    lookups.mockImplementation((async () => [{ address: '10.1.0.9' }]) as never);
    syncBuiltinESMExports();
    end([]);
    expect(await found('cache')).toEqual(['10.1.0.9']);
    expect(lookups.mock.calls.map(([name]) => name)).toEqual(['short-0', 'cache']);
  });
});
