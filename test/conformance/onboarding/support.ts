import { inspect } from 'node:util';
import { deepEqual, doesNotMatch, notEqual, ok } from 'node:assert/strict';
import { ProviderRefused } from '../../../src/platform/outbound/provider-errors.js';

export const PERSON = { first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1985-12-10' } as const;
export const PHONE = '+15550001111';
export const EMAIL = 'ada@lovelace.example';
export const CODE = '493817';

const PERSONAL = /\bAda\b|Lovelace|1985-12-10|5550001111|493817/i;

/** What an adapter depends on outside, where it depends on anything. */
export interface Outside {
  shutDown(): Promise<void>;
  restart(): Promise<void>;
}

/** A retry may succeed: no refusal for good, and no personal data in a log. */
export async function expectUnavailable(call: Promise<unknown>): Promise<void> {
  const error = await failureOf(call);
  ok(!(error instanceof ProviderRefused));
}

/** Another attempt with the same would end the same way; the reason is for the person and does not quote them. */
export async function expectRefusal(call: Promise<unknown>): Promise<void> {
  const error = await failureOf(call);
  ok(error instanceof ProviderRefused);
  notEqual(error.message, '');
}

/** The results of all that succeeded: at least one, and all the same. */
export async function theOne<T>(calls: readonly Promise<T>[]): Promise<T> {
  const settled = await Promise.allSettled(calls);
  const results = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  for (const each of settled) if (each.status === 'rejected') ok(!(each.reason instanceof ProviderRefused));
  ok(results.length > 0);
  deepEqual(
    results,
    results.map(() => results[0]),
  );
  return results[0]!;
}

async function failureOf(call: Promise<unknown>): Promise<Error> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  ok(error instanceof Error);
  doesNotMatch(inspect(error, { depth: 10 }), PERSONAL);
  return error as Error;
}
