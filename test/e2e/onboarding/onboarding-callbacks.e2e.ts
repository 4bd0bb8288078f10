import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { Webhook } from 'standardwebhooks';
import { OldRows } from '../../../src/contexts/onboarding/application/background-jobs.js';
import { SandboxReviews } from '../../../src/contexts/onboarding/store/verifications.js';
import { KeyRing } from '../../../src/platform/sealing/key-ring.js';
import { newId } from '../../../src/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { eventsOf, onboardingOf, submitted, type Onboarders } from '../../support/onboarding/onboard.js';
import { pageUrl, startPeople, type People } from '../../support/onboarding/people.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { expectInOrder } from '../../support/in-order.js';

const FLOOD = 300;
/** Concurrent requests. */
const LANES = 16;

interface Signed {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

describe('callbacks of the identity provider', () => {
  let app: TestApp;
  let here: Onboarders;
  let there: People;
  let receiver: TestReceiver;
  let webhooks: MerchantWebhooks;
  let provider: Webhook;
  let userId: string;
  let verificationId: string;

  beforeAll(async () => {
    app = await startTestApp();
    here = { module: app.app, commandBus: app.app.get(CommandBus), database: app.database };
    there = await startPeople({
      databaseUrl: app.config.databaseUrl!,
      masterKey: app.config.masterKey!,
      roles: 'widget,worker',
      env: { RATE_LIMIT_PER_IP_PER_MINUTE: '1000000' },
    });
    const { root } = app.app.get(KeyRing);
    const secret = createHmac('sha256', root).update('sandbox identity callbacks').digest();
    provider = new Webhook(secret, { format: 'raw' });
    receiver = await TestReceiver.start();
    webhooks = new MerchantWebhooks(app, app.merchant);
    await webhooks.register(receiver.url);
  });
  afterAll(async () => {
    await expectInOrder(app.config.databaseUrl!);
    await there.close();
    await app.close();
    await receiver.stop();
  });

  beforeEach(async () => {
    userId = await submitted(here, 'Review', app.merchant.credentials.apiKey);
    const found = await eventually(async () => {
      const rows = await here.database.query<{ verification_id: string }>(
        `select verification_id from onboarding.verifications
         where user_id = $1 and check_reference is not null`,
        [userId],
      );
      return rows[0];
    });
    verificationId = found!.verification_id;
    await postponePoll();
  });

  /** The next poll, which would find the decision too, is an hour away, and none is in flight. */
  const postponePoll = () =>
    eventually(async () => {
      const postponed = await here.database.query(
        `update work.items set due_at = now() + interval '1 hour' where kind = 'onboarding.step' and key = $1
         and (state->>'polls')::int > 0 and lease is null and due_at > now() returning 1`,
        [userId],
      );
      return postponed.length === 1;
    });
  const decide = (passed = true) =>
    here.module
      .get(SandboxReviews, { strict: false })
      .decide(userId, passed ? { passed } : { passed, reason: 'No' });
  const signed = (
    at = new Date(),
    id = newId(),
    check = verificationId,
    body = JSON.stringify({ type: 'review.decided', verification_id: check }),
  ): Signed => {
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': provider.sign(id, at, body),
    };
    return { headers, body: Buffer.from(body) };
  };
  const post = (callback: Signed, to: Onboarders = here, path = 'sandbox'): Promise<Response> => {
    return fetch(`${pageUrl(to.module)}/callbacks/identity/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...callback.headers },
      body: new Uint8Array(callback.body),
    });
  };
  const statusOf = async (...args: Parameters<typeof post>): Promise<number> => (await post(...args)).status;
  const isDue = async (): Promise<boolean> =>
    (
      await here.database.query(
        `select from work.items where key = $1 and due_at > now() + interval '30 minutes'`,
        [userId],
      )
    ).length === 0;
  const ended = () =>
    eventually(async () => {
      const { stage } = await onboardingOf(here, userId);
      return stage === 'completed' || stage === 'kyc_failed';
    });
  const outcomes = async (): Promise<string[]> =>
    (await eventsOf(here, userId)).filter((type) => /kyc_(passed|failed)/.test(type));

  it('200: a valid one polls the provider, and a refused one does not', async () => {
    await decide();
    const good = signed();
    const forged = { ...good, headers: { ...good.headers, 'webhook-signature': `v1,${'A'.repeat(43)}=` } };
    const changed = { ...good, body: Buffer.from(good.body.toString().replace(verificationId, newId())) };
    expect(await statusOf(forged)).toBe(401);
    expect(await statusOf(changed)).toBe(401);
    expect(await statusOf({ headers: {}, body: good.body })).toBe(401);
    expect(await statusOf(signed(new Date(), newId(), undefined, '{}'))).toBe(400);
    expect(await statusOf(good, here, 'onfido')).toBe(404);
    expect(await statusOf({ ...good, body: Buffer.alloc(20_000, 'a') })).toBe(413);
    expect(await isDue()).toBe(false);
    expect(await statusOf(good)).toBe(200);
    await ended();
    expect(await outcomes()).toEqual(['kyc_passed.v1']);
  });

  it('401: signed too long ago, or in the future', async () => {
    await decide();
    const minutes = (count: number): Date => new Date(Date.now() + count * 60_000);
    for (const at of [minutes(-60 * 25), minutes(-6), minutes(6), minutes(60 * 25)])
      expect(await statusOf(signed(at))).toBe(401);
    expect(await isDue()).toBe(false);
    await post(signed());
    await ended();
  });

  it('200: one about an unknown verification, or repeated, causes no poll', async () => {
    expect(await statusOf(signed(new Date(), newId(), newId()))).toBe(200);
    expect(await isDue()).toBe(false);
    const once = signed();
    expect(await statusOf(once)).toBe(200);
    await postponePoll();
    expect(await statusOf(once, there)).toBe(200);
    expect(await isDue()).toBe(false);
    expect(await outcomes()).toEqual([]);
  });

  it('changes nothing once there is an outcome', async () => {
    await decide(false);
    await post(signed());
    await ended();
    await here.database.query('update onboarding.sandbox_reviews set passed = true where user_id = $1', [
      userId,
    ]);
    expect(await statusOf(signed())).toBe(200);
    await eventually(
      async () => (await here.database.query('select from work.items where key = $1', [userId])).length === 0,
    );
    expect(await outcomes()).toEqual(['kyc_failed.v1']);
    expect(await onboardingOf(here, userId)).toMatchObject({ stage: 'kyc_failed', reason: 'No' });
  });

  it(`${FLOOD} of one decision, forged, repeated, shuffled, over two processes: one outcome, one webhook`, async () => {
    await decide();
    const originals = Array.from({ length: FLOOD / 10 }, () => signed());
    const spoiled = originals.map(({ headers, body }, index) => {
      if (index % 3 === 0) return { headers, body: Buffer.from(`${body.toString()} `) };
      if (index % 3 === 1) return { headers: { ...headers, 'webhook-id': newId() }, body };
      return {
        headers: { ...headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000) + 9) },
        body,
      };
    });
    // Six good copies of each, and four that are not.
    const all = Array.from({ length: FLOOD }, (_, index) => {
      const from = index % 10 < 6 ? originals : spoiled;
      return { callback: from[Math.floor(index / 10)]!, good: from === originals };
    });
    const order = (index: number): string => createHash('sha256').update(String(index)).digest('hex');
    const shuffled = all
      .map((each, index) => ({ ...each, key: order(index) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    let next = 0;
    const statuses: Record<string, number> = {};
    const lane = async (): Promise<void> => {
      for (let index = next++; index < shuffled.length; index = next++) {
        const { callback, good } = shuffled[index]!;
        const status = await statusOf(callback, index % 2 === 0 ? here : there);
        const kind = `${good ? 'good' : 'forged'} ${status}`;
        statuses[kind] = (statuses[kind] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(statuses).toEqual({ 'good 200': FLOOD * 0.6, 'forged 401': FLOOD * 0.4 });
    await eventually(async () => (await onboardingOf(here, userId)).stage === 'completed');
    expect(await outcomes()).toEqual(['kyc_passed.v1']);
    const webhooksOf = (type: string) =>
      receiver.received.filter(({ body }) => {
        const event = JSON.parse(body) as { type: string; data?: { user_id?: string } };
        return event.type === type && body.includes(userId);
      });
    await eventually(() => Promise.resolve(webhooksOf('user.onboarding_completed').length > 0));
    expect(webhooksOf('user.kyc_passed')).toHaveLength(1);
    const rows = await here.database.query('select from onboarding.callbacks where event_id = any($1)', [
      originals.map(({ headers }) => headers['webhook-id']),
    ]);
    expect(rows).toHaveLength(originals.length);
  });

  it('are forgotten once their age alone would have them refused', async () => {
    await post(signed());
    const count = async (): Promise<number> =>
      (await here.database.query('select from onboarding.callbacks')).length;
    const purge = () =>
      here.module.get(OldRows, { strict: false }).work.options.run(new AbortController().signal);
    await purge();
    expect(await count()).toBeGreaterThan(0);
    await here.database.query(`update onboarding.callbacks set received_at = now() - interval '3 days'`);
    await purge();
    expect(await count()).toBe(0);
  });
});
