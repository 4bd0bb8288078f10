import { randomBytes, randomUUID } from 'node:crypto';
import { signed, type Credentials, type SignedRequest } from '../../../bench/support/sign.js';

/** A keyed POST that must happen once: what to send, and the event that shows how often it happened. */
export interface Operation {
  readonly name: string;
  readonly path: string;
  /** Stored name of the one event it writes. */
  readonly event: string;
  /** Whether its response waits until the read models show it. */
  readonly waitsForViews: boolean;
  /** A body that no other call sends. `userId` belongs to the merchant who sends it. */
  body(userId: string): string;
}

export const REPORT: Operation = {
  name: 'payouts/report',
  path: '/merchants/v1/payouts/report',
  event: 'payout.reported.v1',
  waitsForViews: false,
  body: (userId) =>
    JSON.stringify({
      user_id: userId,
      payout: { amount: '12.5', transaction_hash: randomHash(), custom_metadata: { note: randomUUID() } },
    }),
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

/** A hash that no transaction has. */
export function randomHash(): string {
  return `0x${randomBytes(32).toString('hex')}`;
}

/** A plausible E.164 mobile number. */
export function randomPhone(): string {
  return `+49151${String(10_000_000 + Math.floor(Math.random() * 89_999_999))}`;
}

/** Signed now, under the key: every repeat has a fresh timestamp, as a real client's would. */
export function keyed(who: Credentials, path: string, body: string, key: string): SignedRequest {
  return signed(who, 'POST', path, body, { 'idempotency-key': `"${key}"` });
}
