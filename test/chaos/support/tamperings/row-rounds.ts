import { randomUUID } from 'node:crypto';
import { invoke } from '../../../support/programs/cli.js';
import type { Group, TamperingHarness } from './tampering-harness.js';
import { eventually } from '../../../../bench/support/wait.js';
import { CookieClient } from '../../../support/access/cookie-client.js';
import { AdminClient } from '../../../support/admin/admin-client.js';
import { CREATE_USER, REPORT, type Operation } from '../payouts.js';

/** Longer than the 2 s for which admin keys are cached. */
const CACHED_MS = 2100;
const BOB = '$1::uuid';

/** Forged values of each column: another person, a longer life, more rights. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'access.console_sessions': {
    operator_id: BOB,
    session_id: 'gen_random_uuid()',
    method: `'oidc'`,
    address: `'192.0.2.77'`,
    authenticated_at: `authenticated_at + interval '1 s'`,
    expires_at: `expires_at + interval '1 day'`,
    mac: 'null',
  },
  'access.login_secrets': { operator_id: BOB, expires_at: `expires_at + interval '1 day'`, mac: 'null' },
  'access.credentials': {
    ...{ operator_id: BOB, owner_id: BOB, key_id: BOB },
    ...{ scopes: `'{}'`, merchants: `'{}'`, addresses: `'{192.0.2.0/24}'` },
  },
  'access.operators': { operator_id: 'gen_random_uuid()', role: `'viewer'` },
};

/** Changes owner and lifetime of sessions, links and keys. No column may change one person into another. */
export const logins: Group = {
  percent: 5,
  atOnce: 8,
  async run(harness, random, count) {
    const { db, verdict, service } = harness;
    const { api_key: key, approver_api_key } = service.admin;
    const [ada, bob] = [await operatorOf(harness, key), await operatorOf(harness, approver_api_key)];
    const done: string[] = [];
    while (done.length < count) {
      const table = random.pick(Object.keys(COLUMNS));
      const column = random.pick(Object.keys(COLUMNS[table]!));
      const token = table === 'access.credentials' ? '' : await newLink(harness, ada!.email);
      const isSession = table === 'access.console_sessions';
      const browser = new CookieClient(service.adminUrl);
      if (isSession) {
        await browser.post('/login/link', { token });
        verdict.equal((await browser.call('/session')).status, 200, 'the status of a login before a change');
      }
      await db.query(`create temp table kept as table ${table}`);
      await db.query(
        `update ${table} set ${column} = ${COLUMNS[table]![column]!} where operator_id = $2 and $1::uuid is not null`,
        [bob!.id, ada!.id],
      );
      if (isSession || table === 'access.login_secrets') {
        const { status } = isSession
          ? await browser.call('/session')
          : await browser.post('/login/link', { token });
        verdict.equal(status, 401, `the status of a login whose ${column} was changed in ${table}`);
      } else {
        await new Promise((resolve) => setTimeout(resolve, CACHED_MS));
        const found = await operatorOf(harness, key);
        verdict.expect(
          found === null || found.id === ada!.id,
          `no other person by ${table}.${column}`,
          found,
        );
      }
      await db.query(`delete from ${table}; insert into ${table} select * from kept; drop table kept`);
      done.push(`${table} ${column}`);
    }
    await new Promise((resolve) => setTimeout(resolve, CACHED_MS));
    verdict.equal(
      (await operatorOf(harness, key))?.id,
      ada!.id,
      'the person of the key once all is as it was',
    );
    return done;
  },
};

async function operatorOf({ service }: TamperingHarness, key: string) {
  const admin = new AdminClient(service.adminUrl, key, '');
  const who = await admin.get('/whoami');
  if (who.status !== 200) return null;
  const { operator_id: id } = who.json<{ actor: { operator_id: string } }>().actor;
  const { operator } = (await admin.get(`/operators/${id}`)).json<{ operator?: { email: string } }>();
  return { id, email: operator?.email ?? '' };
}

async function newLink({ shared }: TamperingHarness, email: string): Promise<string> {
  const env = { DATABASE_URL: shared.databaseUrl, MASTER_KEY: shared.masterKey };
  const { printed } = await invoke('operator', env, '--json', 'login-link', email);
  return (JSON.parse(printed) as { readonly login_url: string }).login_url.split('#')[1]!;
}

const TABLE = 'webhooks.deliveries';
const FORGED_COLUMNS = 'endpoint_id, merchant_id, type, body, is_test';
const KINDS = ['no MAC', 'MAC copied', 'body', 'endpoint', 'type'] as const;

