import { invoke } from '../../../support/programs/cli.js';
import type { Group, TamperingHarness } from './tampering-harness.js';

/** Admin keys are cached for two seconds. */
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

/** Changes owner and lifetime of sessions, links and keys: no column makes one person another. */
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
      const cookie = isSession ? await signIn(harness, token) : '';
      await db.query(`create temp table kept as table ${table}`);
      await db.query(
        `update ${table} set ${column} = ${COLUMNS[table]![column]!} where operator_id = $2 and $1::uuid is not null`,
        [bob!.id, ada!.id],
      );
      if (isSession || table === 'access.login_secrets') {
        const { status } = isSession
          ? await call(harness, '/session', { cookie })
          : await call(harness, '/login/link', {}, { token });
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

async function operatorOf(harness: TamperingHarness, key: string) {
  const headers = { authorization: `Bearer ${key}` };
  const { status, text } = await call(harness, '/admin/v1/whoami', headers);
  if (status !== 200) return null;
  const { actor } = JSON.parse(text) as { readonly actor: { readonly operator_id: string } };
  const read = await call(harness, `/admin/v1/operators/${actor.operator_id}`, headers);
  const { operator } = JSON.parse(read.text) as { readonly operator?: { readonly email: string } };
  return { id: actor.operator_id, email: operator?.email ?? '' };
}

async function newLink({ shared }: TamperingHarness, email: string): Promise<string> {
  const env = { DATABASE_URL: shared.databaseUrl, MASTER_KEY: shared.masterKey };
  const { printed } = await invoke('operator', env, '--json', 'login-link', email);
  return (JSON.parse(printed) as { readonly login_url: string }).login_url.split('#')[1]!;
}

async function signIn(harness: TamperingHarness, token: string): Promise<string> {
  const { cookie } = await call(harness, '/login/link', {}, { token });
  return cookie!.split(';')[0]!;
}

async function call(
  { service }: TamperingHarness,
  path: string,
  headers: Record<string, string>,
  body?: object,
) {
  const response = await fetch(service.adminUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { origin: service.adminUrl, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), cookie: response.headers.getSetCookie()[0] };
}
