import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../test/support/eventually.js';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { DueWork, type WorkOutcome, type WorkKind } from './due-work.js';
import { WorkItems, type WorkItem } from './work-items.js';

const HOUR_MS = 3_600_000;

describe('due work of one kind', () => {
  const db = onTestDatabase();
  let items: WorkItems;
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

  beforeAll(async () => {
    items = new WorkItems(db.database);
  });
  beforeEach(async () => {
    warn.mockClear();
    await db.database.query('truncate work.items');
  });

  const run = (
    perform: (item: WorkItem, signal: AbortSignal) => Promise<WorkOutcome>,
    kind: Partial<WorkKind<object>> = {},
    signal = new AbortController().signal,
  ): Promise<unknown> =>
    new DueWork(items, {
      kind: 'tests',
      everyMs: HOUR_MS,
      batch: 2,
      leaseMs: HOUR_MS,
      perform,
      retry: { firstMs: HOUR_MS, maxMs: HOUR_MS },
      ...kind,
    }).options.run(signal);
  const add = (...keys: string[]): Promise<void> =>
    items.schedule(
      'tests',
      keys.map((key) => ({ key })),
    );
  const open = (): Promise<object[]> =>
    db.database.query(
      'select key, failures, cause, due_at > now() as later, lease from work.items order by key',
    );

  it('is performed until each due item is done', async () => {
    await add('a', 'b', 'c', 'd', 'e');
    const performed: string[] = [];
    await run(
      ({ key, failures }) => {
        performed.push(`${key}${failures}`);
        return Promise.resolve(key === 'b' && failures === 0 ? 'retry' : 'done');
      },
      { retry: { firstMs: 0, maxMs: 0 } },
    );
    expect(performed.sort()).toEqual(['a0', 'b0', 'b1', 'c0', 'd0', 'e0']);
    expect(await open()).toEqual([]);
    expect(warn).not.toHaveBeenCalled();
  });

  it('logs the error of an item, retries it after the backoff and completes the other items', async () => {
    await add('a', 'b', 'c');
    await run(({ key }) => (key === 'b' ? Promise.reject(new Error('refused')) : Promise.resolve('done')));
    expect(await open()).toEqual([
      { key: 'b', failures: 1, cause: 'Error: refused', later: true, lease: null },
    ]);
    expect(warn.mock.calls).toMatchObject([[{ msg: 'work failed', kind: 'tests', key: 'b', failures: 1 }]]);
  });

  it('claims no items after the process stops, and completes the items that it has claimed', async () => {
    await add('a', 'b', 'c', 'd');
    const stopping = new AbortController();
    await run(
      () => {
        stopping.abort();
        return Promise.resolve('done');
      },
      {},
      stopping.signal,
    );
    expect(await open()).toHaveLength(2);
  });

  it.each([
    ['renews the lease of an item that takes longer than its lease', true, ['a0']],
    ['loses the lease of a slow item without renewal, and then changes nothing', undefined, ['a0', 'a0']],
  ] as const)('%s', async (_, keepsLease, expected) => {
    await add('a');
    const performed: string[] = [];
    const note = ({ key, failures }: WorkItem): number => performed.push(`${key}${failures}`);
    const due = async (): Promise<unknown> => (await db.database.query('select due_at from work.items'))[0];
    await run(
      async (item) => {
        note(item);
        const before = JSON.stringify(await due());
        if (keepsLease) await eventually(async () => JSON.stringify(await due()) !== before);
        else await db.database.query('update work.items set due_at = now()');
        await run((again) => {
          note(again);
          return Promise.resolve({ inMs: HOUR_MS, failure: { cause: 'refused' } });
        });
        return 'done';
      },
      { leaseMs: 3000, ...(keepsLease && { keepsLease }) },
    );
    expect(performed).toEqual(expected);
    expect(await open()).toHaveLength(expected.length - 1);
  });
});