/** Deliveries are invented, or changed and due again, while workers send. */
export const deliveries: Group = {
  percent: 7,
  atOnce: 15,
  async run(harness, random, count) {
    const { db, verdict, receiver } = harness;
    const { rows } = await db.query<{ id: string }>(
      `select delivery_id as id from ${TABLE} where state = 'succeeded' and type = 'payout.received' order by delivery_id`,
    );
    await db.query(`create temp table sent as table ${TABLE}`);
    const before = receiver.received.length;
    const mark = random.uuid();
    const forged = new Map<string, string>();
    for (const kind of random.deal(KINDS, count)) {
      const model = rows.splice(random.below(rows.length), 1)[0]!.id;
      const body = `regexp_replace(body, '"payout_id":"[^"]*"', '"payout_id":"${mark}"')`;
      const isNew = kind === 'no MAC' || kind === 'MAC copied';
      const id = isNew ? random.uuid() : model;
      if (isNew) {
        rows.push({ id: model });
        await db.query(
          `insert into ${TABLE} (delivery_id, ${FORGED_COLUMNS}, mac)
           select $1, ${FORGED_COLUMNS.replace('body', body)}, ${kind === 'no MAC' ? 'null' : 'mac'}
           from ${TABLE} where delivery_id = $2`,
          [id, model],
        );
      } else {
        const change = {
          body: `body = ${body}`,
          endpoint: `endpoint_id = (select endpoint_id from webhooks.endpoint_snapshots l where l.endpoint_id <> ${TABLE}.endpoint_id limit 1)`,
          type: `type = 'payout.failed'`,
        }[kind];
        await db.query(
          `update ${TABLE} set ${change}, state = 'pending', due_at = now(), finished_at = null where delivery_id = $1`,
          [id],
        );
      }
      forged.set(id, kind);
    }
    await eventually('every forged delivery is refused', async () => {
      const left = await db.query(
        `select from ${TABLE} where delivery_id = any($1::uuid[]) and (state <> 'dropped' or leased_by is not null)`,
        [[...forged.keys()]],
      );
      return left.rowCount === 0;
    });
    const since = receiver.received.slice(before);
    for (const [id, kind] of forged) {
      const sent = since.filter(({ headers }) => headers['webhook-id'] === id);
      verdict.none(`refused by the sender: delivery ${id}, ${kind}`, sent);
    }
    const invented = since.filter(({ body }) => body.includes(mark));
    verdict.none('notifications of payouts that were never reported', invented);
    await harness.change(`delete from ${TABLE}; insert into ${TABLE} table sent; drop table sent`);
    return [...forged.values()];
  },
};

const RESPONSES = 'event_store.responses';
const FORGED = '0x000000000000000000000000000000000000dead';

interface Stored {
  readonly operation: Operation;
  readonly body: string;
  readonly key: string;
  readonly text: string;
}

/** Stored responses of Idempotency-Keys are replaced by those of others, or invented. */
export const responses: Group = {
  percent: 7,
  atOnce: 30,
  async run(harness, random, count) {
    const { db, verdict } = harness;
    const { client } = harness.service;
    const stored = await storedOf(harness, Math.max(2, Math.ceil(count / 2)));
    const done: string[] = [];
    await db.query(`create temp table stored as table ${RESPONSES}`);
    while (done.length < count) {
      const [{ operation, key, text, ...request }, other] = [random.pick(stored), random.pick(stored)];
      if (key === other.key) continue;
      const how = random.pick(['body', 'status', 'copied', 'invented'] as const);
      const change = {
        body: `body = regexp_replace(body, '.(.)$', case when body ~ 'x.$' then 'y\\1' else 'x\\1' end)`,
        status: 'status = 200',
        copied: `body = (select body from ${RESPONSES} where key = '${other.key}')`,
        invented: `body = '{"user":{"id":"${FORGED}"}}'`,
      }[how];
      await db.query(`update ${RESPONSES} set ${change} where key = $1`, [key]);
      const again = await client.post(operation.path, request.body, key);
      verdict.expect(
        again.status >= 500 && !again.text.includes(FORGED),
        `refused by the service: a stored response of ${operation.name}, ${how}`,
        again,
      );
      await db.query(
        `delete from ${RESPONSES} where key = '${key}';
         insert into ${RESPONSES} select * from stored where key = '${key}'`,
      );
      const last = await client.post(operation.path, request.body, key);
      verdict.equal(last.text, text, 'the response once it is as it was stored');
      done.push(`response ${how}`);
    }
    await db.query('drop table stored');
    return done;
  },
};

async function storedOf(harness: TamperingHarness, requests: number): Promise<readonly Stored[]> {
  const { rows } = await harness.db.query<{ user_id: string }>(
    'select user_id from users.users where wallet is not null and merchant_id = $1',
    [harness.service.merchant.apiKey],
  );
  return Promise.all(
    Array.from({ length: requests }, async (_, number) => {
      const operation = number % 2 === 0 ? CREATE_USER : REPORT;
      const [body, key] = [operation.body(rows[0]!.user_id), randomUUID()];
      const { status, text } = await harness.service.client.post(operation.path, body, key);
      harness.verdict.equal(status, 201, `a ${operation.name} under a key`);
      return { operation, body, key, text };
    }),
  );
}
