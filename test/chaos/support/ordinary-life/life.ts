import { count } from '../../../../bench/support/count.js';
import { eventually } from '../../../../bench/support/wait.js';
import { rpc } from '../../../../sandbox/chain.js';
import { toMinorUnits } from '../../../../src/kernel/money.js';
import { ExchangeClient } from '../../../support/exchange/exchange-client.js';
import { PHOTO } from '../../../support/onboarding/images.js';
import { send, SignedClient, type SignedCall } from '../../../support/http/signed-client.js';
import { payShare, SALE } from '../orders/order-facts.js';
import { randomHash } from '../../../support/payouts/payout-calls.js';
import { reportBody } from '../payouts.js';
import type { Random } from '../random.js';
import type { LifeHarness } from './life-harness.js';

const API = '/merchants/v1';
/** Two valid requests of a merchant collided. */
const CONFLICT = 409;
const DECIDED_MS = 180_000;

interface Created {
  readonly order: { readonly id: string; readonly deposit_address: string; readonly amount_from: string };
}

interface Step {
  readonly session: string;
  readonly code: string;
}

/** The work of people, merchants and operators at one service, in concurrent runs. */
export class Life {
  constructor(
    private readonly harness: LifeHarness,
    private readonly receiverUrl: string,
  ) {}

  async run(random: Random, number: number): Promise<void> {
    const { merchant, secondMerchant, baseUrl } = this.harness.service;
    const who = new SignedClient(baseUrl, random.chance(0.5) ? merchant : secondMerchant);
    const phone = `+1555${String(1_000_000 + number)}`;
    const body = { phone_number: phone, external_id: `person ${number}`, email: `${number}@example.com` };
    const { user } = await this.call<{ user: { id: string } }>(who, 201, { path: '/users', body });
    const way = random.pick([() => this.page, () => this.page, () => this.sandbox, () => null])();
    await way?.call(this, who, user.id, phone, random);
    const wallet = await this.walletOf(who, user.id);
    for (let left = wallet === null ? 0 : random.below(4); left > 0; left -= 1)
      await this.payout(who, user.id, wallet!, random);
    if (random.chance(0.5)) await this.webhook(who, random);
    if (random.chance(0.5)) await this.order(random);
    if (random.chance(0.1)) await this.reorganise(random);
    if (random.chance(0.3)) await this.deactivate(user.id, random);
  }

  private async call<T>(who: SignedClient, expected: number, call: SignedCall): Promise<T> {
    const method = call.method ?? (call.body === undefined ? 'GET' : 'POST');
    const response = await who.call({ ...call, method, path: API + call.path });
    this.harness.tally.add(`${method} ${call.path.split('/')[1]!.split('?')[0]!} ${response.status}`);
    if (response.status !== expected && response.status !== CONFLICT)
      throw new Error(`${method} ${call.path}: ${response.status} ${response.text}`);
    return response.json<T>();
  }

