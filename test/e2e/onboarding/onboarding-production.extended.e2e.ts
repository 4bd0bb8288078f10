import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { HDNodeWallet } from 'ethers';
import { Webhook } from 'standardwebhooks';
import { Children, ready, type Child } from '../../../bench/support/children.js';
import { signed, type Credentials } from '../../../bench/support/sign.js';
import { freePort } from '../../../sandbox/processes.js';
import { certify } from '../../support/http/certificate.js';
import { TestChain } from '../../support/payouts/chain.js';
import { eventually } from '../../support/eventually.js';
import { BROWSER } from '../../support/onboarding/onboard.js';
import { PHOTO } from '../../support/onboarding/images.js';
import { Onfido } from '../../support/onboarding/onfido/onfido.js';
import { invoke } from '../../support/programs/cli.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { specFolder } from '../../support/run-folder.js';
import { StripeServer } from '../../support/onboarding/stripe/stripe.js';
import { TlsFront } from '../../support/http/tls-front.js';
import { Twilio } from '../../support/onboarding/twilio/twilio.js';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const PHONE = '+15550001234';
/** What the proxy that ends TLS says of a request. */
const BY_HTTPS = { 'x-forwarded-proto': 'https' };
const TERMS = {
  ONBOARDING_TERMS_URL: 'https://disburse.example/terms',
  ONBOARDING_TERMS_VERSION: '2026-01',
  ONBOARDING_PRIVACY_URL: 'https://disburse.example/privacy',
  ONBOARDING_PRIVACY_VERSION: '2026-02',
};

const MASTER_KEY = randomBytes(32).toString('hex');
const account = HDNodeWallet.createRandom('', "m/44'/60'/0'");
const children = new Children();
const fronts: TlsFront[] = [];
let folder: string;
let db: TestDatabase;
let chain: TestChain;
let twilio: Twilio;
let onfido: Onfido;
let stripe: StripeServer;
let receiver: TestReceiver;

beforeAll(async () => {
  folder = specFolder('production');
  certify(folder, ['IP:127.0.0.1']);
  [db, chain] = await Promise.all([testDatabase({ poolSize: 2 }), TestChain.start()]);
  [twilio, onfido, stripe] = await Promise.all([Twilio.start(), Onfido.start(), StripeServer.start()]);
  receiver = await TestReceiver.start();
});
afterAll(async () => {
  await children.stopAll();
  await Promise.all(fronts.map((front) => front.stop()));
  await Promise.all([twilio?.shutDown(), onfido?.shutDown(), stripe?.shutDown(), receiver?.stop()]);
  await Promise.all([db?.drop(), chain?.stop()]);
});

async function overTls(target: string): Promise<string> {
  const front = await TlsFront.start(folder, new URL(target).origin);
  fronts.push(front);
  return front.url + new URL(target).pathname.replace(/\/$/, '');
}

interface Running {
  readonly child: Child;
  readonly api: string;
  readonly widget: string;
  readonly metrics: string;
  readonly log: () => string;
}

/** The build as an operator runs it, behind a proxy that ends TLS. */
async function boot(name: string, settings: Readonly<Record<string, string>>): Promise<Running> {
  const [port, widgetPort, metricsPort] = [await freePort(), await freePort(), await freePort()];
  const logFile = join(folder, `${name}.json.log`);
  const child = children.start({
    name,
    args: [MAIN],
    dir: folder,
    env: {
      MODE: 'production',
      PUBLIC_URL: 'https://api.example',
      WIDGET_URL: 'https://widget.example',
      PAY_URL: 'https://pay.example',
      TRUST_PROXY: '127.0.0.1',
      MASTER_KEY,
      LOG_FILE: logFile,
      DATABASE_URL: db.url,
      CHAIN_RPC_URL: chain.rpcUrl,
      USDC_ADDRESS: chain.usdcAddress,
      PORT: String(port),
      WIDGET_PORT: String(widgetPort),
      PAY_PORT: '0',
      ADMIN_PORT: '0',
      PORTAL_PORT: '0',
      METRICS_PORT: String(metricsPort),
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
      ...TERMS,
      ...settings,
    },
  });
  const [api, widget, metrics] = [port, widgetPort, metricsPort].map((each) => `http://127.0.0.1:${each}`);
  await ready(child, `${api}/health/ready`);
  return {
    child,
    api: api!,
    widget: widget!,
    metrics: metrics!,
    log: () => readFileSync(logFile, 'utf8'),
  };
}

