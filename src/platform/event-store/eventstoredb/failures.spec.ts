import { describe, expect, it } from '@jest/globals';
import { AccessDeniedError, CancelledError, StreamDeletedError, UnknownError } from '@eventstore/db-client';
import { EventStoreUnavailable } from '../port.js';
import { EventStoreRefusal, retryWhileUnavailable } from './failures.js';

function said(message: string): ConstructorParameters<typeof UnknownError>[0] {
  return Object.assign(new Error(message), { code: 2, details: message }) as never;
}

describe('a call to EventStoreDB', () => {
  it.each([
    ['a server that is not ready yet', new UnknownError(said('2 UNKNOWN: Server Is Not Ready'))],
    ['a server that stops', new UnknownError(said('13 INTERNAL: Received RST_STREAM with code 2'))],
    ['a channel that another call left', new Error('Channel has been shut down')],
    ['a call that the server ended', new CancelledError(said('1 CANCELLED: Call cancelled'))],
  ])('is repeated after %s, and fails as unavailable after the time limit', async (_name, error) => {
    let attempts = 0;
    const twice = retryWhileUnavailable(async () => {
      attempts += 1;
      if (attempts < 3) throw error;
      return attempts;
    });
    await expect(twice).resolves.toBe(3);
    await expect(retryWhileUnavailable(() => Promise.reject(error), { timeoutMs: 20 })).rejects.toThrow(
      EventStoreUnavailable,
    );
  });

  it.each([
    ['denied access', new AccessDeniedError(said('16 UNAUTHENTICATED')), /EVENT_STORE_URL needs a user/],
    ['a tombstone', StreamDeletedError.fromStreamName('user-1'), /user-1 is deleted for good/],
  ])('is not repeated after %s, and the error names the remedy', async (_name, error, sentence) => {
    let attempts = 0;
    const refused = retryWhileUnavailable(() => {
      attempts += 1;
      return Promise.reject(error);
    });
    await expect(refused).rejects.toThrow(EventStoreRefusal);
    await expect(refused).rejects.toThrow(sentence);
    expect(attempts).toBe(1);
  });
});
