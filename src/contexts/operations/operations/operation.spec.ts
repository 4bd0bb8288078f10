import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import { givenOf } from '../../../../test/support/given.js';
import {
  approveOperation,
  confirmOperation,
  lapseOperation,
  recordExecuted,
  recordFailed,
  rejectOperation,
  requestedFacts,
  requestOperation,
  type DecisionFacts,
  type OperationEvent,
  type PersonFacts,
  operationHistory,
  existingOperation,
  operation,
  toStatus,
  type OperationState,
} from './operation.js';
import { fold } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';

const at = '2026-01-02T03:04:05.000Z';
const later = (hours: number): string => new Date(Date.parse(at) + hours * 3_600_000).toISOString();
const person = (id: string | null): PersonFacts => ({
  operator_id: id,
  name: id ?? 'shell',
  role: id === null ? null : 'administrator',
  credential_id: null,
  address: null,
});
const facts = (
  second_person: 'before' | 'after' | null,
  by: string | null = 'ada',
  approvals: 'on' | 'off' = 'on',
) =>
  requestedFacts(
    {
      operation_id: 'o1',
      name: 'users.erase',
      subject: { kind: 'user', id: 'u1', revision: 3 },
      parameters: {},
      reason: 'requested by the user',
      ticket: null,
      merchant_id: 'm1',
      second_person,
      requested_by: person(by),
      requested_at: at,
    },
    { approvals },
  );
const requested = (...given: Parameters<typeof facts>): OperationEvent => ({
  type: 'operation.requested.v1',
  data: facts(...given),
});
const by = (id: string | null, when = at): DecisionFacts => ({
  operation_id: 'o1',
  decided_by: person(id),
  reason: 'checked',
  at: when,
});
const approved: OperationEvent = { type: 'operation.approved.v1', data: by('bob') };
const executed = { operation_id: 'o1', changes: [], at };
const wasExecuted: OperationEvent = { type: 'operation.executed.v1', data: executed };
const lapsed = (when: string): OperationEvent => ({
  type: 'operation.lapsed.v1',
  data: { operation_id: 'o1', at: when },
});
const failed = { operation_id: 'o1', code: 'changed', message: 'it was changed', at };

const given = givenOf(operation);

type Decision = (state: OperationState) => OperationEvent[];
const approve =
  (who: string | null, when = at): Decision =>
  (state) =>
    approveOperation(by(who, when), state);
const reject =
  (who: string, when = at): Decision =>
  (state) =>
    rejectOperation(by(who, when), state);
const confirm =
  (who: string, when = at): Decision =>
  (state) =>
    confirmOperation(by(who, when), state);
const request: Decision = (state) => requestOperation(facts(null), state);
const execute: Decision = (state) => recordExecuted(executed, state);
const fail: Decision = (state) => recordFailed(failed, state);
const lapse =
  (when: string): Decision =>
  (state) =>
    lapseOperation({ operation_id: 'o1', at: when }, state);

const once = requested(null);
const waiting = requested('before');
const fast = [requested('after'), wasExecuted];
const hasFailed: OperationEvent = { type: 'operation.failed.v1', data: failed };
const confirmed = (when: string): OperationEvent => ({
  type: 'operation.confirmed.v1',
  data: by('bob', when),
});

