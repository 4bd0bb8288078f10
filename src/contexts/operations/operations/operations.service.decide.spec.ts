import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import {
  lampHandler,
  operationsOn,
  requesterOf,
  switchRequest,
} from '../../../../test/support/operations/operations-harness.js';
import { DomainError } from '../../../kernel/domain-error.js';

const HOUR_MS = 3_600_000;

/** An operation with a second person and a failing execution. */
const failing = (error: Error) =>
  lampHandler(
    'lamps.break',
    { streams: () => [], secondPerson: 'before' },
    { execute: () => Promise.reject(error) },
  );
const FAILING = { name: 'lamps.break', subject: { id: 'x', revision: null } };
const BROKEN = () => [failing(new TypeError('a bug'))];

/** A lamp that is off, and an operation that switches it on after its approval. Decisions are those of bob. */
async function pending(
  options: Parameters<typeof operationsOn>[0] = {},
  request: Parameters<typeof switchRequest>[0] = {},
) {
  const time = { now: new Date('2026-01-02T03:04:05Z') };
  const process = operationsOn({ now: () => time.now, ...options });
  await process.switchLamp('lamp', true);
  await process.switchLamp('lamp', false);
  const { operation } = await process.operations.request(
    ...switchRequest({ name: 'lamps.switch_carefully', subject: { id: 'lamp', revision: 1 }, ...request }),
  );
  const pass = (hours: number): void => void (time.now = new Date(time.now.getTime() + hours * HOUR_MS));
  const lamps = async () => (await process.store.readStream('lamp-lamp')).length;
  const { id } = operation;
  const statusNow = async () => (await process.execution.load(id)).state.phase;
  const decide = (decision: 'approve' | 'reject' = 'approve') =>
    process.operations.decide(decision, id, requesterOf('bob'), 'checked');
  return { ...process, id, pass, lamps, statusNow, decide };
}

describe('the second person of an operation', () => {
  it.each([
    ['is disabled', null, 'The operator is disabled'],
    ['has another role', new Set<string>(), 'The scope merchants:write is missing'],
  ])('cannot decide with a key whose operator %s', async (_, scopes, message) => {
    const scopesOf = async (id: string) => (id === 'bob' ? scopes : new Set(['merchants:write']));
    const { decide, lamps, statusNow } = await pending({ operators: () => ({ findScopes: scopesOf }) });
    for (const decision of ['approve', 'reject'] as const)
      await expect(decide(decision)).rejects.toMatchObject({ code: 'forbidden', message });
    expect([await lamps(), await statusNow()]).toEqual([2, 'pending']);
  });

  it.each([
    ['is disabled', null],
    ['has another role', new Set<string>()],
  ])('makes the operation fail by approving it if the requester %s', async (_, scopes) => {
    const scopesOf = async (id: string) => (id === 'ada' ? scopes : new Set(['merchants:write']));
    const { decide, id, lamps, execution } = await pending({ operators: () => ({ findScopes: scopesOf }) });
    await expect(decide()).rejects.toMatchObject({ code: 'invalid_transition' });
    expect((await execution.load(id)).state).toMatchObject({
      phase: 'failed',
      failure: { code: 'forbidden' },
    });
    expect(await lamps()).toBe(2);
  });

  it('makes the operation fail by approving it if the subject has changed; nothing is written', async () => {
    const { decide, id, lamps, switchLamp, execution } = await pending();
    await switchLamp('lamp', true);
    await switchLamp('lamp', false);
    await expect(decide()).rejects.toMatchObject({ code: 'invalid_transition' });
    expect((await execution.load(id)).state).toMatchObject({ phase: 'failed', failure: { code: 'changed' } });
    expect(await lamps()).toBe(4);
  });

  it('gets invalid_transition if the execution refuses the approved operation for any reason', async () => {
    const refused = DomainError.invalid({ email: ['is used'] });
    const { decide, id, execution } = await pending({ handlers: () => [failing(refused)] }, FAILING);
    await expect(decide()).rejects.toMatchObject({ code: 'invalid_transition' });
    expect((await execution.load(id)).state).toMatchObject({ failure: { code: 'validation_failed' } });
  });

  it('cannot approve after 72 hours, even before a worker has recorded the lapse', async () => {
    const { decide, pass, statusNow, lamps } = await pending();
    pass(72);
    await expect(decide()).rejects.toThrow('The operation has lapsed');
    expect([await statusNow(), await lamps()]).toEqual(['lapsed', 2]);
  });
});

