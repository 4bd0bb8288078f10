import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandBus } from '@nestjs/cqrs';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  SendPhoneCode,
  TakeStep,
} from '../../../src/contexts/onboarding/onboardings/onboardings.commands.js';
import { startTestApp } from '../../support/app.js';
import { deactivate, erase, live, newPerson, type Life } from '../../support/erasure/life.js';
import { dumpOf, filesIn, openedOf, tracesOf } from '../../support/erasure/traces.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { programsFor } from '../../support/programs/cli.js';
import { specFolder } from '../../support/run-folder.js';
import { batchOf, eventItem } from '../../support/tracking/event-batches.js';
import { eventually } from '../../support/eventually.js';
import { REQUEST } from '../../support/onboarding/onboard.js';
import { createUser, report, USERS } from '../../support/payouts/payout-calls.js';
import { expectAuditPasses } from '../../support/audit-passes.js';

const DELIVERIES = 5;

/** The tables that keep the user's id. */
const NAME_THE_USER = [
  ...['access.requests', 'event_store.events', 'operations.lookups', 'operations.operations'],
  ...['payouts.balances', 'payouts.payouts', 'platform.personal_keys', 'users.users'],
];

const folder = specFolder('erasure');
const [app, receiver] = await Promise.all([
  startTestApp({ LOG_LEVEL: 'debug', LOG_FILE: join(folder, 'service.log'), DATA_DIR: folder }),
  TestReceiver.start(),
]);
const ada = await app.newAdmin();
const life = await live(app);
await deactivate(app, life.id);
await erase(app, life.id);