async function stopped({ child }: Running): Promise<void> {
  await child.stop();
  expect(child.exited()).toBe('exit code 0');
}

async function readiness({ api }: Running): Promise<readonly [number, string | undefined]> {
  const response = await fetch(`${api}/health/ready`);
  const { checks } = (await response.json()) as { checks: Record<string, { detail?: string }> };
  return [response.status, checks['onboarding']?.detail];
}

/** `port=provider`, in the order of ports. */
async function providersIn({ metrics }: Running): Promise<string[]> {
  const text = await (await fetch(`${metrics}/metrics`)).text();
  const lines = [...text.matchAll(/^disburse_onboarding_providers\{([^}]*)\} 1$/gm)];
  const label = (labels: string, name: string): string => new RegExp(`\\b${name}="(\\w+)"`).exec(labels)![1]!;
  return lines.map(([, labels]) => `${label(labels!, 'port')}=${label(labels!, 'provider')}`).sort();
}

async function merchantCreated(): Promise<Credentials> {
  const { printed } = await invoke(
    'merchant',
    { DATABASE_URL: db.url, MASTER_KEY },
    'create',
    '--name',
    'Shop',
    '--json',
  );
  const { merchant_id, private_key } = JSON.parse(printed) as Record<string, string>;
  return { apiKey: merchant_id!, privateKey: private_key! };
}

async function call<T>(
  { api }: Running,
  who: Credentials,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const more = {
    ...BY_HTTPS,
    ...(method === 'POST' ? { 'idempotency-key': `"${randomUUID()}"` } : {}),
  };
  const { headers } = signed(who, method, path, text, more);
  const response = await fetch(api + path, { method, headers, ...(text === '' ? {} : { body: text }) });
  expect([path, response.status]).toEqual([path, method === 'GET' ? 200 : 201]);
  return (await response.json()) as T;
}

