import { inspect } from 'node:util';
import { deepEqual, doesNotMatch, notEqual, ok } from 'node:assert/strict';
import { ProviderRefused } from '../../../src/platform/outbound/provider-errors.js';
import { failure } from '../../support/onboarding/onfido/onfido-harness.js';

export const PERSON = { first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1985-12-10' } as const;
export const PHONE = '+15550001111';
export const EMAIL = 'ada@lovelace.example';
export const CODE = '493817';

const PERSONAL = /\bAda\b|Lovelace|1985-12-10|5550001111|493817/i;

/** The external dependency of an adapter. */
export interface Outside {
  shutDown(): Promise<void>;
  restart(): Promise<void>;
}

/** Expects an error after which a retry may succeed, without personal data for a log. */
export async function expectUnavailable(call: Promise<unknown>): Promise<void> {
  ok(!((await failureOf(call)) instanceof ProviderRefused));
}

/** Expects a final refusal, with a reason for the person that does not quote them. */
export async function expectRefusal(call: Promise<unknown>): Promise<void> {
  const error = await failureOf(call);
  ok(error instanceof ProviderRefused);
  notEqual(error.message, '');
}

/** Returns the equal results of all successful calls, of which there is at least one. */
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
  const error = await failure(call);
  doesNotMatch(inspect(error, { depth: 10 }), PERSONAL);
  return error;
}
