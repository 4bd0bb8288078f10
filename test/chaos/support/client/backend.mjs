// A merchant's backend in a separate process: pays every order of its list, one after the other.
// Between two runs it keeps only the orders that have a response.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Disburse } from '../../../../packages/sdk/dist/index.js';

const SETTLE_MS = 100;
const { baseUrl, apiKey, privateKey, userId, orders, doneFile } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
);
let current = '';
const client = new Disburse({
  baseUrl,
  apiKey,
  privateKey,
  fetch: (...call) => {
    const response = fetch(...call);
    // The parent kills this process at any time after this line.
    process.stdout.write(`${current}\n`);
    return response;
  },
});
const done = new Set(existsSync(doneFile) ? readFileSync(doneFile, 'utf8').split('\n') : []);
for (const { id, transaction_hash, amount } of orders) {
  if (done.has(id)) continue;
  current = id;
  await client.payouts.report(
    { user_id: userId, payout: { amount, transaction_hash, currency_code: 'USDC' } },
    { idempotencyKey: id },
  );
  appendFileSync(doneFile, `${id}\n`);
}
await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
process.stdout.write('complete\n');
