import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { specFolder } from '../../../../test/support/run-folder.js';
import type { SignedHead } from '../domain/signed-head.js';
import { HeadsFile } from './heads-file.js';

const headOf = (size: number, log_id = 'l'): SignedHead => ({
  ...{ log_id, size, root: 'ab', position: String(size), signed_at: 'then', key_id: 'k' },
  ...{ previous: null, signature: 'cd' },
});

describe('the file of heads', () => {
  const folder = specFolder('heads-file');
  let number = 0;
  let path: string;
  let file: HeadsFile;
  beforeEach(() => {
    path = join(folder, `heads-${++number}.ndjson`);
    file = new HeadsFile(path);
  });

  const stored = (sizes: readonly number[], logId = 'l', page = 500) => ({
    newest: async () => (sizes.length === 0 ? null : headOf(sizes.at(-1)!, logId)),
    after: jest.fn(async (size: number, limit: number) =>
      sizes
        .filter((each) => each > size)
        .slice(0, Math.min(limit, page))
        .map((each) => headOf(each, logId)),
    ),
  });
  const sizes = (): readonly number[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as SignedHead).size);

  it('is given every head that it lacks, page by page, and each once', async () => {
    await file.append(stored([3, 5, 9], 'l', 2));
    await file.append(stored([3, 5, 9]));
    expect(sizes()).toEqual([3, 5, 9]);
    expect(await file.newest()).toEqual(headOf(9));
    const none = stored([3, 5, 9]);
    await file.append(none);
    expect(none.after).not.toHaveBeenCalled();
    await file.append(stored([3, 5, 9, 12]));
    expect(sizes()).toEqual([3, 5, 9, 12]);
  });

  it('stays as it is before the first head', async () => {
    expect(await file.newest()).toBeNull();
    await file.append(stored([]));
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('ends when heads are gone that were announced', async () => {
    const gone = { newest: async () => headOf(9), after: async () => [] };
    await file.append(gone);
    expect(sizes()).toEqual([]);
  });

  it('loses a line that is half written, and has that head again', async () => {
    await file.append(stored([3, 5]));
    appendFileSync(path, '{"log_id":"l","si');
    expect(await file.newest()).toEqual(headOf(5));
    expect(sizes()).toEqual([3, 5]);
    appendFileSync(path, '{"log_id":"l","si');
    await file.append(stored([3, 5, 9]));
    expect(sizes()).toEqual([3, 5, 9]);
  });

  it('keeps the heads of another log, which those of this one follow', async () => {
    await file.append(stored([100], 'before'));
    await file.append(stored([3]));
    expect(sizes()).toEqual([100, 3]);
  });

  it('finds its last head behind thousands of others', async () => {
    writeFileSync(path, Array.from({ length: 200 }, (_, n) => `${JSON.stringify(headOf(n + 1))}\n`).join(''));
    expect(await file.newest()).toEqual(headOf(200));
  });
});
