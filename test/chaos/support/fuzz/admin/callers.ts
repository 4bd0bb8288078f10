import { randomUUID } from 'node:crypto';
import { ROLE_SCOPES, SCOPES } from '../../../../../src/contexts/access/operators/roles.js';
import { CookieClient } from '../../../../support/access/cookie-client.js';
import { AdminClient } from '../../../../support/admin/admin-client.js';
import {
  PORTAL_SCOPES,
  DEFAULT_PORTAL_SCOPES,
} from '../../../../../src/contexts/access/portal/portal-session.js';
import { createPortalSession } from '../../../../support/http/portal-browser.js';
import { expectStatus } from '../../payouts.js';
import { REASON, type Mark, type MarkedMerchant } from './merchants.js';

/** The sender of a request, with the permissions of the contract. */
export interface FuzzCaller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The scopes; null for a stranger without access. */
  readonly scopes: ReadonlySet<string> | null;
  /** The only merchant of a confined caller; null for all merchants. */
  readonly reach: Mark | null;
}

const ALL: ReadonlySet<string> = new Set(SCOPES);
const intersection = (left: Iterable<string>, right: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...left].filter((each) => right.has(each)));

/** Two administrators whom no fuzzed request names. */
export interface Keepers {
  readonly first: AdminClient;
  readonly second: AdminClient;
}

interface Requested {
  readonly operation: { readonly id: string };
}

export async function approved({ second }: Keepers, id: string): Promise<{ readonly login_url?: string }> {
  const response = await second.post(`/operations/${id}/approve`, { reason: REASON });
  return expectStatus(response, 200).json();
}

interface Person {
  readonly id: string;
  readonly session: CookieClient;
}

async function newPerson(keepers: Keepers, role: string): Promise<Person> {
  const person = { name: 'Fuzz', email: `${randomUUID()}@ops.example`, role, reason: REASON };
  const requested = expectStatus(await keepers.first.post('/operators', person), 202).json<
    Requested & { operation: { subject: { id: string } } }
  >();
  const { login_url } = await approved(keepers, requested.operation.id);
  const session = new CookieClient(keepers.first.baseUrl);
  const token = new URL(login_url!).hash.slice(1);
  const { status, text } = await session.post('/login/link', { token });
  if (status !== 204) throw new Error(text);
  return { id: requested.operation.subject.id, session };
}

/** Creates an operator whom fuzzed requests may disable. */
export async function newVictim(keepers: Keepers): Promise<string> {
  return (await newPerson(keepers, 'support')).id;
}

async function newKey(
  keepers: Keepers,
  { session }: Person,
  {
    scopes,
    merchants,
  }: { readonly scopes: readonly string[] | null; readonly merchants: readonly string[] | null },
): Promise<Readonly<Record<string, string>>> {
  const order = { kind: 'admin', name: 'fuzz', scopes, merchants, reason: REASON };
  const { status, text } = await session.post('/admin/v1/credentials', order);
  if (status !== 202) throw new Error(`${status} ${text}`);
  const { operation, credential } = JSON.parse(text) as Requested & { credential: { secret: string } };
  await approved(keepers, operation.id);
  return { authorization: `Bearer ${credential.secret}` };
}

/**
 * Returns keys of `count` people: with each role's scopes, for all merchants or one, with one scope and with
 * none. Adds their console sessions, and people who have lost their role.
 */
export async function adminCallers(
  keepers: Keepers,
  merchants: readonly MarkedMerchant[],
  count: number,
): Promise<readonly FuzzCaller[]> {
  const reaches = [null, ...merchants];
  const callers: FuzzCaller[] = [];
  const kinds: readonly (readonly [string, readonly string[]])[] = [
    ...Object.entries(ROLE_SCOPES),
    ['none', []],
  ];
  for (let n = 0; n < count; n += 1) {
    const person = await newPerson(keepers, 'administrator');
    const has = n < 2 ? ALL : new Set<string>(ROLE_SCOPES[n === 2 ? 'support' : 'viewer']);
    const add = async (name: string, scopes: readonly string[], merchant: MarkedMerchant | null) => {
      const key = { scopes, merchants: merchant === null ? null : [merchant.id] };
      const headers = await newKey(keepers, person, key);
      const reach = merchant?.mark ?? null;
      callers.push({ name: `${n} ${name}`, headers, scopes: intersection(scopes, has), reach });
    };
    for (const [name, scopes] of kinds) for (const reach of reaches) await add(name, scopes, reach);
    for (const scope of SCOPES.filter((_, place) => place % count === n)) await add(scope, [scope], null);
    const cookie = `console=${person.session.cookie('console')}`;
    const headers = { cookie, origin: person.session.origin };
    callers.push({ name: `${n} session`, headers, scopes: has, reach: null });
    if (has === ALL) continue;
    const change = { role: n === 2 ? 'support' : 'viewer', reason: REASON };
    expectStatus(await keepers.first.change(`/operators/${person.id}`, '', change), 200);
  }
  return callers;
}

/** Callers without a key, with an invalid one, and with one that is not approved. */
export function strangers(unapproved: string): readonly FuzzCaller[] {
  const admin = `dsb_test_admin_${'0'.repeat(49)}`;
  const given: readonly Readonly<Record<string, string>>[] = [
    {},
    ...[
      '',
      'Bearer',
      'Bearer  ',
      'Basic x',
      `Bearer ${admin}`,
      `bearer ${unapproved}`,
      `Bearer ${unapproved}x`,
    ].map((authorization) => ({ authorization })),
    { authorization: `Bearer ${'dsb_test_admin_'.repeat(300)}` },
    { cookie: 'console=x; portal=x' },
    { cookie: `console=${'A'.repeat(43)}; portal=${'A'.repeat(64)}` },
  ];
  return given.map((headers, n) => ({ name: `stranger ${n}`, headers, scopes: null, reach: null }));
}

/** Returns portal sessions of both merchants with all scopes, the usual ones, reading alone and none. */
export async function portalCallers(
  merchants: readonly MarkedMerchant[],
  origin: string,
): Promise<readonly FuzzCaller[]> {
  const callers: FuzzCaller[] = [];
  const reads = PORTAL_SCOPES.filter((scope) => scope.endsWith(':read'));
  for (const { client, mark } of merchants)
    for (const scopes of [PORTAL_SCOPES, DEFAULT_PORTAL_SCOPES, reads, [PORTAL_SCOPES[0]!]]) {
      const { url } = await createPortalSession(client, { scopes, actor: { id: mark, name: mark } });
      const browser = new CookieClient(origin);
      const { status, text } = await browser.post('/session', { code: new URL(url).hash.slice(1) });
      if (status !== 204) throw new Error(text);
      const headers = { cookie: `portal=${browser.cookie('portal')}`, origin };
      callers.push({ name: `portal ${mark}`, headers, scopes: new Set(scopes), reach: mark });
    }
  return callers;
}

/** Requests a key that waits for its second person. */
export async function unapprovedKey({ first }: Keepers): Promise<string> {
  const order = { kind: 'admin', name: 'fuzz', reason: REASON };
  const response = expectStatus(await first.post('/credentials', order), 202);
  return response.json<{ credential: { secret: string } }>().credential.secret;
}
