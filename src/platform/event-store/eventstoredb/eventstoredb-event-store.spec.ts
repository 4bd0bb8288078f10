import { describe, expect, it, jest } from '@jest/globals';
import { WrongExpectedVersionError } from '@eventstore/db-client';
import type { CommitResult } from '../port.js';
import type { Connection } from './connection.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';
import { NoResponseInTime } from './failures.js';

const CHECK = { stream: 's-1', events: [], expected: 1 };
const WRONG = (): Error => Object.create(WrongExpectedVersionError.prototype) as Error;

/** Commits {@link CHECK} with these responses of the server and results of reads, in order. */
async function commit(responses: readonly (Error | 'done')[], heads: readonly number[] = []) {
  const sent: unknown[][] = [];
  const appendToStream = async (...call: unknown[]): Promise<unknown> => {
    const response = responses[sent.push(call) - 1];
    if (response instanceof Error) throw response;
    return { success: true, nextExpectedRevision: 1n };
  };
  const reconnect = jest.fn();
  const connection = { client: { appendToStream }, reconnect, close: async () => undefined };
  const store = new EventStoreDbEventStore(connection as unknown as Connection);
  const readHead = jest.spyOn(store as unknown as { readHead: () => Promise<number | null> }, 'readHead');
  for (const head of heads) readHead.mockResolvedValueOnce(head);
  const result: CommitResult = await store.commit({ appends: [CHECK] });
  return { result, sent, reconnects: reconnect.mock.calls.length };
}

describe('the revision check of a stream in EventStoreDB', () => {
  it('is an append without events, which succeeds at the expected revision', async () => {
    const { result, sent } = await commit(['done']);
    expect(result).toEqual({ outcome: 'committed', position: null, revisions: [1] });
    expect(sent).toEqual([
      ['s-1', [], expect.objectContaining({ expectedRevision: 1n, requiresLeader: true })],
    ]);
  });

  it('is a conflict if the stream is at another revision', async () => {
    expect((await commit([WRONG()], [2])).result).toEqual({ outcome: 'conflict', stream: 's-1', actual: 2 });
  });

  it('is sent again over another connection if there was no response', async () => {
    const { result, sent, reconnects } = await commit([new NoResponseInTime(), 'done']);
    expect([result.outcome, sent.length, reconnects]).toEqual(['committed', 2, 1]);
  });

  it('waits until reads return an event that the server already has', async () => {
    const { result, sent } = await commit([WRONG(), WRONG()], [1, 2]);
    expect(result).toMatchObject({ outcome: 'conflict', actual: 2 });
    expect(sent).toHaveLength(2);
    // The leader lost the append: the revision is valid after all.
    expect((await commit([WRONG(), 'done'], [1])).result.outcome).toBe('committed');
  });
});