  private async sandbox(who: SignedClient, id: string): Promise<void> {
    const path = `/sandbox/users/${id}/complete_onboarding`;
    // The worker is behind (503). The response demands a retry.
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const { status, text } = await who.call({ method: 'POST', path: API + path });
      this.harness.tally.add(`POST sandbox ${status}`);
      if (status === 200) return;
      if (status !== 503) throw new Error(`POST ${path}: ${status} ${text}`);
    }
  }

  /** Onboards at the page. Details are corrected before the identity is submitted, or after its rejection. */
  private async page(who: SignedClient, id: string, phone: string, random: Random): Promise<void> {
    const url = `${this.harness.service.widgetUrl}/onboarding/${who.credentials.apiKey}/${id}`;
    let session = '';
    const step = async (name: string, body: object = {}, type = 'application/json'): Promise<Step> => {
      const headers = { 'content-type': type, authorization: `Bearer ${session}` };
      const sent = type === 'application/json' ? JSON.stringify(body) : PHOTO;
      const response = await send(`${url}/${name}`, { method: 'POST', headers, body: sent });
      this.harness.tally.add(`page ${name} ${response.status}`);
      if (response.status >= 300) throw new Error(`${name}: ${response.status} ${response.text}`);
      return response.json<Step>();
    };
    const person = { browser: randomHash().slice(2), phone_number: phone };
    const named = (last_name: string): Promise<unknown> =>
      step('details', {
        first_name: 'Ada',
        last_name,
        date_of_birth: '1985-12-10',
        terms_version: 'sandbox',
        privacy_version: 'sandbox',
      });
    const handIn = async (): Promise<void> => {
      for (const kind of ['document_front', 'selfie']) await step(`images/${kind}`, {}, 'image/jpeg');
      await step('identity');
    };
    await step('code', person);
    const { code } = await step('inbox');
    ({ session } = await step('phone', { ...person, code }));
    let lastName = random.pick(['Lovelace', 'Rejected']);
    await named(lastName);
    if (random.chance(0.5)) await named((lastName = random.pick(['Byron', 'Rejected', 'King'])));
    await handIn();
    const decided = async (): Promise<boolean> => {
      const { rows } = await this.harness.shared.pool.query<{ type: string }>(
        'select type from event_store.events where stream = $1 order by revision desc limit 1',
        [`onboarding-${id}`],
      );
      return ['onboarding.kyc_failed.v1', 'onboarding.completed.v1'].includes(rows[0]!.type);
    };
    await eventually('the identity is decided', decided, DECIDED_MS);
    if (lastName !== 'Rejected' || random.chance(0.3)) return;
    await named('Lovelace');
    await handIn();
    await eventually('the second identity is decided', decided, DECIDED_MS);
  }

  private async walletOf(who: SignedClient, id: string): Promise<string | null> {
    const read = await who.get(`${API}/users/${id}`);
    const { user } = read.json<{ user: { account_state: string; issuer_wallet_address: string | null } }>();
    return user.account_state === 'active' ? user.issuer_wallet_address : null;
  }

  /** The transfer precedes or follows the report, has another amount, is shared by two, or is missing. */
  private async payout(who: SignedClient, user: string, wallet: string, random: Random): Promise<void> {
    const minor = 1 + random.below(9_000_000);
    const report = (hash: string): Promise<unknown> =>
      this.call(who, 201, { path: '/payouts/report', body: reportBody(user, minor, hash, random.uuid()) });
    const habit = random.pick(['before', 'before', 'after', 'twice', 'other amount', 'never']);
    this.harness.tally.add(`paid ${habit}`);
    if (habit === 'never') return void (await report(randomHash()));
    if (habit === 'after') {
      const { hash, broadcast } = await this.harness.treasury.prepare(wallet, minor);
      await report(hash);
      // A reorganisation may have removed the sender's funds.
      return broadcast().catch(() => this.harness.tally.add('broadcast refused'));
    }
    const hash = await this.harness.treasury.transfer(wallet, habit === 'other amount' ? minor + 1 : minor);
    await report(hash);
    if (habit === 'twice') await report(hash);
  }

  private async webhook(who: SignedClient, random: Random): Promise<void> {
    const path = '/webhook_endpoints';
    type Listed = { readonly webhook_endpoints: readonly { readonly id: string; readonly status: string }[] };
    const { webhook_endpoints: all } = await this.call<Listed>(who, 200, { path });
    if (all.length < 2) return this.register(who, random);
    const { id } = random.pick(all);
    const change = (webhook_endpoint: object): Promise<unknown> =>
      this.call(who, 200, { path: `${path}/${id}`, method: 'PATCH', body: { webhook_endpoint } });
    const acts: readonly (() => Promise<unknown>)[] = [
      () => this.register(who, random),
      () => change({ status: 'disabled' }),
      () => change({ status: 'enabled' }),
      () =>
        change({
          event_types: random.pick([
            null,
            ['payout.received'],
            ['user.onboarding_completed', 'payout.failed'],
          ]),
        }),
      () => change({ url: `${this.receiverUrl}/moved/${random.uuid()}` }),
      () => this.call(who, 200, { path: `${path}/${id}/rotate_secret`, body: { overlap_seconds: 60 } }),
      () => this.call(who, 202, { path: `${path}/${id}/test_delivery`, body: {} }),
      () => this.resend(who, id, random),
      () => this.resend(who, id, random),
      () => who.call({ method: 'DELETE', path: `${API}${path}/${id}` }),
    ];
    await random
      .pick(acts)()
      .catch((error: Error) => {
        // Another run has deleted it, or registered the last of ten.
        if (!/: (404|422) /.test(error.message)) throw error;
      });
  }

  private async register(who: SignedClient, random?: Random): Promise<void> {
    const types = random?.chance(0.3)
      ? { event_types: ['payout.received', 'user.onboarding_completed'] }
      : {};
    const webhook_endpoint = { url: `${this.receiverUrl}/hook`, ...types };
    await this.call(who, 201, { path: '/webhook_endpoints', body: { webhook_endpoint } });
  }

  private async resend(who: SignedClient, endpoint: string, random: Random): Promise<void> {
    const { rows } = await this.harness.shared.pool.query<{ id: string }>(
      'select delivery_id as id from webhooks.deliveries where endpoint_id = $1 order by 1 limit 50',
      [endpoint],
    );
    if (rows.length === 0) return;
    const path = `/webhook_deliveries/${random.pick(rows).id}/resend`;
    await this.call(who, 202, { path, body: {} });
  }

  /** Pays the order in parts, too little, too much, after its cancellation, or never. Refunds in parts. */
  private async order(random: Random): Promise<void> {
    const { baseUrl, exchange } = this.harness.service;
    const client = new ExchangeClient(baseUrl, exchange);
    const created = await client.order(SALE);
    if (created.status !== 201) throw new Error(`order: ${created.status} ${created.text}`);
    const { order } = created.json<Created>();
    const pay = (hundredths: number): Promise<unknown> => {
      this.harness.tally.add(`deposit of ${hundredths} %`);
      return payShare(this.harness.treasury, order, hundredths);
    };
    const act = async (action: 'cancel' | 'mark_as_paid' | 'refresh'): Promise<void> =>
      this.harness.tally.add(
        `${action} ${(await client.act(order.id, action, SALE.withdraw_address)).status}`,
      );
    const shares = random.pick([[100], [100], [40, 60], [120], [30], []]);
    const action = random.pick([null, null, 'cancel', 'mark_as_paid', 'refresh'] as const);
    const isFirst = random.chance(0.5);
    if (action !== null && isFirst) await act(action);
    for (const share of shares) await pay(share);
    if (action !== null && !isFirst) await act(action);
    if (random.chance(0.3)) await this.refund(random);
  }

  /** Refunds all or part of an order to its payer, then repeats it or names a missing transaction. */
  private async refund(random: Random): Promise<void> {
    const { rows } = await this.harness.shared.pool.query<{ order_id: string; refundable: string }>(
      'select id as order_id, refundable::text from exchange.orders where refundable > 0 order by id limit 20',
    );
    if (rows.length === 0) return;
    const { order_id, refundable } = random.pick(rows);
    const amount = random.chance(0.5) ? refundable : '0.5';
    const { treasury } = this.harness;
    const transaction = random.chance(0.8)
      ? await treasury.transfer(treasury.from, Number(toMinorUnits(amount)))
      : randomHash();
    for (let repeats = random.below(2); repeats >= 0; repeats -= 1) {
      const args = ['--amount', amount, '--transaction-hash', transaction];
      // Refused without such a transfer, or after a refund by another run.
      const recorded = await this.harness.admin('orders', 'refunds', order_id, ...args).catch(() => null);
      this.harness.tally.add(`refund ${recorded === null ? 'refused' : 'recorded'}`);
    }
  }

  /** Replaces the last blocks by empty ones, which drops their transfers. */
  private async reorganise(random: Random): Promise<void> {
    const depth = 1 + random.below(3);
    // Refused if another run is replacing these blocks.
    const done = rpc(this.harness.rpcUrl, 'anvil_reorg', [depth, []]);
    this.harness.tally.add(
      await done.then(
        () => 'reorganisation',
        () => 'reorganisation refused',
      ),
    );
  }

  private async deactivate(user: string, random: Random): Promise<void> {
    await this.harness.admin('users', 'deactivate', user);
    if (random.chance(0.4)) return;
    const gone = `event_store.events where stream = 'user-${user}' and type = 'user.deactivated.v1'`;
    const { pool } = this.harness.shared;
    await eventually('a user is deactivated', async () => (await count(pool, gone)) > 0);
    await this.harness.admin('users', 'erase', user);
  }
}
