import { randomBytes, randomUUID } from 'node:crypto';
import type { Sample } from '../harness/measure.js';
import type { RowContext } from '../harness/row.js';
import { load } from './load.js';
import type { ServiceProcess } from './service.js';
import { signed, type Credentials, type SignedRequest } from './sign.js';

export const REPORT_PATH = '/merchants/v1/payouts/report';
const AMOUNT = '1.25';
export const AMOUNT_MINOR = 1_250_000n;

/** Creates a report of a new transfer, with a fresh Idempotency-Key. */
export function reportTo(who: Credentials, userId: string, path = REPORT_PATH): SignedRequest {
  const body = JSON.stringify({
    user_id: userId,
    payout: {
      amount: AMOUNT,
      transaction_hash: `0x${randomBytes(32).toString('hex')}`,
      currency_code: 'USDC',
    },
  });
  return signed(who, 'POST', path, body, { 'idempotency-key': `"${randomUUID()}"` });
}

/** Creates reports, round robin over the users. */
export const reportsTo = (
  who: Credentials,
  users: readonly string[],
  count: number,
  path = REPORT_PATH,
): readonly SignedRequest[] =>
  Array.from({ length: count }, (_, n) => reportTo(who, users[n % users.length]!, path));

/** Sends reports in a closed loop and returns their rate. */
export async function capacityOf(
  { options: { connections, reports } }: RowContext,
  { baseUrl, merchant }: ServiceProcess,
  users: readonly string[],
): Promise<Sample> {
  const requests = reportsTo(merchant, users, connections * reports);
  return { units: requests.length, seconds: await load(baseUrl, requests, connections) };
}
