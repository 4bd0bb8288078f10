import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import {
  LAMP_OPERATIONS,
  lampHandler,
  operationsOn,
  requesterOf,
  switchRequest,
} from '../../../../test/support/operations/operations-harness.js';
import type { DiscoveryService } from '@nestjs/core';
import { OPERATIONS } from '../../../platform/operations/operation.js';
import { Definitions } from './definitions.service.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { IdempotencyKeyExpired } from '../../../kernel/idempotency.js';
import { deriveId } from '../../../kernel/ids.js';
import { withinOperation } from '../../../platform/event-store/command-loop.js';

const idempotency = { id: (purpose: string) => deriveId('key', purpose, '0') };

/** A process with a lamp that is off, at revision 1. */
async function withLamp(given: Parameters<typeof operationsOn>[0] = {}) {
  const process = operationsOn(given);
  await process.switchLamp('lamp', true);
  await process.switchLamp('lamp', false);
  const switchOn = (rest: Parameters<typeof switchRequest>[0] = {}) =>
    process.operations.request(...switchRequest({ subject: { id: 'lamp', revision: 1 }, ...rest }));
  return { ...process, switchOn };
}

const typesOf = async (
  store: InMemoryEventStore | ReturnType<typeof operationsOn>['store'],
  stream: string,
) => (await store.readStream(stream)).map(({ type }) => type);

it('the session id of a requester is recorded in the operation and never displayed', async () => {
  const { operations, execution, switchLamp } = operationsOn();
  await switchLamp('lamp', true);
  const requester = { ...requesterOf('ada'), sessionId: 's1' };
  const { operation } = await operations.request(...switchRequest({ parameters: { on: false }, requester }));
  expect((await execution.load(operation.id)).state).toMatchObject({
    facts: { requested_by: { session_id: 's1' } },
  });
  expect(JSON.stringify(operation)).not.toContain('s1');
});