describe('a process whose clock is wrong', () => {
  it.each([
    ['ten minutes ahead', 1 / 6],
    ['three days ahead', 72],
    ['three days behind', -72],
  ])('decides nothing and lets nothing lapse when its clock is %s', async (_, hours) => {
    const time = { now: new Date('2026-01-02T03:04:05Z') };
    const right = await pending({ now: () => time.now });
    const wrong = operationsOn({
      store: right.store,
      now: () => new Date(time.now.getTime() + hours * HOUR_MS),
      databaseNow: () => time.now,
    });
    const { id } = right;
    for (const work of [
      () => wrong.operations.decide('approve', id, requesterOf('bob'), 'checked'),
      () => wrong.operations.decide('reject', id, requesterOf('bob'), 'checked'),
      () => wrong.worker.settle(id),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'unavailable' });
    // A clock that is behind would accept the approval of a lapsed operation.
    time.now = new Date(time.now.getTime() + 73 * HOUR_MS);
    const late = wrong.operations.decide('approve', id, requesterOf('bob'), 'checked');
    await expect(late).rejects.toMatchObject({ code: 'unavailable' });
    expect([await right.statusNow(), await right.lamps()]).toEqual(['pending', 2]);
    expect(await right.worker.settle(id)).toBe('done');
    expect(await right.statusNow()).toBe('lapsed');
  });

  it('refuses requests for operations with an approval deadline, and executes others', async () => {
    const now = new Date('2026-01-02T03:04:05Z');
    const wrong = operationsOn({ now: () => new Date(now.getTime() + HOUR_MS), databaseNow: () => now });
    await wrong.switchLamp('lamp', true);
    await wrong.switchLamp('lamp', false);
    const request = (name: string) =>
      wrong.operations.request(...switchRequest({ name, subject: { id: 'lamp', revision: 1 } }));
    await expect(request('lamps.switch_carefully')).rejects.toMatchObject({ code: 'unavailable' });
    expect((await request('lamps.switch')).operation.status).toBe('executed');
  });

  it('does not give up an operation that has failed for less than an hour of database time', async () => {
    const now = new Date('2026-01-02T03:04:05Z');
    const { store, decide, id, statusNow } = await pending({ now: () => now, handlers: BROKEN }, FAILING);
    await expect(decide()).rejects.toThrow('a bug');
    const wrong = operationsOn({
      store,
      handlers: BROKEN,
      now: () => new Date(now.getTime() + 72 * HOUR_MS),
      databaseNow: () => now,
    });
    await expect(wrong.worker.settle(id)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await statusNow()).toBe('approved');
  });
});

describe('the worker of operations', () => {
  it('lets an operation lapse if it is not approved within 72 hours, and not earlier', async () => {
    const { worker, id, pass, statusNow } = await pending();
    pass(71);
    expect(await worker.settle(id)).toEqual({ inMs: HOUR_MS });
    expect(await statusNow()).toBe('pending');
    pass(1);
    expect(await worker.settle(id)).toBe('done');
    expect(await statusNow()).toBe('lapsed');
  });

  it('executes an operation whose process was killed before or after the write, and writes only once', async () => {
    for (const place of ['before', 'after'] as const) {
      const store = new InMemoryEventStore();
      const killed = new Error('killed');
      const { decide, id } = await pending({
        store,
        around: (now) => {
          if (now === place) throw killed;
        },
      });
      await expect(decide()).rejects.toBe(killed);
      const other = operationsOn({ store });
      expect(await other.worker.settle(id)).toBe('done');
      expect((await other.execution.load(id)).state.phase).toBe('executed');
      expect(await store.readStream('lamp-lamp')).toHaveLength(3);
    }
  });

  it('gives up an operation that fails unexpectedly for an hour', async () => {
    const { worker, decide, id, pass, statusNow } = await pending({ handlers: BROKEN }, FAILING);
    await expect(decide()).rejects.toThrow('a bug');
    await expect(worker.settle(id)).rejects.toThrow('a bug');
    pass(1);
    expect(await worker.settle(id)).toBe('done');
    expect(await statusNow()).toBe('failed');
  });
});
