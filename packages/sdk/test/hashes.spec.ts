import { expect, it } from '@jest/globals';
import { Disburse } from '../src/index.js';

const DIGITS = 'ab'.repeat(32);
const client = new Disburse({
  baseUrl: 'http://127.0.0.1:9',
  apiKey: 'k',
  privateKey: 'p',
  attempts: 1,
});
const report = (transaction_hash: string): Promise<unknown> =>
  client.payouts.report({ user_id: 'u', payout: { amount: '1', transaction_hash } });

it.each([DIGITS.slice(1), `0x${DIGITS}0`, `https://basescan.org/tx/0x${DIGITS}`, String({}), ''])(
  'a payout report with the hash %j is refused before it is sent',
  async (hash) => {
    await expect(report(hash)).rejects.toThrow(TypeError);
  },
);

const SENT = [DIGITS, `0X${DIGITS}`, ` 0x${DIGITS.toUpperCase()} `, `\u200e0x${DIGITS}\u2069`];

it.each(SENT)('a payout report with the hash %j is sent', async (hash) => {
  await expect(report(hash)).rejects.toThrow('no response');
});