describe('a requested operation', () => {
  it('is executed at once, and operation and change refer to each other', async () => {
    const { store, switchOn } = await withLamp();
    const { operation, result } = await switchOn();
    expect(operation).toMatchObject({
      name: 'lamps.switch',
      status: 'executed',
      approval: 'none',
      subject: { kind: 'lamp', id: 'lamp', revision: 1 },
      requested_by: { operator_id: 'ada', name: 'ada' },
      failure: null,
    });
    expect(result).toEqual({ on: true });
    const [change] = await store.readStream('lamp-lamp', { lastOnly: true });
    expect(change!.metadata.operation_id).toBe(operation.id);
    const [last] = await store.readStream(`operation-${operation.id}`, { lastOnly: true });
    expect(last).toMatchObject({
      type: 'operation.executed.v1',
      data: { changes: [{ stream: 'lamp-lamp', event_id: change!.id, type: 'lamp.switched.v1' }] },
    });
  });

  it.each([
    [
      'the scope of the operation is missing',
      { requester: requesterOf('ada', []) },
      'forbidden',
      /merchants:write/,
    ],
    [
      'the subject is at another revision',
      { subject: { id: 'lamp', revision: 0 } },
      'precondition_failed',
      /changed/,
    ],
    ['the subject does not exist', { subject: { id: 'other', revision: 0 } }, 'not_found', /Lamp not found/],
    [
      'the credential is confined to other merchants',
      { requester: { ...requesterOf('ada'), merchants: ['m2'] }, merchantId: 'm1' },
      'not_found',
      /Lamp not found/,
    ],
    [
      'the credential is confined and the subject belongs to no merchant',
      { requester: { ...requesterOf('ada'), merchants: ['m2'] } },
      'forbidden',
      /of its merchants/,
    ],
  ] as const)('is refused without a record if %s', async (_, given, code, message) => {
    const { store, switchOn } = await withLamp();
    const before = await store.head();
    const refused = await switchOn(given as object).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DomainError);
    expect(refused).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await store.head()).toBe(before);
  });

  it('needs a requester with the scopes that it grants', async () => {
    const gives = lampHandler(
      'lamps.give',
      { streams: () => [] },
      { grants: async () => ['audit:read'], execute: async () => undefined },
    );
    const { switchOn } = await withLamp({ handlers: () => [gives] });
    const given = { name: 'lamps.give', subject: { id: 'x', revision: null } };
    await expect(switchOn(given)).rejects.toThrow('The scope audit:read is missing');
    const both = requesterOf('ada', ['merchants:write', 'audit:read']);
    expect((await switchOn({ ...given, requester: both })).operation.status).toBe('executed');
  });

  it('is recorded as failed if its subject refuses it; a new Idempotency-Key can request it again', async () => {
    const { store, switchOn } = await withLamp();
    const off = { parameters: { on: false }, idempotency };
    await expect(switchOn(off)).rejects.toMatchObject({ code: 'invalid_transition' });
    expect(await typesOf(store, `operation-${idempotency.id('operation')}`)).toEqual([
      'operation.requested.v1',
      'operation.failed.v1',
    ]);
    const on = { ...off, parameters: { on: true } };
    await expect(switchOn(on)).rejects.toThrow(IdempotencyKeyExpired);
    const next = { id: (purpose: string) => deriveId('key', purpose, '1') };
    expect((await switchOn({ ...on, idempotency: next })).operation.id).toBe(next.id('operation'));
  });

  it('is executed at once if approvals are off', async () => {
    const { switchOn } = await withLamp({ approvals: 'off' });
    const before = await switchOn({ name: 'lamps.switch_carefully' });
    expect(before.operation).toMatchObject({ status: 'executed', approval: 'off', expires_at: null });
  });

  it('fails if its subject changes during the execution', async () => {
    const store = new InMemoryEventStore();
    const other = operationsOn({ store });
    const switchOther = () =>
      withinOperation({ id: 'x', expected: new Map(), written: [] }, () => other.switchLamp('lamp', true));
    const { switchOn } = await withLamp({
      store,
      around: (place) => (place === 'before' ? switchOther() : undefined),
    });
    await expect(switchOn({ idempotency })).rejects.toMatchObject({ code: 'precondition_failed' });
    const [last] = await store.readStream(`operation-${idempotency.id('operation')}`, { lastOnly: true });
    expect(last).toMatchObject({ type: 'operation.failed.v1', data: { code: 'changed' } });
  });

  it.each(['before', 'after'] as const)(
    'is executed once by a repeat if the process was killed %s the change',
    async (killedAt) => {
      const store = new InMemoryEventStore();
      const killed = await withLamp({
        store,
        around: (place) => {
          if (place === killedAt) throw new Error('killed');
        },
      });
      await expect(killed.switchOn({ idempotency })).rejects.toThrow('killed');
      const { operations } = operationsOn({ store });
      const request = switchRequest({ subject: { id: 'lamp', revision: 1 }, idempotency });
      expect((await operations.request(...request)).operation.status).toBe('executed');
      expect(await typesOf(store, 'lamp-lamp')).toHaveLength(3);
    },
  );

  it('is executed once by two concurrent processes', async () => {
    const store = new InMemoryEventStore();
    const { switchOn } = await withLamp({ store });
    const { operations } = operationsOn({ store });
    const request = switchRequest({ subject: { id: 'lamp', revision: 1 }, idempotency });
    const outcomes = await Promise.all([switchOn({ idempotency }), operations.request(...request)]);
    expect(outcomes.map(({ operation }) => operation.status)).toEqual(['executed', 'executed']);
    expect(await typesOf(store, 'lamp-lamp')).toHaveLength(3);
  });
});

it.each([
  ['two handlers of one operation', 2, 'the operation lamps.twice is declared twice'],
  ['an operation without a handler', 0, 'the operation lamps.twice has no handler'],
])('the boot fails with %s', (_, count, message) => {
  const handler = lampHandler('lamps.twice', {}, { execute: async () => undefined });
  const providers = Array.from({ length: count }, () => ({
    instance: handler,
    metatype: handler.constructor,
  }));
  const discovery = { getProviders: () => providers } as unknown as DiscoveryService;
  const others = [...OPERATIONS];
  OPERATIONS.clear();
  try {
    const command = Reflect.getMetadata('__commandHandler__', handler.constructor) as never;
    OPERATIONS.set(command, LAMP_OPERATIONS.get(command)!);
    expect(() => new Definitions(discovery).onModuleInit()).toThrow(message);
  } finally {
    OPERATIONS.clear();
    for (const [type, facts] of others) OPERATIONS.set(type, facts);
  }
});
