import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { headSizesIn, signedHead, signer, stored } from '../../../../test/support/audit/signed-log.js';
import { specFolder } from '../../../../test/support/run-folder.js';
import { hashOfHead, type SignedHead } from './signed-head.js';
import { HeadsFile } from './head-signer.processor.js';

const key = signer(null);

/** A chain of signed heads over these numbers of events. */
function chain(sizes: readonly number[], log_id = 'l'): readonly SignedHead[] {
  const heads: SignedHead[] = [];
  for (const size of sizes) {
    const last = heads.at(-1);
    heads.push(signedHead(key, { log_id, size, previous: last === undefined ? null : hashOfHead(last) }));
  }
  return heads;
}

describe('the file of signed heads', () => {
  const folder = specFolder('heads-file');
  let number = 0;
  let path: string;
  let file: HeadsFile;
  beforeEach(() => {
    path = join(folder, `heads-${++number}.ndjson`);
    file = new HeadsFile(path);
  });

  const table = (heads: readonly SignedHead[]) => ({
    all: jest.fn(({ after = 0, upTo = Infinity } = {}) =>
      stored(heads.filter(({ size }) => size > after && size <= upTo)),
    ),
  });
  const append = (heads: readonly SignedHead[], newest = heads.at(-1)!): Promise<void> =>
    file.append(table(heads), newest, async () => [key]);
  const sizes = (): readonly number[] => headSizesIn(path);
  const heads = chain([3, 5, 9, 12]);
  const [three, five, nine, twelve] = [heads[0]!, heads[1]!, heads[2]!, heads[3]!];

  it('gets every head that it lacks, each once', async () => {
    await append([three, five, nine]);
    await append([three, five, nine]);
    expect(sizes()).toEqual([3, 5, 9]);
    expect(await file.newest()).toEqual(nine);
    const none = table([three, five, nine]);
    await file.append(none, nine, async () => [key]);
    expect(none.all).not.toHaveBeenCalled();
    await append([three, five, nine, twelve]);
    expect(sizes()).toEqual([3, 5, 9, 12]);
  });

  it('contains no stored head that is newer than the last head signed by the service', async () => {
    await append([three, five, nine], five);
    expect(sizes()).toEqual([3, 5]);
  });

  it('is empty before the first head', async () => {
    expect(await file.newest()).toBeNull();
    expect(sizes()).toEqual([]);
  });

  it.each<[string, readonly SignedHead[], string]>([
    ['that head is missing', [three, five], 'audit.heads lacks the head over 9 events'],
    [
      'an earlier head has a wrong signature',
      [three, { ...five, signature: 'ab' }, nine],
      'over 5 events in audit.heads: its signature',
    ],
    ['a head is gone', [three, nine], 'over 9 events in audit.heads: it does not follow the head before it'],
    ['the first head is missing', [five, nine], 'over 5 events in audit.heads: it does not follow'],
  ])('does not get the newest head if %s', async (_what, heads, why) => {
    await expect(append(heads, nine)).rejects.toThrow(why);
    expect(sizes()).not.toContain(9);
  });

  it('drops an incomplete last line and gets the head of that line again', async () => {
    await append([three, five]);
    appendFileSync(path, '{"log_id":"l","si');
    expect(await file.newest()).toEqual(five);
    expect(sizes()).toEqual([3, 5]);
    appendFileSync(path, '{"log_id":"l","si');
    await append([three, five, nine]);
    expect(sizes()).toEqual([3, 5, 9]);
  });

  it('retains the heads of another log and continues with those of the current log', async () => {
    await append(chain([100], 'before'));
    await append([three]);
    expect(sizes()).toEqual([100, 3]);
  });

  it('returns its newest head even if it has hundreds of heads', async () => {
    const heads = chain(Array.from({ length: 200 }, (_, n) => n + 1));
    writeFileSync(path, heads.map((head) => `${JSON.stringify(head)}\n`).join(''));
    expect(await file.newest()).toEqual(heads.at(-1));
  });
});
