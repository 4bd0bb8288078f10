import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { specFolder } from '../../../test/support/run-folder.js';
import { HostNames } from './guarded-hosts.js';

const file = join(specFolder('hosts'), 'hosts');
const names = new HostNames(file);
const found = (name: string) => names.addresses(name, 5000);

describe('names of hosts', () => {
  it('take localhost and all below it for loopback, and query no server', async () => {
    for (const name of ['localhost', 'localhost.', 'foo.localhost', 'a.b.localhost.'])
      expect(await found(name)).toEqual(['127.0.0.1', '::1']);
  });

  it('take every address of the hosts file before DNS, in any case, without comments and nonsense', async () => {
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

  it('follow a change of the hosts file', async () => {
    writeFileSync(file, '10.0.0.33 one.example\n');
    expect(await found('one.example')).toEqual(['10.0.0.33']);
  });

  it('that do not exist fail with a sentence and the code', async () => {
    await expect(found('nowhere.invalid')).rejects.toMatchObject({
      phase: 'dns',
      message: expect.stringMatching(/^the name .* \([A-Z_]+\)$/),
    });
  });
});
