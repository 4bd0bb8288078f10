import { beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { onTestApp } from '../../support/app.js';
import { createPayee, PAYOUTS, reported, settledPayout } from '../../support/payouts/payout-calls.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';

interface Evidence {
  readonly transaction_hash: string;
  readonly log_index: number;
  readonly receipt: { readonly sha256: string; readonly json: string };
}

/** Responses are checked against the OpenAPI document by the client itself. */
describe('GET /payouts/{id}/evidence', () => {
  const app = onTestApp({ PAYOUT_VERIFICATION_WINDOW_SECONDS: '1' });
  let merchant: SignedClient;
  let payee: { readonly id: string; readonly wallet: string };

  beforeAll(async () => {
    merchant = app.merchant;
    payee = await createPayee(merchant);
  });

  const ask = (id: string, by = merchant): Promise<ApiResponse> => by.get(`${PAYOUTS}/${id}/evidence`);
  const problem = (response: ApiResponse, status: number, detail: RegExp): void => {
    expect(response.status).toBe(status);
    expect(response.json()).toMatchObject({ status, errors: {}, detail: expect.stringMatching(detail) });
  };

  it('200: as the chain itself says', async () => {
    const { hash, blockNumber, blockHash } = await app.chain.transfer(payee.wallet, '12.5');
    const sent = ` ${hash.toUpperCase().replace('X', 'x')}`;
    const payout = await reported(merchant, payee.id, { amount: '12.50', transaction_hash: sent });
    await settledPayout(merchant, payout.id);
    const response = await ask(payout.id.toUpperCase());
    expect(response.status).toBe(200);
    const { evidence } = response.json<{ evidence: Evidence }>();
    const block = (await app.chain.rpc('eth_getBlockByHash', [blockHash, false])) as { timestamp: string };
    expect(evidence).toEqual({
      ...{ payout_id: payout.id, chain_id: 31337, transaction_hash: hash, log_index: 0, value: '12500000' },
      ...{ block_number: blockNumber, block_hash: blockHash, confirmations: expect.any(Number) },
      block_time: new Date(Number(block.timestamp) * 1000).toISOString(),
      ...{ token: app.chain.usdcAddress.toLowerCase(), to: payee.wallet.toLowerCase() },
      from: (await app.chain.funded.getAddress()).toLowerCase(),
      ...{ created_at: payout.created_at, received_at: expect.any(String), receipt: expect.any(Object) },
    });
    const { sha256, json } = evidence.receipt;
    expect(createHash('sha256').update(json).digest('hex')).toBe(sha256);
    expect(JSON.parse(json)).toEqual(await app.chain.rpc('eth_getTransactionReceipt', [hash]));
  });

  it('409 while it is pending, and after it expired', async () => {
    const { id } = await reported(merchant, payee.id);
    problem(await ask(id), 409, /^The payout is (pending|expired): there is no evidence of it$/);
    expect((await settledPayout(merchant, id)).status).toBe('expired');
    problem(await ask(id), 409, /^The payout is expired/);
  });
});
