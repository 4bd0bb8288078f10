import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { signed, type Credentials, type SignedRequest } from '../../../bench/support/sign.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';
import { randomHash } from '../../support/payouts/payout-calls.js';

/** A keyed POST that must have its effect once, with the event that counts it. */
export interface Operation {
  readonly name: string;
  readonly path: string;
  /** The stored name of its only event. */
  readonly event: string;
  /** True if the response waits for the read models. */
  readonly waitsForViews: boolean;
  /** Returns a unique body. `userId` belongs to the sending merchant. */
  body(userId: string): string;
}

export const REPORT: Operation = {
  name: 'payouts/report',
  path: '/merchants/v1/payouts/report',
  event: 'payout.reported.v1',
  waitsForViews: false,
  body: (userId) => reportBody(userId, 12_500_000, randomHash()),
};

export const CREATE_USER: Operation = {
  name: 'users',
  path: '/merchants/v1/users',
  event: 'user.created.v1',
  waitsForViews: false,
  body: () => JSON.stringify({ phone_number: randomPhone(), external_id: randomUUID() }),
};

export const REGISTER_ENDPOINT: Operation = {
  name: 'webhook_endpoints',
  path: '/merchants/v1/webhook_endpoints',
  event: 'webhook_endpoint.registered.v1',
  waitsForViews: true,
  body: () => JSON.stringify({ webhook_endpoint: { url: `http://127.0.0.1:9/${randomUUID()}` } }),
};

/** Returns a report of `minor` units, with unique metadata. */
export function reportBody(userId: string, minor: number, hash: string, note: string = randomUUID()): string {
  const amount = `${Math.floor(minor / 1_000_000)}.${String(minor % 1_000_000).padStart(6, '0')}`;
  return JSON.stringify({
    user_id: userId,
    payout: { amount, transaction_hash: hash, custom_metadata: { note } },
  });
}

/** A plausible E.164 mobile number. */
export function randomPhone(): string {
  return `+49151${String(10_000_000 + Math.floor(Math.random() * 89_999_999))}`;
}

/** Signs with a new timestamp. Every repeat has a fresh one, like that of a real client. */
export const keyed = (who: Credentials, path: string, body: string, key: string): SignedRequest =>
  signed(who, 'POST', path, body, { 'idempotency-key': `"${key}"` });

/** A user who completed onboarding. */
export interface Payee {
  readonly id: string;
  readonly wallet: string;
}

export function expectStatus(response: ApiResponse, ...statuses: readonly number[]): ApiResponse {
  if (!statuses.includes(response.status)) throw new Error(`${response.status} ${response.text}`);
  return response;
}

export async function reportPayout(
  client: SignedClient,
  payee: Payee,
  minor: number,
  hash: string,
): Promise<string> {
  const response = await client.post(REPORT.path, reportBody(payee.id, minor, hash));
  return expectStatus(response, 201).json<{ payout: { id: string } }>().payout.id;
}

export interface Outcome {
  readonly id: string;
  readonly type: 'payout.received.v2' | 'payout.expired.v1';
  readonly reason: string | null;
  /** Seconds from the end of the window to the outcome by the database's clock; negative before the end. */
  readonly afterEnd: number;
  /** The end of the window, in seconds since 1970. */
  readonly end: number;
}

export async function outcomesOf(
  pool: pg.Pool,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Outcome>> {
  const { rows } = await pool.query<Outcome>(
    `select substr(ended.stream, 8) as id, ended.type, ended.data::json->>'reason' as reason,
       extract(epoch from ended.recorded_at - (reported.data::json->>'expires_at')::timestamptz)::float8 as "afterEnd",
       extract(epoch from (reported.data::json->>'expires_at')::timestamptz)::float8 as "end"
     from event_store.events ended
     join event_store.events reported on reported.stream = ended.stream and reported.revision = 0
     where ended.stream = any($1::text[]) and ended.revision > 0`,
    [ids.map((id) => `payout-${id}`)],
  );
  return new Map(rows.map((row) => [row.id, row]));
}
