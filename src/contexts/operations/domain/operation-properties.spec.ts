import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  approveOperation,
  confirmOperation,
  lapseOperation,
  recordExecuted,
  recordFailed,
  rejectOperation,
  requestedFacts,
  requestOperation,
} from './decisions.js';
import { operationHistory } from './history.js';
import type { OperationEvent, PersonFacts } from './operation-events.js';
import { operation, type OperationState } from './operation.js';

const BEGIN = Date.parse('2026-01-02T03:04:05Z');
const HOUR_MS = 3_600_000;

const person = (id: string | null): PersonFacts => ({
  operator_id: id,
  name: id ?? 'shell',
  role: null,
  credential_id: null,
  address: null,
});
const people = fc.constantFrom('ada', 'bob', null);
const step = fc.record({
  kind: fc.constantFrom('approve', 'reject', 'confirm', 'execute', 'fail', 'lapse'),
  by: people,
  hours: fc.integer({ min: 0, max: 30 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function decide({ kind, by }: Step, at: string, state: OperationState): readonly OperationEvent[] {
  const decision = { operation_id: 'o1', decided_by: person(by), reason: 'checked', at };
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

it('whatever is decided in whichever order, an operation has one end, and none without its second person', () => {
  const secondPerson = fc.constantFrom('before' as const, 'after' as const, null);
  const approvals = fc.constantFrom('on' as const, 'off' as const);
  fc.assert(
    fc.property(
      secondPerson,
      approvals,
      people,
      fc.array(step, { maxLength: 12 }),
      (second, on, by, steps) => {
        let now = BEGIN;
        const facts = requestedFacts(
          {
            operation_id: 'o1',
            name: 'users.erase',
            subject: { kind: 'user', id: 'u1', revision: 0 },
            parameters: {},
            reason: 'requested',
            ticket: null,
            merchant_id: null,
            second_person: second,
            requested_by: person(by),
            requested_at: new Date(now).toISOString(),
          },
          { approvals: on },
        );
        const events: OperationEvent[] = [...requestOperation(facts, operation.initial)];
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
          expect(Date.parse(approval!.data.at)).toBeLessThan(BEGIN + 72 * HOUR_MS);
        }
        let { initial: state } = operationHistory;
        for (const event of events) {
          const { state: next, broken } = operationHistory.evaluate(state, event, 'o1');
          expect(broken).toBeNull();
          state = next;
        }
      },
    ),
    { numRuns: 500 },
  );
});

it('an audit finds an operation that was executed without its approval, or twice', () => {
  const at = new Date(BEGIN).toISOString();
  const broken = (second: 'before' | null, ...types: ('executed' | 'approved')[]): (string | null)[] => {
    const requested = requestedFacts(
      {
        operation_id: 'o1',
        name: 'users.erase',
        subject: { kind: 'user', id: 'u1', revision: 0 },
        parameters: {},
        reason: 'requested',
        ticket: null,
        merchant_id: null,
        second_person: second,
        requested_by: person('ada'),
        requested_at: at,
      },
      { approvals: 'on' },
    );
    const data = {
      executed: { operation_id: 'o1', changes: [], at },
      approved: { operation_id: 'o1', decided_by: person('ada'), reason: 'mine', at },
    };
    let state = operationHistory.evaluate(
      operationHistory.initial,
      { type: 'operation.requested.v1', data: requested },
      'o1',
    ).state;
    return types.map((type) => {
      const result = operationHistory.evaluate(
        state,
        { type: `operation.${type}.v1`, data: data[type] },
        'o1',
      );
      ({ state } = result);
      return result.broken;
    });
  };
  expect(broken('before', 'executed')).toEqual(['The operation is waiting for its approval']);
  expect(broken('before', 'approved')).toEqual(['Another person must approve this operation']);
  expect(broken(null, 'executed', 'executed')).toEqual([null, 'it does not follow from what was before it']);
});
