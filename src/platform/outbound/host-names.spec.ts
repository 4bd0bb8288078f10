import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { specFolder } from '../../../test/support/run-folder.js';
import { HostNames, HostsFile } from './host-names.js';
import { NameUnresolved } from './name-lookup.js';

const file = join(specFolder('hosts'), 'hosts');
const live = (): AbortSignal => new AbortController().signal;

describe('the hosts file', () => {
  const hosts = new HostsFile(file);

  it('lists nothing while there is none', () => expect(hosts.addresses('one.example')).toEqual([]));

  it('lists every address of a name, whatever its case, without comments and nonsense', () => {
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
    expect(hosts.addresses('one.example')).toEqual(['10.0.0.1', 'fd00::1']);
    expect(hosts.addresses('one-alias.example')).toEqual(['10.0.0.1']);
    expect(hosts.addresses('constructor')).toEqual([]);
  });

  it('is read again when it has changed', () => {
    writeFileSync(file, '10.0.0.33 one.example\n');
    expect(hosts.addresses('one.example')).toEqual(['10.0.0.33']);
  });
});

describe('names of hosts', () => {
  const names = new HostNames(file);

  it('take localhost and all below it for loopback, and ask nobody', async () => {
    for (const name of ['localhost', 'localhost.', 'foo.localhost', 'a.b.localhost.'])
      expect(await names.addresses(name, live())).toEqual(['127.0.0.1', '::1']);
  });

  it('take the hosts file before DNS, also for a name with a trailing dot', async () => {
    writeFileSync(file, '8.8.4.4 listed.example\n');
    expect(await names.addresses('listed.example.', live())).toEqual(['8.8.4.4']);
  });

  it('that do not exist are told by a code', async () => {
    await expect(names.addresses('nowhere.invalid', live())).rejects.toThrow(NameUnresolved);
  });

  it('are given up when the signal aborts, by one caller and not by the other who asks for the same', async () => {
    const [hasty, patient] = [new AbortController(), new AbortController()];
    const outcomes: string[] = [];
    const asks = [hasty, patient].map(({ signal }, index) =>
      names.addresses('nowhere.invalid', signal).catch((error: NameUnresolved) => {
        outcomes.push(`${index} ${error.code}`);
      }),
    );
    hasty.abort();
    await Promise.all(asks);
    expect(outcomes[0]).toBe('0 ETIMEOUT');
    expect(outcomes[1]).toMatch(/^1 /);
    await expect(names.addresses('nowhere.invalid', AbortSignal.abort())).rejects.toMatchObject({
      code: 'ETIMEOUT',
    });
  });
});
