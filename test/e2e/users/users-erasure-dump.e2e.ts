import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { deactivate, erase, live, newPerson, operatorOf, type Life } from '../../support/erasure/life.js';
import { dumpOf, openedOf, tracesOf, type Haystack } from '../../support/erasure/traces.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { specFolder } from '../../support/run-folder.js';

/** Of one life. */
const DELIVERIES = 5;

/** What stays under the user's id. */
const NAME_THE_USER = [
  'event_store.events',
  'payouts.balances',
  'payouts.deactivations',
  'payouts.payouts',
  'payouts.wallets',
  'platform.personal_keys',
  'users.wallets',
];

let app: TestApp;
let receiver: TestReceiver;
let folder: string;

beforeAll(async () => {
  folder = specFolder('erasure');
  [app, receiver] = await Promise.all([
    startTestApp({ LOG_LEVEL: 'debug', LOG_FILE: join(folder, 'service.log'), DATA_DIR: folder }),
    TestReceiver.start(),
  ]);
});
afterAll(async () => {
  await app.close();
  await receiver.stop();
});

/** Files that the service writes. */
function files(): Haystack[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((where) => ({ where, text: readFileSync(where, 'latin1') }));
}

/** Where anything of the person is found: in tables, in what any key opens of them, in files. */
async function found({ person }: Life): Promise<string[]> {
  const dump = await dumpOf(app.database);
  const opened = await openedOf(dump, app.database, app.config.masterKey!);
  const { phone, ...rest } = person;
  return tracesOf([...dump, ...opened, ...files()], { phone: phone.slice(1), ...rest });
}

/** Tables that name the user. */
async function naming(id: string): Promise<string[]> {
  const dump = await dumpOf(app.database);
  return dump.filter(({ text }) => text.includes(id)).map(({ where }) => where.replace(/_\d+$/, ''));
}

/** Files of the database with a text, after a checkpoint. */
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

it('a dump holds nothing of an erased person, in clear or under a key that is left, and the books agree', async () => {
  const webhooks = new MerchantWebhooks(app, app.merchant);
  const endpoint = await webhooks.register(receiver.url);
  const person = newPerson();
  // A receiver may say anything.
  receiver.behavior = (response) => response.writeHead(200).end(`thanks, ${person.email}`);
  const gone = await live(app, person);
  await webhooks.settled(endpoint, DELIVERIES);
  receiver.behavior = (response) => response.writeHead(204).end();
  const stays = await live(app);
  await webhooks.settled(endpoint, 2 * DELIVERIES);
  await deactivate(app, gone.id);

  // What the search is worth: before the erasure it finds each of them where it is known to be.
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
      'tracking.sandbox_analytics: email',
      'webhooks.attempts: email',
    ]),
  );
  const others = await found(stays);
  const key = (await wrappedKeyOf(gone.id))!;
  expect(await databaseFiles(key)).not.toEqual([]);

  expect(await erase(app, gone.id)).toMatch(/^The user is erased, and nothing is left to drop/);
  expect(await found(gone)).toEqual([]);
  const deliveries = (await webhooks.list(endpoint)).webhook_deliveries;
  expect(deliveries.filter(({ status }) => status === 'succeeded')).toHaveLength(DELIVERIES);
  expect((await naming(gone.id)).sort()).toEqual(NAME_THE_USER);
  // As docs/data-protection.md has it.
  await eventually(async () => {
    // A transaction that began before the erasure keeps the row until it ends.
    await app.database.query('vacuum full platform.personal_keys');
    return (await databaseFiles(key)).length === 0;
  });
  // Somebody else is there as before.
  expect(await found(stays)).toEqual(others);
  expect(receiver.received.some(({ body }) => body.includes(gone.person.email))).toBe(false);

  const run = operatorOf(app);
  const { printed, exitCode } = await run('audit', 'verify');
  expect(printed).toContain('in order: ');
  expect(exitCode === 2 ? printed : 'in order').toBe('in order');
  await run('rebuild');
  expect((await run('audit', 'verify')).exitCode).not.toBe(2);
  expect(await found(gone)).toEqual([]);
});