describe('an erased user', () => {
  afterAll(async () => {
    await expectAuditPasses(app.config.databaseUrl!);
    await app.close();
    await receiver.stop();
  });

  const status = async (path: string): Promise<number> => (await app.merchant.get(path)).status;
  const counted = (ids: readonly string[]): Promise<object[]> =>
    app.database.query(
      `select user_external_id, event_name, device_id, payload from tracking.events where event_id = any($1::uuid[])`,
      [ids],
    );

  it('must have been deactivated before', async () => {
    const id = await createUser(app.merchant);
    const refused = await ada.change(`/users/${id}`, '/erase', { reason: 'not this one' });
    expect(refused.json()).toMatchObject({
      status: 409,
      detail: 'The user is onboarding: deactivate the user first',
    });
    expect(await status(`${USERS}/${id}`)).toBe(200);
  });

  it('is not found by the merchant: 404 by id, by wallet and for tracking events', async () => {
    expect(await status(`${USERS}/${life.id}`)).toBe(404);
    expect(await status(`${USERS}/by_issuer_wallet_address?address=${life.wallet}`)).toBe(404);
    expect(await status(`${USERS}/${life.id}/events`)).toBe(404);
  });

  it('retains payouts and the balance, but no new payout can be reported', async () => {
    const { payout } = (await app.merchant.get(`/merchants/v1/payouts/${life.payoutId}`)).json();
    expect(payout).toMatchObject({ user_id: life.id, status: 'received', amount: '12.5' });
    const balance = await app.merchant.get(`${USERS}/${life.id}/balance`);
    expect(balance.json()).toMatchObject({ balance: { confirmed: '12.5' } });
    const list = await app.merchant.get(`/merchants/v1/payouts?user_id=${life.id}`);
    expect(list.json<{ payouts: object[] }>().payouts).toHaveLength(1);
    expect((await report(app.merchant, life.id)).status).toBe(409);
  });

  it('cannot return under the Idempotency-Key of the creation or through the onboarding page', async () => {
    const created = await life.createAgain();
    expect(created.status).toBe(409);
    expect(created.text).toContain('a new user needs a new key');
    expect((await life.createAgain()).headers['idempotent-replayed']).toBeUndefined();
    const merchantId = app.merchant.credentials.apiKey;
    const start = new TakeStep(merchantId, life.id, { name: 'start' });
    const steps = [start, new SendPhoneCode(merchantId, life.id, REQUEST)];
    for (const step of steps) {
      await expect(app.app.get(CommandBus).execute(step)).rejects.toMatchObject({ code: 'not_found' });
    }
    const again = await ada.change(`/users/${life.id}`, '/deactivate', { reason: 'again' });
    expect(again.json()).toMatchObject({ status: 409, detail: 'The user is erased' });
  });

  it('frees the phone number, but not the external_id', async () => {
    const { phone, email } = life.person;
    const refused = await app.merchant.post(USERS, { phone_number: phone, external_id: life.externalId });
    expect(refused.json()).toMatchObject({
      status: 422,
      errors: { external_id: ['is taken by another user'] },
    });
    const fresh = await app.merchant.post(USERS, { phone_number: phone, email });
    expect(fresh.status).toBe(201);
    // The data of the new user.
    const { id } = fresh.json().user;
    expect((await app.merchant.get(`${USERS}/${id}`)).json()).toMatchObject({
      user: { phone_number: phone },
    });
    expect(await status(`${USERS}/${life.id}`)).toBe(404);
  });

  it('is displayed to operators without personal data, with who requested its operations and why', async () => {
    const { user } = (await ada.get(`/users/${life.id}`)).json();
    expect(user).toMatchObject({
      merchant_id: app.merchant.credentials.apiKey,
      id: life.id,
      external_id: life.externalId,
      account_state: 'erased',
      issuer_wallet_address: life.wallet,
      phone_number: null,
      email: null,
    });
    const { operations } = (await ada.get(`/operations?subject_id=${life.id}`)).json<{
      operations: object[];
    }>();
    expect(operations).toMatchObject([
      { name: 'users.erase', reason: 'request of the person', requested_by: { name: 'shell' } },
      { name: 'users.deactivate', reason: 'moved house', requested_by: { name: 'shell' } },
    ]);
  });

  it('leaves only the ids of tracking events, so that repeats are recognised, and the events of other users', async () => {
    expect(await counted(life.own)).toEqual(
      life.own.map(() => ({ user_external_id: '', event_name: '', device_id: null, payload: '{}' })),
    );
    const others = await counted(life.others);
    expect(others).toHaveLength(2);
    for (const event of others) expect(event).toMatchObject({ user_external_id: 'somebody-else' });
    const items = life.own.map((event_id) => eventItem({ event_id, user_external_id: life.externalId }));
    expect((await app.merchant.post('/merchants/v1/events', batchOf(items))).status).toBe(202);
    await eventually(async () => {
      const rows = await app.database.query("select from tracking.batches where state = 'accepted' limit 1");
      return rows.length === 0;
    });
    expect(await counted(life.own)).toHaveLength(life.own.length);
  });

  /** Returns the places of the person's data: tables, contents that any key opens, files. */
  async function found({ person }: Life): Promise<string[]> {
    const dump = await dumpOf(app.database);
    const opened = await openedOf(dump, app.database, app.config.masterKey!);
    const { phone, ...rest } = person;
    return tracesOf([...dump, ...opened, ...filesIn(folder)], { phone: phone.slice(1), ...rest });
  }

  async function naming(id: string): Promise<string[]> {
    const dump = await dumpOf(app.database);
    return dump.filter(({ text }) => text.includes(id)).map(({ where }) => where.replace(/_\d+$/, ''));
  }

  /** Returns files of the database with a text, after a checkpoint. */
  async function databaseFiles(text: string): Promise<string[]> {
    await app.database.query('checkpoint');
    const [row] = await app.database.query<{ folder: string }>(
      `select current_setting('data_directory') || '/base/' || oid as folder from pg_database where datname = current_database()`,
    );
    return readdirSync(row!.folder).filter((file) =>
      readFileSync(join(row!.folder, file), 'latin1').includes(text),
    );
  }

  async function wrappedKeyOf(id: string): Promise<string | null> {
    const rows = await app.database.query<{ wrapped_key: string | null }>(
      'select wrapped_key from platform.personal_keys where subject = $1',
      [id],
    );
    return rows[0]!.wrapped_key;
  }

  it('leaves no personal data in a database dump, in clear or under a remaining key', async () => {
    const webhooks = new MerchantWebhooks(app, app.merchant);
    const endpoint = await webhooks.register(receiver.url);
    const person = newPerson();
    // A receiver may respond with personal data.
    receiver.behavior = (response) => response.writeHead(200).end(`thanks, ${person.email}`);
    const gone = await live(app, person);
    await webhooks.settled(endpoint, DELIVERIES);
    receiver.behavior = (response) => response.writeHead(204).end();
    const stays = await live(app);
    await webhooks.settled(endpoint, 2 * DELIVERIES);
    await deactivate(app, gone.id);

    // The search finds each value in its known places before the erasure, so that it is valid.
    const before = await found(gone);
    expect(before).toEqual(
      expect.arrayContaining([
        ...['phone', 'email'].map((name) => `sealed in event_store.events: ${name}`),
        ...['firstName', 'lastName', 'dateOfBirth'].map((name) => `sealed in event_store.events: ${name}`),
        ...['phone', 'email'].map((name) => `sealed in event_store.responses: ${name}`),
        'sealed in event_store.snapshots: lastName',
        'sealed in onboarding.images: face',
        'tracking.batches: lastName',
        'tracking.events: lastName',
        'webhooks.attempts: email',
      ]),
    );
    const others = await found(stays);
    const key = (await wrappedKeyOf(gone.id))!;
    expect(await databaseFiles(key)).not.toEqual([]);

    await erase(app, gone.id);
    expect(await found(gone)).toEqual([]);
    const deliveries = (await webhooks.list(endpoint)).webhook_deliveries;
    expect(deliveries.filter(({ status }) => status === 'succeeded')).toHaveLength(DELIVERIES);
    expect([...new Set(await naming(gone.id))].sort()).toEqual(NAME_THE_USER);
    // The procedure of docs/data-protection.md.
    await eventually(async () => {
      // A transaction that began before the erasure keeps the row until it ends.
      await app.database.query('vacuum full platform.personal_keys');
      return (await databaseFiles(key)).length === 0;
    });
    expect(await found(stays)).toEqual(others);
    expect(receiver.received.some(({ body }) => body.includes(gone.person.email))).toBe(false);

    const run = programsFor(app, { READ_YOUR_WRITES_MS: '5000' });
    const { printed, exitCode } = await run('audit', 'verify');
    expect(printed).toContain('in order: ');
    expect(exitCode === 2 ? printed : 'in order').toBe('in order');
    await run('rebuild');
    expect((await run('audit', 'verify')).exitCode).not.toBe(2);
    expect(await found(gone)).toEqual([]);
  });
});