describe('an operation', () => {
  it('waits 72 hours for an approval and 24 for a confirmation, or for neither if approvals are off', () => {
    const of = (...each: Parameters<typeof facts>) => {
      const { approval, expires_at } = facts(...each);
      return [approval, expires_at];
    };
    expect(of('before')).toEqual(['required', later(72)]);
    expect(of('after')).toEqual(['required', later(24)]);
    expect(of(null)).toEqual(['none', null]);
    expect(of('before', 'ada', 'off')).toEqual(['off', null]);
    expect(of(null, 'ada', 'off')).toEqual(['none', null]);
  });

  it.each<[string, OperationEvent[], Decision, OperationEvent[]]>([
    ['is requested', [], request, [once]],
    ['is requested once', [once], request, []],
    ['is approved by another person', [waiting], approve('bob'), [approved]],
    ['from the shell is approved by a person', [requested('before', null)], approve('bob'), [approved]],
    ['lapses when its approval comes too late', [waiting], approve('bob', later(72)), [lapsed(later(72))]],
    ['lapses when its rejection comes too late', [waiting], reject('bob', later(73)), [lapsed(later(73))]],
    ['does not lapse before 72 h', [waiting], lapse(new Date(Date.parse(later(72)) - 1).toISOString()), []],
    ['is rejected', [waiting], reject('bob'), [{ type: 'operation.rejected.v1', data: by('bob') }]],
    ['is withdrawn', [waiting], reject('ada'), [{ type: 'operation.withdrawn.v1', data: by('ada') }]],
    ['is executed at once without a second person', [once], execute, [wasExecuted]],
    ['is executed after its approval', [waiting, approved], execute, [wasExecuted]],
    ['is executed once', [waiting, approved, wasExecuted], execute, []],
    ['is confirmed, even after 24 hours', fast, confirm('bob', later(100)), [confirmed(later(100))]],
    ['can fail while it waits for its approval', [waiting], fail, [hasFailed]],
  ])('%s', (_, history, decision, events) => {
    given(...history)
      .when(decision)
      .then(...events);
  });

  it.each<[string, OperationEvent[], Decision, 'forbidden' | 'invalid_transition' | 'not_found']>([
    ['approved by its requester', [waiting], approve('ada'), 'forbidden'],
    ['approved twice', [waiting, approved], approve('cy'), 'invalid_transition'],
    ['approved by the shell', [requested('before', null)], approve(null), 'forbidden'],
    ['approved if it does not exist', [], approve('bob'), 'not_found'],
    ['rejected after its execution', [waiting, approved, wasExecuted], reject('bob'), 'invalid_transition'],
    ['executed after it has lapsed', [waiting, lapsed(later(72))], execute, 'invalid_transition'],
    ['executed after it has failed', [waiting, approved, hasFailed], execute, 'invalid_transition'],
    ['executed before its approval', [waiting], execute, 'invalid_transition'],
    ['confirmed by its requester', fast, confirm('ada'), 'forbidden'],
    ['confirmed twice', [...fast, confirmed(at)], confirm('cy'), 'invalid_transition'],
    [
      'confirmed if approvals are off',
      [requested('after', 'ada', 'off'), wasExecuted],
      confirm('bob'),
      'invalid_transition',
    ],
  ])('is not %s', (_, history, decision, code) => {
    given(...history)
      .when(decision)
      .thenRefused(code);
  });

  it.each<[string, ...OperationEvent[]]>([
    ['pending_approval', waiting],
    ['executed', waiting, approved, wasExecuted],
    ['unconfirmed', ...fast],
    ['executed', ...fast, confirmed(at)],
    ['executed', requested('after', 'ada', 'off'), wasExecuted],
    ['withdrawn', waiting, { type: 'operation.withdrawn.v1', data: by('ada') }],
    ['lapsed', waiting, lapsed(later(72))],
    ['failed', once, hasFailed],
  ])('has the status %s in the admin API', (status, ...events) => {
    expect(toStatus(existingOperation(fold(operation, events)))).toBe(status);
  });
});

const HOUR_MS = 3_600_000;
const people = fc.constantFrom('ada', 'bob', null);
const step = fc.record({
  kind: fc.constantFrom(...(['approve', 'reject', 'confirm', 'execute', 'fail', 'lapse'] as const)),
  by: people,
  hours: fc.integer({ min: 0, max: 30 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function decide({ kind, by: who }: Step, at: string, state: OperationState): readonly OperationEvent[] {
  const decision = { ...by(who, at), ...failed, changes: [], at };
  return {
    approve: approveOperation,
    reject: rejectOperation,
    confirm: confirmOperation,
    execute: recordExecuted,
    fail: recordFailed,
    lapse: lapseOperation,
  }[kind](decision, state);
}

it('an operation ends at most once in any order of decisions, and is not executed without its second person', () => {
  const secondPerson = fc.constantFrom('before' as const, 'after' as const, null);
  const approvals = fc.constantFrom('on' as const, 'off' as const);
  fc.assert(
    fc.property(
      secondPerson,
      approvals,
      people,
      fc.array(step, { maxLength: 12 }),
      (second, on, by, steps) => {
        let now = Date.parse(at);
        const events: OperationEvent[] = [...requestOperation(facts(second, by, on), operation.initial)];
        for (const each of steps) {
          now += each.hours * HOUR_MS;
          try {
            events.push(...decide(each, new Date(now).toISOString(), fold(operation, events)));
          } catch (error) {
            expect(error).toBeInstanceOf(DomainError);
          }
        }
        const count = (...types: string[]): number =>
          events.filter(({ type }) => types.some((each) => type === `operation.${each}.v1`)).length;
        expect(count('executed', 'failed', 'rejected', 'withdrawn', 'lapsed')).toBeLessThanOrEqual(1);
        const approval = events.find((event) => event.type === 'operation.approved.v1');
        if (second === 'before' && on === 'on' && count('executed') === 1) {
          expect(approval?.data.decided_by.operator_id ?? by).not.toBe(by);
          expect(Date.parse(approval!.data.at)).toBeLessThan(Date.parse(at) + 72 * HOUR_MS);
        }
        expect(brokenRules(operationHistory, 'o1', events).filter(Boolean)).toEqual([]);
      },
    ),
    { numRuns: 500 },
  );
});

it('an audit finds an operation that was executed twice or without its approval', () => {
  const ownApproval: OperationEvent = { type: 'operation.approved.v1', data: by('ada') };
  const broken = (...events: OperationEvent[]) => brokenRules(operationHistory, 'o1', events).slice(1);
  expect(broken(requested('before'), wasExecuted)).toEqual(['The operation is waiting for its approval']);
  expect(broken(requested('before'), ownApproval)).toEqual(['Another person must approve this operation']);
  expect(broken(requested(null), wasExecuted, wasExecuted)).toEqual([
    null,
    'it does not follow from what was before it',
  ]);
});