it('providers are configured one after the other, and the person ends active with one wallet, one card and one completion', async () => {
  const none = await boot('none', {});
  const missing =
    'identity verification (ONBOARDING_IDENTITY), wallets (ONBOARDING_WALLETS), cards (ONBOARDING_CARDS)';
  const sentence = `no provider for codes by SMS (ONBOARDING_SMS), ${missing}: onboardings wait`;
  expect(await readiness(none)).toEqual([200, sentence]);
  await eventually(() => Promise.resolve(none.log().includes(`onboarding: ${sentence}`)));
  expect(none.log().split(`onboarding: ${sentence}`)).toHaveLength(2);
  expect(await providersIn(none)).toEqual(['card=none', 'identity=none', 'sms=none', 'wallet=none']);
  const merchant = await merchantCreated();
  const created = await call<{ user: { id: string } }>(none, merchant, 'POST', '/merchants/v1/users', {
    phone_number: PHONE,
  });
  const { id } = created.user;
  const { webhook_endpoint: endpoint } = await call<{ webhook_endpoint: { signing_secret: string } }>(
    none,
    merchant,
    'POST',
    '/merchants/v1/webhook_endpoints',
    {
      webhook_endpoint: {
        url: `${await overTls(receiver.url)}/hook`,
        event_types: ['user.onboarding_completed'],
      },
    },
  );
  const step = async (at: Running, name: string, body: object | Uint8Array<ArrayBuffer>, session = '') => {
    const isImage = body instanceof Uint8Array;
    const response = await fetch(`${at.widget}/onboarding/${merchant.apiKey}/${id}/${name}`, {
      method: 'POST',
      headers: {
        ...BY_HTTPS,
        'content-type': isImage ? 'image/jpeg' : 'application/json',
        ...(session === '' ? {} : { authorization: `Bearer ${session}` }),
      },
      body: isImage ? body : JSON.stringify(body),
    });
    return [response.status, (await response.json()) as Record<string, unknown>] as const;
  };
  const clear = await fetch(`${none.widget}/onboarding/${merchant.apiKey}/${id}/code`, { method: 'POST' });
  expect([clear.status, await clear.json()]).toMatchObject([403, { detail: 'HTTPS is required' }]);
  expect(await step(none, 'code', { browser: BROWSER, phone_number: PHONE })).toMatchObject([503, {}]);
  await stopped(none);

  const codes = await boot('codes', { ...twilio.settings, TWILIO_URL: await overTls(twilio.url) });
  expect(await readiness(codes)).toEqual([200, `no provider for ${missing}: onboardings wait`]);
  expect((await step(codes, 'code', { browser: BROWSER, phone_number: PHONE }))[0]).toBe(200);
  const code = twilio.lastCode(PHONE);
  const [, { session }] = await step(codes, 'phone', { browser: BROWSER, phone_number: PHONE, code });
  const details = { first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1985-12-10' };
  const consent = { terms_version: '2026-01', privacy_version: '2026-02' };
  const inSession = (name: string, body: object | Uint8Array<ArrayBuffer>) =>
    step(codes, name, body, String(session));
  expect((await inSession('details', { ...details, ...consent }))[0]).toBe(200);
  for (const kind of ['document_front', 'selfie'])
    expect((await inSession(`images/${kind}`, new Uint8Array(PHOTO)))[0]).toBe(200);
  expect(await inSession('identity', {})).toMatchObject([200, { stage: 'kyc_submitted' }]);
  const stuck = async (): Promise<string> =>
    (await invoke('user', { DATABASE_URL: db.url, MASTER_KEY }, 'stuck', '--older-than', '0s')).printed;
  await eventually(async () => (await stuck()).includes('No identity verification provider is configured'));
  await stopped(codes);

  const all = await boot('all', {
    ...twilio.settings,
    TWILIO_URL: await overTls(twilio.url),
    ...onfido.settings,
    ONFIDO_URL: await overTls(onfido.account.onfidoUrl),
    ...stripe.settings,
    STRIPE_URL: await overTls(stripe.url),
    ONBOARDING_WALLETS: 'xpub',
    ONBOARDING_WALLET_XPUB: account.neuter().extendedKey,
  });
  expect(await readiness(all)).toEqual([200, undefined]);
  expect(all.log()).not.toContain('no provider for');
  expect(await providersIn(all)).toEqual(['card=stripe', 'identity=onfido', 'sms=twilio', 'wallet=xpub']);
  const check = await eventually(() => onfido.records.checks[0]);
  onfido.complete(check, 'clear');
  const { headers, body } = onfido.webhook(check.id);
  const callback = { method: 'POST', headers: { ...headers, ...BY_HTTPS }, body: new Uint8Array(body) };
  await eventually(async () => {
    // Known here once the process wrote down what Onfido calls it.
    expect((await fetch(`${all.widget}/callbacks/identity/onfido`, callback)).status).toBe(200);
    return receiver.received.length > 0;
  });
  const { user } = await call<{ user: Record<string, unknown> }>(
    all,
    merchant,
    'GET',
    `/merchants/v1/users/${id}`,
  );
  expect(user).toMatchObject({
    account_state: 'active',
    issuer_wallet_address: account.derivePath('0/0').address,
  });
  expect(stripe.cardsOf(id).map(({ status }) => status)).toEqual(['active']);
  expect(onfido.records.checks).toHaveLength(1);
  const event = new Webhook(endpoint.signing_secret).verify(
    receiver.received[0]!.body,
    receiver.received[0]!.headers as Record<string, string>,
  );
  expect(event).toMatchObject({ type: 'user.onboarding_completed', data: { user_id: id } });
  await stopped(all);
  expect(receiver.received).toHaveLength(1);
  expect(twilio.messages).toHaveLength(1);
  for (const secret of [PHONE, 'Lovelace', '1985-12-10', code!])
    for (const { log } of [none, codes, all]) expect(log()).not.toContain(secret);
}, 240_000);
