import { randomUUID } from 'node:crypto';
import { AdminClient } from '../../../../support/admin/admin-client.js';
import { ExchangeClient } from '../../../../support/exchange/exchange-client.js';
import { SignedClient } from '../../../../support/http/signed-client.js';
import { SALE, type Order } from '../../orders/order-facts.js';
import { expectStatus } from '../../payouts.js';
import type { Treasury } from '../../treasury.js';

/** Marks that each name, address and text of a merchant contains. */
export const MARKS = ['mrkalpha', 'mrkbeta'] as const;
export type Mark = (typeof MARKS)[number];

/** Phone numbers and e-mail addresses of people. */
export const PERSONAL = /\+4915177[0-9]|person-[0-9a-f]+@/;
/** Private keys, secrets of the exchange, operators and endpoints, and login links. */
export const SECRET =
  /d(sk|xs)_[0-9a-f]{64}|dsb_(live|test)_admin_[0-9A-Za-z]{49}|whsec_[A-Za-z0-9+/=]{20}|enrol#/;

/** The reason in the suite's own requests. */
export const REASON = 'the world of the fuzzer';

/** A merchant with a resource of each kind. */
export interface MarkedMerchant {
  readonly mark: Mark;
  readonly id: string;
  readonly client: SignedClient;
  readonly exchange: ExchangeClient;
  readonly treasury: Treasury;
  readonly ids: Readonly<Record<string, string[]>>;
  /** Values for searches and filters: phone numbers, wallets, hashes, the merchant's own ids, request ids. */
  readonly found: Readonly<Record<string, string[]>>;
  /** Secrets for reports of leaks. */
  readonly tokens: string[];
}

interface Issued {
  readonly credential: { readonly id: string; readonly secret: string; readonly api_key: string };
}

export async function issueFor(
  admin: AdminClient,
  { id, mark }: Pick<MarkedMerchant, 'id' | 'mark'>,
  body: object,
): Promise<Issued['credential']> {
  const order = { name: `${mark} key`, merchant_id: id, reason: REASON, ...body };
  return expectStatus(await admin.post('/credentials', order), 201).json<Issued>().credential;
}

export async function createMerchant(
  admin: AdminClient,
  { baseUrl: url, treasury }: { readonly baseUrl: string; readonly treasury: Treasury },
  mark: Mark,
): Promise<MarkedMerchant> {
  const created = expectStatus(await admin.post('/merchants', { name: `${mark} shop`, reason: REASON }), 201);
  const { id } = created.json<{ merchant: { id: string } }>().merchant;
  const issue = (body: object) => issueFor(admin, { id, mark }, body);
  const [own, victim] = [await issue({ kind: 'payouts' }), await issue({ kind: 'payouts' })];
  const exchange = await issue({ kind: 'exchange', demands_signing: false });
  const otherExchange = await issue({ kind: 'exchange' });
  const merchant: MarkedMerchant = {
    mark,
    id,
    client: new SignedClient(url, { apiKey: id, privateKey: own.secret }),
    exchange: new ExchangeClient(url, { apiKey: exchange.api_key, secret: exchange.secret }),
    treasury,
    ids: {
      merchants: [id],
      credentials: [victim.id, otherExchange.id],
      users: [],
      payouts: [],
      orders: [],
      webhook_endpoints: [],
      deliveries: [],
      operations: [],
    },
    found: { phone_number: [], wallet: [], transaction_hash: [], external_id: [], request_id: [] },
    tokens: [victim.secret, otherExchange.secret],
  };
  await fill(merchant, 3);
  return merchant;
}

/** The customer of an order, which is personal data. */
export const customerOf = (mark: Mark): string => `person-0@${mark}.example`;

/** Adds users; the last one has a payout and an order. */
export async function fill(merchant: MarkedMerchant, users: number): Promise<void> {
  const { client, treasury, mark, ids, found } = merchant;
  let user = '';
  for (let n = 0; n < users; n += 1) user = await addUser(merchant);
  expectStatus(await client.post(`/merchants/v1/sandbox/users/${user}/complete_onboarding`), 200);
  const read = expectStatus(await client.get(`/merchants/v1/users/${user}`), 200);
  const wallet = read.json<{ user: { issuer_wallet_address: string } }>().user.issuer_wallet_address;
  found['wallet']!.push(wallet, wallet.toLowerCase());
  found['request_id']!.push(read.headers['request-id']!);
  const hash = await treasury.transfer(wallet, 12_500_000);
  const payout = { amount: '12.5', transaction_hash: hash, custom_metadata: { note: mark } };
  const report = expectStatus(
    await client.post('/merchants/v1/payouts/report', { user_id: user, payout }),
    201,
  );
  ids['payouts']!.push(report.json<{ payout: { id: string } }>().payout.id);
  found['transaction_hash']!.push(hash);
  ids['orders']!.push((await newOrder(merchant)).id);
}

export async function newOrder({
  exchange,
  mark,
}: MarkedMerchant): Promise<Pick<Order, 'id' | 'deposit_address'>> {
  const created = await exchange.order({ ...SALE, user_id: customerOf(mark) });
  return expectStatus(created, 201).json<{ order: Order }>().order;
}

export async function addUser({ client, mark, ids, found }: MarkedMerchant): Promise<string> {
  const phone = `+4915177${String(Math.floor(Math.random() * 1_000_000)).padStart(6, '0')}`;
  const external = `${mark}-${randomUUID()}`;
  const email = `person-${randomUUID().slice(0, 8)}@${mark}.example`;
  const body = { phone_number: phone, email, external_id: external };
  const created = expectStatus(await client.post('/merchants/v1/users', body), 201);
  const { id } = created.json<{ user: { id: string } }>().user;
  ids['users']!.push(id);
  found['phone_number']!.push(phone);
  found['external_id']!.push(external);
  return id;
}

/** Adds an endpoint without a receiver, its deliveries, and events of a customer. */
export async function addDeliveries({ client, mark, ids }: MarkedMerchant): Promise<void> {
  const webhook_endpoint = { url: `http://127.0.0.1:9/${mark}`, description: mark };
  const registered = await client.post('/merchants/v1/webhook_endpoints', { webhook_endpoint });
  const { id } = expectStatus(registered, 201).json<{ webhook_endpoint: { id: string } }>().webhook_endpoint;
  ids['webhook_endpoints']!.push(id);
  for (let n = 0; n < 3; n += 1) {
    const test = await client.post(`/merchants/v1/webhook_endpoints/${id}/test_delivery`);
    const { webhook_delivery } = expectStatus(test, 202).json<{ webhook_delivery: { id: string } }>();
    ids['deliveries']!.push(webhook_delivery.id);
  }
  const event = {
    event_id: randomUUID(),
    event_name: mark,
    payload: { note: mark },
    event_datetime: new Date().toISOString(),
    user_external_id: `${mark}-customer`,
    device_id: randomUUID(),
  };
  expectStatus(await client.post('/merchants/v1/events', { events: [event] }), 202);
  // The request log keeps the signed text of a wrong signature.
  const forger = new SignedClient(client.baseUrl, { ...client.credentials, privateKey: 'wrong' });
  expectStatus(await forger.get(`/merchants/v1/payouts?user_id=${randomUUID()}`), 401);
}
