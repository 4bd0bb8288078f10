import { randomInt, randomUUID } from 'node:crypto';
import { eventually } from '../eventually.js';
import type { TestApp } from '../app.js';
import type { ApiResponse, SignedClient } from '../http/signed-client.js';

export const REPORT = '/merchants/v1/payouts/report';
export const PAYOUTS = '/merchants/v1/payouts';
export const USERS = '/merchants/v1/users';

export interface PayoutBody {
  readonly id: string;
  readonly user_id: string;
  readonly amount: string;
  readonly currency_code: string;
  readonly status: string;
  readonly transaction_hash: string;
  readonly reason: string | null;
  readonly custom_metadata: object;
  readonly created_at: string;
}

/** A hash without a transaction. */
export const randomHash = (): string => `0x${randomUUID().replaceAll('-', '').repeat(2)}`;

/** A random phone number of the reserved numbers 555. */
export const randomPhone = (): string => `+1555${String(randomInt(10_000_000)).padStart(7, '0')}`;

/** Creates a user of the merchant, in onboarding, and returns the id. */
export async function createUser(merchant: SignedClient): Promise<string> {
  const response = await merchant.post(USERS, { phone_number: randomPhone() });
  if (response.status !== 201) throw new Error(response.text);
  return response.json().user.id;
}

/** Creates a user with a wallet. */
export async function createPayee(merchant: SignedClient): Promise<{ id: string; wallet: string }> {
  const id = await createUser(merchant);
  const response = await merchant.post(`/merchants/v1/sandbox/users/${id}/complete_onboarding`);
  if (response.status !== 200) throw new Error(response.text);
  return {
    id,
    wallet: response.json().user.issuer_wallet_address,
  };
}

/** Reports a payout that is never found on the chain. `over` replaces fields of `payout`. */
export function report(merchant: SignedClient, userId: string, over: object = {}): Promise<ApiResponse> {
  const payout = { amount: '1', transaction_hash: randomHash(), ...over };
  return merchant.post(REPORT, { user_id: userId, payout });
}

export async function reported(
  merchant: SignedClient,
  userId: string,
  over: object = {},
): Promise<PayoutBody> {
  const response = await report(merchant, userId, over);
  if (response.status !== 201) throw new Error(response.text);
  return response.json().payout;
}

export async function getPayout(merchant: SignedClient, id: string): Promise<PayoutBody> {
  return (await merchant.get(`${PAYOUTS}/${id}`)).json().payout;
}

export async function settledPayout(merchant: SignedClient, id: string): Promise<PayoutBody> {
  return eventually(async () => {
    const payout = await getPayout(merchant, id);
    return payout.status !== 'pending' && payout;
  });
}

/** Creates a payee with a payout whose transfer has arrived. */
export async function receivedPayout(
  { merchant, chain }: Pick<TestApp, 'merchant' | 'chain'>,
  amount: string,
): Promise<{ readonly user: string; readonly payout: PayoutBody }> {
  const { id: user, wallet } = await createPayee(merchant);
  const { hash } = await chain.transfer(wallet, amount);
  const { id } = await reported(merchant, user, { amount, transaction_hash: hash });
  return { user, payout: await settledPayout(merchant, id) };
}

export async function expirePayout(merchant: SignedClient, id: string): Promise<PayoutBody> {
  return (await merchant.post(`/merchants/v1/sandbox/payouts/${id}/expire`)).json().payout;
}
