import { describe, expect, it } from '@jest/globals';
import {
  lampHandler,
  operationsOn,
  requesterOf,
  switchRequest,
} from '../../../../test/support/operations/operations-harness.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { SubjectChanged } from '../../../platform/event-store/command-loop.js';

const FOLLOWED = { pending: 'prepared', ended: 'discarded', executed: 'repeated' };
const nothing = Promise.resolve({});

describe('the preparation of an operation', () => {
  const trace: string[] = [];
  const keys = (given: Partial<Parameters<typeof lampHandler>[2]> = {}) =>
    lampHandler(
      'keys.issue',
      { secondPerson: 'before' },
      {
        follow: async ({ operation }, { status }) => {
          trace.push(`${FOLLOWED[status]} ${operation!.id}`);
          return { secret: `secret of ${operation!.id}` };
        },
        execute: async ({ operation }) => void trace.push(`executed ${operation!.id}`),
        ...given,
      },
    );

  /** A process with the handler, and a request of its operation with this id. */
  const processOf = (handler: object) => {
    const id = newId();
    const subject = { id: 'lamp', revision: null };
    const process = operationsOn({ handlers: () => [handler] });
    const request = switchRequest({ name: 'keys.issue', subject, idempotency: { id: () => id } });
    return { ...process, id, request: () => process.operations.request(...request) };
  };
  const requested = async () => {
    const process = processOf(keys());
    await process.request();
    return process;
  };

  it.each([
    ['rejected', 'bob'],
    ['withdrawn', 'ada'],
  ])('is discarded if the operation is %s', async (status, who) => {
    const { operations, execution, id } = await requested();
    const { operation } = await operations.decide('reject', id, requesterOf(who), 'no');
    expect([operation.status, (await execution.load(id)).state.phase]).toEqual([status, status]);
    expect(trace.splice(0)).toEqual([`prepared ${id}`, `discarded ${id}`]);
  });

  it('makes the operation fail if the handler refuses the preparation', async () => {
    const refusal = DomainError.invalid({ expires_at: ['must be in the future'] });
    const refused = keys({
      follow: (_, { status }) => (status === 'pending' ? Promise.reject(refusal) : nothing),
    });
    const { request, execution, id } = processOf(refused);
    await expect(request()).rejects.toBe(refusal);
    const { state } = await execution.load(id);
    expect(state).toMatchObject({ phase: 'failed', failure: { code: 'validation_failed' } });
    trace.length = 0;
  });

  it('keeps the operation pending if a concurrent repeat of the request has prepared it', async () => {
    const late = keys({ follow: () => Promise.reject(new SubjectChanged()) });
    const { request, execution, id } = processOf(late);
    await expect(request()).rejects.toBeInstanceOf(SubjectChanged);
    expect((await execution.load(id)).state).toMatchObject({ phase: 'pending' });
    expect(trace.splice(0)).toEqual([]);
  });

  it('happens at the request and is not discarded by the approval', async () => {
    const { operations, id } = await requested();
    await operations.decide('approve', id, requesterOf('bob'), 'checked');
    expect(trace.splice(0)).toEqual([`prepared ${id}`, `executed ${id}`]);
  });
});
