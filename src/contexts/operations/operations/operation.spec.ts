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

describe('an operation', () => {
  it('is requested once, also when the request is repeated', () => {
    given()
      .when((state) => requestOperation(facts(null), state))
      .then(requested(null));
    given(requested(null))
      .when((state) => requestOperation(facts(null), state))
      .then();
  });

  it('waits 72 hours for an approval, and 24 for a confirmation; where approvals are off, for neither', () => {
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

  it('is approved by another person, once', () => {
    given(requested('before'))
      .when((state) => approveOperation(by('bob'), state))
      .then(approved);
    given(requested('before'))
      .when((state) => approveOperation(by('ada'), state))
      .thenRefused('forbidden');
    given(requested('before'), approved)
      .when((state) => approveOperation(by('cy'), state))
      .thenRefused('invalid_transition');
    given(requested('before'), approved)
      .when((state) => approveOperation(by('bob'), state))
      .thenRefused('invalid_transition');
  });

  it('is approved by a person, never by the shell, where the shell requested it', () => {
    given(requested('before', null))
      .when((state) => approveOperation(by('bob'), state))
      .then(approved);
    given(requested('before', null))
      .when((state) => approveOperation(by(null), state))
      .thenRefused('forbidden');
  });

  it('lapses when its approval comes too late, and not before', () => {
    const last = new Date(Date.parse(later(72)) - 1).toISOString();
    given(requested('before'))
      .when((state) => approveOperation(by('bob', later(72)), state))
      .then(lapsed(later(72)));
    given(requested('before'))
      .when((state) => rejectOperation(by('bob', later(73)), state))
      .then(lapsed(later(73)));
    given(requested('before'))
      .when((state) => lapseOperation({ operation_id: 'o1', at: last }, state))
      .then();
    given(requested('before'), lapsed(later(72)))
      .when((state) => approveOperation(by('bob'), state))
      .thenRefused('invalid_transition');
  });

  it('is rejected by another person, and withdrawn by its requester', () => {
    given(requested('before'))
      .when((state) => rejectOperation(by('bob'), state))
      .then({ type: 'operation.rejected.v1', data: by('bob') });
    given(requested('before'))
      .when((state) => rejectOperation(by('ada'), state))
      .then({ type: 'operation.withdrawn.v1', data: by('ada') });
    given(requested('before'), approved, wasExecuted)
      .when((state) => rejectOperation(by('bob'), state))
      .thenRefused('invalid_transition');
  });

  it('is executed at once without a second person, and never before an approval', () => {
    given(requested(null))
      .when((state) => recordExecuted(executed, state))
      .then(wasExecuted);
    given(requested('before'), approved)
      .when((state) => recordExecuted(executed, state))
      .then(wasExecuted);
    given(requested('before'), approved, wasExecuted)
      .when((state) => recordExecuted(executed, state))
      .then();
    for (const history of [
      [],
      [lapsed(later(72))],
      [approved, { type: 'operation.failed.v1', data: failed }],
    ])
      given(requested('before'), ...(history as OperationEvent[]))
        .when((state) => recordExecuted(executed, state))
        .thenRefused('invalid_transition');
  });

  it('is confirmed by another person after an execution at once, also late', () => {
    const confirmed = (when: string): OperationEvent => ({
      type: 'operation.confirmed.v1',
      data: by('bob', when),
    });
    given(requested('after'), wasExecuted)
      .when((state) => confirmOperation(by('bob', later(100)), state))
      .then(confirmed(later(100)));
    given(requested('after'), wasExecuted)
      .when((state) => confirmOperation(by('ada'), state))
      .thenRefused('forbidden');
    given(requested('after'), wasExecuted, confirmed(at))
      .when((state) => confirmOperation(by('cy'), state))
      .thenRefused('invalid_transition');
    given(requested('after', 'ada', 'off'), wasExecuted)
      .when((state) => confirmOperation(by('bob'), state))
      .thenRefused('invalid_transition');
  });

  it('fails while it is open or waits; an ended operation stays as it is', () => {
    given(requested(null))
      .when((state) => recordFailed(failed, state))
      .then({ type: 'operation.failed.v1', data: failed });
    given(requested(null), wasExecuted)
      .when((state) => recordFailed(failed, state))
      .then();
    given(requested('before'))
      .when((state) => recordFailed(failed, state))
      .then({ type: 'operation.failed.v1', data: failed });
  });

  it('cannot be decided where it does not exist', () => {
    given()
      .when((state) => approveOperation(by('bob'), state))
      .thenRefused('not_found');
  });

  it('has the statuses of the admin API', () => {
    const status = (...events: OperationEvent[]) => toStatus(existingOperation(fold(operation, events)));
    expect([
      status(requested('before')),
      status(requested('before'), approved, wasExecuted),
      status(requested('after'), wasExecuted),
      status(requested('after'), wasExecuted, { type: 'operation.confirmed.v1', data: by('bob') }),
      status(requested('after', 'ada', 'off'), wasExecuted),
      status(requested('before'), { type: 'operation.withdrawn.v1', data: by('ada') }),
      status(requested('before'), lapsed(later(72))),
      status(requested(null), { type: 'operation.failed.v1', data: failed }),
    ]).toEqual([
      'pending_approval',
      'executed',
      'unconfirmed',
      'executed',
      'executed',
      'withdrawn',
      'lapsed',
      'failed',
    ]);
  });
});

const HOUR_MS = 3_600_000;
const people = fc.constantFrom('ada', 'bob', null);
const step = fc.record({
  kind: fc.constantFrom('approve', 'reject', 'confirm', 'execute', 'fail', 'lapse'),
  by: people,
  hours: fc.integer({ min: 0, max: 30 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function decide({ kind, by: who }: Step, at: string, state: OperationState): readonly OperationEvent[] {
  const decision = by(who, at);
  switch (kind) {
    case 'approve':
      return approveOperation(decision, state);
    case 'reject':
      return rejectOperation(decision, state);
    case 'confirm':
      return confirmOperation(decision, state);
    case 'execute':
      return recordExecuted({ operation_id: 'o1', changes: [], at }, state);
    case 'fail':
      return recordFailed({ operation_id: 'o1', code: 'changed', message: 'changed', at }, state);
    default:
      return lapseOperation({ operation_id: 'o1', at }, state);
  }
}

it('an operation has one end in any order of decisions, and none without its second person', () => {
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

it('an audit finds an operation that was executed without its approval, or twice', () => {
  const ownApproval: OperationEvent = { type: 'operation.approved.v1', data: by('ada') };
  const broken = (...events: OperationEvent[]) => brokenRules(operationHistory, 'o1', events).slice(1);
  expect(broken(requested('before'), wasExecuted)).toEqual(['The operation is waiting for its approval']);
  expect(broken(requested('before'), ownApproval)).toEqual(['Another person must approve this operation']);
  expect(broken(requested(null), wasExecuted, wasExecuted)).toEqual([
    null,
    'it does not follow from what was before it',
  ]);
});
