import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { isAlive } from '../../../sandbox/processes.js';

// Runs in the same Jest after the suite that leaves everything.
it('finds nothing that the suite before it has left', () => {
  const started = process.env['PLANTED']!;
  const left = readdirSync(started).filter((kind) => kind !== 'an orphan');
  const alive = left.filter((kind) =>
    (JSON.parse(readFileSync(join(started, kind), 'utf8')) as number[]).some(isAlive),
  );
  expect([left.length, alive]).toEqual([5, []]);
});
