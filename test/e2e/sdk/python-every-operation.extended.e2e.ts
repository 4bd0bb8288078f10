import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../../packages/sdk/src/index.js';
import { onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS } from '../../support/exchange/order-fixtures.js';
import { merchantOperations, uncalled } from './merchant-operations.js';
import { pythonOf } from '../../support/programs/python.js';
import { systemProgram } from '../../support/programs/system-program.js';
import { sdkClients } from '../../support/sdk-clients.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

interface Delivery {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

interface Facts {
  readonly called: readonly string[];
  readonly deliveries: readonly (Delivery & { readonly event: { readonly type: string } })[];
  readonly user_id: string;
  readonly transaction_hash: string;
  readonly secret: string;
  readonly other_secret: string;
}

const python = pythonOf();
const openssl = systemProgram('openssl');

async function run<Output>(program: string, input: unknown): Promise<Output> {
  const child = spawn(python!.path, [fileURLToPath(new URL(program, import.meta.url))], { env: python!.env });
  child.stdin.end(JSON.stringify(input));
  const closed = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect([err, ...(await closed)]).toEqual(['', 0, null]);
  return JSON.parse(out) as Output;
}

/** Computes the signature of a delivery with openssl. */
function signatureOf({ headers, body }: Delivery, secret: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64').toString('hex');
  const input = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, '-binary'];
  return `v1,${spawnSync(openssl!, args, { input }).stdout.toString('base64')}`;
}

(python === null ? describe.skip : describe)('the Python client', () => {
  const app = onTestApp();
  let receiver: TestReceiver;
  let facts: Facts;

  beforeAll(async () => {
    receiver = await TestReceiver.start();
    facts = await run<Facts>('every_operation.py', {
      ...{ url: app.url, address: ADDRESS, receiver_url: receiver.url },
      ...{ merchant: app.merchant.credentials, exchange: app.exchange.signing.credentials },
    });
  });
  afterAll(() => receiver?.stop());

  it('the Python client has called every documented operation of merchants', async () => {
    expect(await uncalled(app.url, facts.called)).toEqual([]);
    expect((await merchantOperations(app.url)).length).toBeGreaterThan(30);
  });

  it('a write of the Python client is replayed if the TypeScript client repeats it under the same key', async () => {
    const { merchant, exchange } = sdkClients(app);
    const { user_id, transaction_hash } = facts;
    const user = { phone_number: '+15551230001', email: 'zoë@example.com', external_id: 'player-1' };
    const payout = { amount: '12.50', transaction_hash, currency_code: 'USDC' as const };
    const order = { user_id: 'für ~Ada & (1+1)', withdraw_address: ADDRESS, pair_id: 'USDCSOL' };
    const repeats = await Promise.all([
      merchant.users.create(user, { idempotencyKey: 'Zoë 1' }),
      merchant.payouts.report({ user_id, payout }, { idempotencyKey: 'invoice 1' }),
      exchange.orders.create(order, { idempotencyKey: 'order 1' }),
    ]);
    expect(repeats.map(({ status, replayed }) => [status, replayed])).toEqual(repeats.map(() => [201, true]));
  });

  const isCheckable = openssl !== null ? it : it.skip;
  isCheckable(
    'the Python client verifies the same deliveries as the TypeScript client, standardwebhooks and openssl',
    async () => {
      const { received } = receiver;
      await eventually(() => received.some(({ body }) => body.includes('payout.failed')));
      const deliveries = [
        ...facts.deliveries.map(({ headers, body }) => ({
          ...{ body, secret: facts.secret },
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
          ),
        })),
        ...received.map(({ headers, body }) => ({
          ...{ body, secret: facts.other_secret },
          headers: headers as Delivery['headers'],
        })),
      ];
      const types = deliveries.map(({ secret, body, headers }) => {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        expect(headers['webhook-signature']!.split(' ')).toContain(signatureOf({ body, headers }, secret));
        return verifyWebhook(secret, body, headers).type;
      });
      expect(new Set(types)).toEqual(
        new Set([
          ...[
            'user.onboarding_started',
            'user.kyc_submitted',
            'user.kyc_passed',
            'user.onboarding_completed',
          ],
          ...['payout.received', 'payout.failed', 'webhook_endpoint.test'],
        ]),
      );
      expect(await run('verify_deliveries.py', deliveries)).toEqual(deliveries.map(() => null));

      const changed = deliveries.map((each) => ({ ...each, body: each.body.replace(/\d/, 'x') }));
      for (const { secret, body, headers } of changed)
        expect(() => verifyWebhook(secret, body, headers)).toThrow('No matching signature found');
      expect(await run('verify_deliveries.py', changed)).toEqual(
        changed.map(() => 'No matching signature found'),
      );
    },
  );
});
