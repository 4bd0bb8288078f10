import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { scheduleWork, wakeWork, WorkItems, type NewItem, type WorkItem } from './work-items.js';

const KIND = 'tests';

describe('the queue of due work', () => {
  const db = onTestDatabase();
  let items: WorkItems;

  beforeAll(async () => {
    items = new WorkItems(db.database);
  });
  beforeEach(() => db.database.query('truncate work.items'));

  const add = (...added: readonly (string | NewItem)[]): Promise<void> =>
    items.schedule(
      KIND,
      added.map((item) => (typeof item === 'string' ? { key: item } : item)),
    );
  const many = (share: string, count: number, item: Partial<NewItem> = {}): NewItem[] =>
    Array.from({ length: count }, (_, n) => ({ key: `${share}${n}`, share, ...item }));
  const claim = async (limit = 10, rest: object = {}): Promise<readonly WorkItem[]> =>
    (await items.claim({ kind: KIND, limit, leaseMs: 60_000, ...rest })).items;
  const claimOne = async (): Promise<WorkItem> => (await claim())[0]!;
  const keys = (claimed: readonly WorkItem[]): string[] => claimed.map(({ key }) => key).sort();
  const sharesOf = (claimed: readonly WorkItem[]): string => {
    const shares = [...new Set(claimed.map(({ share }) => share))].sort();
    return shares
      .map((share) => `${share} ${claimed.filter((item) => item.share === share).length}`)
      .join(', ');
  };
  const leaseEnds = (): Promise<unknown> => db.database.query('update work.items set due_at = now()');

  it('lets one process at a time claim an item', async () => {
    await add(...many('a', 20));
    const claims = await Promise.all([claim(8), claim(8), claim(8)]);
    const all = keys(claims.flat());
    expect(new Set(all).size).toBe(all.length);
    expect(all.length + (await claim(20)).length).toBe(20);
    expect(await claim()).toEqual([]);
  });

  it('lets an item be claimed again after its lease, and ignores changes by the former holder', async () => {
    await add('one');
    const stalled = await claimOne();
    await leaseEnds();
    const next = await claimOne();
    expect(await items.extend(stalled, 60_000)).toBe(false);
    expect(await items.retry(stalled, { inMs: 0 })).toBe(false);
    expect(await items.complete(stalled)).toBe(false);
    expect(await claim()).toEqual([]);
    expect(await items.extend(next, 60_000)).toBe(true);
    await leaseEnds();
    expect(await items.complete(next)).toBe(true);
    expect(await claim()).toEqual([]);
  });

  it('retains an item that is scheduled again while a process performs and completes it', async () => {
    await add({ key: 'one', state: { round: 1 } });
    const first = await claimOne();
    await add({ key: 'one', state: { round: 2 } });
    expect(await items.complete(first)).toBe(false);
    const second = await claimOne();
    expect(second.state).toEqual({ round: 2 });
    await db.database.transaction((tx) => wakeWork(tx, KIND, ['one', 'unknown']));
    expect(await items.retry(second, { inMs: 60_000 })).toBe(false);
    expect(await items.complete(await claimOne())).toBe(true);
    await add('one');
    expect(await items.complete(second)).toBe(false);
    expect(await claim()).toHaveLength(1);
  });

  it('makes a retried item due after its delay, and keeps failures, last cause and state', async () => {
    await add('one');
    await items.retry(await claimOne(), { inMs: 0, failure: { cause: 'refused' }, state: { seen: 1 } });
    await items.retry(await claimOne(), { inMs: 0, failure: { cause: 'timeout' } });
    const third = await claimOne();
    expect(third).toMatchObject({ failures: 2, cause: 'timeout', state: { seen: 1 } });
    expect(third.failing_seconds).toBeGreaterThan(0);
    await items.retry(third, { inMs: 0 });
    const fourth = await claimOne();
    expect(fourth).toMatchObject({ failures: 0, failing_seconds: 0, cause: null, state: { seen: 1 } });
    await items.retry(fourth, { inMs: 60_000 });
    expect(await claim()).toEqual([]);
  });

  it('makes several items due after their own delays, except an item whose lease was lost', async () => {
    await add('now', 'later', 'lost');
    const claimed = [...(await claim())].sort((a, b) => (a.key < b.key ? -1 : 1));
    const [later, lost, now] = claimed as [WorkItem, WorkItem, WorkItem];
    await add('lost');
    expect(await items.extend(claimed, 60_000)).toBe(false);
    const settled = await items.retryAll([
      [later, { inMs: 60_000, line: 1 }],
      [lost, { inMs: 60_000 }],
      [now, { inMs: 0, state: { seen: 1 }, failure: { cause: 'refused' } }],
    ]);
    expect(settled).toBe(2);
    const due = await claim();
    expect(keys(due)).toEqual(['lost', 'now']);
    expect(due.find(({ key }) => key === 'now')).toMatchObject({ failures: 1, state: { seen: 1 } });
  });

  it('does not return an item before it is due, nor an item whose transaction was rolled back', async () => {
    await add({ key: 'later', dueAt: new Date(Date.now() + 60_000).toISOString() });
    const rolledBack = db.database.transaction(async (tx) => {
      await scheduleWork(tx, KIND, [{ key: 'never' }]);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(await claim()).toEqual([]);
    await add('later');
    expect(keys(await claim())).toEqual(['later']);
  });

  it('reserves a part of each claim for other merchants while one merchant has 500 due items', async () => {
    await add(...many('large', 500));
    await add(...many('m', 3), ...many('n', 30));
    expect(sharesOf(await claim(20))).toBe('large 9, m 3, n 8');
    expect(sharesOf(await claim(20, { except: ['large'] }))).toBe('n 20');
    expect(sharesOf(await claim(20))).toBe('large 18, n 2');
  });

  it('reserves a fifth of each claim for the second priority line', async () => {
    await add(...many('old', 50, { line: 1 }), ...many('fresh', 50));
    expect(sharesOf(await claim(20, { lines: [0, 1] }))).toBe('fresh 16, old 4');
    expect(sharesOf(await claim(100, { lines: [0, 1] }))).toBe('fresh 34, old 46');
    expect(await claim(1, { lines: [2] })).toEqual([]);
  });
});
