import { CommandBus, type Command } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { deriveId } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import {
  defineOperation,
  type Get,
  type RunningOperation,
} from '../../../platform/operations/operation-definition.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { adminKey, knownAdminKey, readScopes, type AdminKeyTerms } from '../domain/admin-key.js';
import type { CredentialKind } from '../domain/credential.js';
import { exchangeKey, type MemoSigning, type PayPageSettings } from '../domain/exchange-key.js';
import { merchant } from '../domain/merchant.js';
import { operatorPerson } from '../domain/operator.js';
import { ROLE_SCOPES } from '../domain/roles.js';
import { ActivateAdminKey, IssueAdminKey, RevokeAdminKey, RollAdminKey } from './admin-key-commands.js';
import { CredentialSecrets } from './credential-secrets.js';
import { type CredentialChanged } from './access-commands.js';
import { areWithin } from './allow-lists.js';
import { IssueSecret, RevokeSecret, RollSecret, SetAddresses } from './secret-commands.js';
import {
  IssueExchangeKey,
  RevokeExchangeKey,
  RevokeExchangeSecret,
  SetExchangeKeyPage,
} from './exchange-key-commands.js';

/** What a credential is a part of (admin-api.md 3). */
export interface CredentialHolder {
  readonly kind: 'payouts' | 'exchange' | 'admin';
  readonly merchant_id: string | null;
  /** Of the exchange. */
  readonly api_key: string | null;
}

interface IssueParameters extends CredentialHolder {
  readonly name: string;
  readonly operator_id: string | null;
  readonly scopes: readonly string[] | null;
  readonly merchants: readonly string[] | null;
  readonly addresses: readonly string[];
  readonly withdraw_addresses: readonly string[];
  readonly demands_signing: boolean;
  readonly memo_signing: MemoSigning;
  readonly expires_at: string | null;
}
type RollParameters = CredentialHolder & { readonly overlap_seconds: number };

/** The secret of a new credential, for the response alone. */
export interface IssuedCredential {
  readonly credential_id: string;
  /** Null a day after it was requested. */
  readonly secret: string | null;
}

/** The streams whose events are the revision of a credential. */
export function credentialStreams(id: string, { kind, merchant_id, api_key }: CredentialHolder): string[] {
  if (kind === 'admin') return [`admin_key-${id}`];
  return kind === 'payouts' ? [`merchant-${merchant_id}`] : [`exchange_key-${api_key}`];
}

/** The `api_key` of an exchange key that is issued with this credential. */
export function exchangeKeyIdOf(credentialId: string): string {
  return deriveId(credentialId, 'exchange key');
}

const CREDENTIAL = { subject: 'credential', scope: 'credentials:write' } as const;

function run<T>(get: Get, command: Command<T>): Promise<T> {
  return get(CommandBus).execute(command);
}

/** The kind and the id of the stream of a credential that is none of an admin. */
function streamOf({ kind, merchant_id, api_key }: CredentialHolder): [kind: CredentialKind, id: string] {
  return kind === 'payouts' ? ['api_key', merchant_id!] : ['exchange_key', api_key!];
}

/** The secret that was issued under this id. */
async function secretOf(get: Get, id: string): Promise<IssuedCredential> {
  return { credential_id: id, secret: await get(CredentialSecrets).issued(id) };
}

function adminOrder({ operator_id, name, scopes, merchants, addresses, expires_at }: IssueParameters) {
  return { operatorId: operator_id!, name, scopes, merchants, addresses, expiresAt: expires_at };
}

/** Reads from the events what an admin key was issued with. Throws `not_found`. */
async function issuedKey(get: Get, id: string) {
  return knownAdminKey((await get(CommandLoop).load(adminKey, id)).state).issued;
}

type KeyTerms = Pick<AdminKeyTerms, 'merchants' | 'addresses' | 'expiresAt'>;

/**
 * An admin key is requested by its own person, with a session, the key itself or another one that is not exceeded. Throws
 * `forbidden`.
 */
async function requireOwnKey(
  { operatorId, credentialId }: Pick<Requester, 'operatorId' | 'credentialId'>,
  key: KeyTerms & { readonly id: string; readonly owner: string | null },
  get: Get,
): Promise<true> {
  if (operatorId === null || key.owner !== operatorId)
    throw new DomainError('forbidden', 'An admin key is issued and rolled by its own person');
  if (credentialId === null || credentialId === key.id) return true;
  const { issued, endsAt } = knownAdminKey((await get(CommandLoop).load(adminKey, credentialId)).state);
  const { merchants, addresses } = issued;
  const exceeds = {
    merchants: merchants !== null && !(key.merchants?.every((each) => merchants.includes(each)) ?? false),
    addresses: addresses.length > 0 && !(key.addresses.length > 0 && areWithin(key.addresses, addresses)),
    expires_at:
      endsAt !== null && !(key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.parse(endsAt)),
  };
  const [exceeded] = Object.entries(exceeds).find(([, is]) => is) ?? [];
  if (exceeded === undefined) return true;
  throw new DomainError('forbidden', `The ${exceeded} would exceed those of the key that requests it`);
}

async function issue(operation: RunningOperation<IssueParameters>, get: Get): Promise<IssuedCredential> {
  const { subjectId: secretId, parameters } = operation;
  const { kind, merchant_id, name, expires_at: expiresAt } = parameters;
  if (kind === 'payouts')
    await run(get, new IssueSecret('api_key', merchant_id!, { secretId, name, expiresAt }));
  else if (kind === 'exchange') {
    const { demands_signing, memo_signing, addresses, withdraw_addresses: withdrawAddresses } = parameters;
    const key = { keyId: parameters.api_key, secretId, name, expiresAt };
    const order = { ...key, cidrs: addresses, withdrawAddresses };
    const label = name === '' ? null : name;
    await run(get, new IssueExchangeKey(merchant_id!, demands_signing, label, memo_signing, order));
  } else await run(get, new IssueAdminKey(secretId, adminOrder(parameters), false));
  return secretOf(get, secretId);
}

async function isIssued(id: string, get: Get): Promise<boolean> {
  return (await get(CommandLoop).load(adminKey, id)).state.status !== 'unknown';
}

/** Throws `invalid_transition` for a credential that is revoked: there is nothing to revoke. */
async function requireNotRevoked(
  { kind, merchant_id, api_key }: CredentialHolder,
  get: Get,
  id: string,
): Promise<void> {
  const loop = get(CommandLoop);
  const isRevoked = async (): Promise<boolean> => {
    if (kind === 'admin') return (await loop.load(adminKey, id)).state.status === 'revoked';
    const { state } = await (kind === 'payouts'
      ? loop.load(merchant, merchant_id!)
      : loop.load(exchangeKey, api_key!));
    return state.status === 'revoked' || (state.status !== 'unknown' && state.revokedSecrets.includes(id));
  };
  if (await isRevoked()) throw new DomainError('invalid_transition', 'The credential is revoked');
}

function revocation(
  id: string,
  { kind, merchant_id, api_key }: CredentialHolder,
): Command<CredentialChanged> {
  if (kind === 'admin') return new RevokeAdminKey(id);
  return kind === 'payouts'
    ? new RevokeSecret('api_key', merchant_id!, id)
    : new RevokeExchangeSecret(api_key!, id);
}

async function roll({ id, subjectId, parameters }: RunningOperation<RollParameters>, get: Get) {
  const { kind, overlap_seconds: overlap } = parameters;
  const next = deriveId(id, 'credential');
  if (kind === 'admin') await run(get, new RollAdminKey(subjectId, next, overlap));
  else await run(get, new RollSecret(...streamOf(parameters), subjectId, next, overlap));
  return secretOf(get, next);
}

export const credentialOperations = [
  defineOperation<IssueParameters>({
    ...CREDENTIAL,
    name: 'credentials.issue',
    // A new credential has no revision; an admin key exists before it is approved.
    streams: (id, { kind }) => (kind === 'admin' ? [`admin_key-${id}`] : []),
    secondPerson: async ({ kind }) => (kind === 'admin' ? 'before' : null),
    own: async (by, { kind, operator_id: owner, expires_at: expiresAt, merchants, addresses }, get, id) =>
      kind === 'admin' && requireOwnKey(by, { id, owner, merchants, addresses, expiresAt }, get),
    gives: async ({ kind, scopes, operator_id }, get) => {
      if (kind !== 'admin') return [];
      if (scopes !== null) return readScopes(scopes);
      const { state } = await get(CommandLoop).load(operatorPerson, operator_id ?? '');
      return state.status === 'unknown' ? [] : ROLE_SCOPES[state.role];
    },
    prepare: async ({ subjectId, parameters }, get) => {
      if (!(await isIssued(subjectId, get)))
        await run(get, new IssueAdminKey(subjectId, adminOrder(parameters), true));
      return secretOf(get, subjectId);
    },
    discard: async ({ subjectId }, get) => {
      if (await isIssued(subjectId, get)) await run(get, new RevokeAdminKey(subjectId));
    },
    execute: async (operation, get) => {
      const { subjectId, parameters } = operation;
      if (parameters.kind !== 'admin' || !(await isIssued(subjectId, get))) return issue(operation, get);
      const { state } = await get(CommandLoop).load(operatorPerson, parameters.operator_id!);
      if (state.status === 'disabled')
        throw new DomainError('invalid_transition', 'The operator is disabled');
      await run(get, new ActivateAdminKey(subjectId));
      return {};
    },
    repeat: async ({ subjectId }, get) => secretOf(get, subjectId),
  }),
  defineOperation<RollParameters>({
    ...CREDENTIAL,
    name: 'credentials.roll',
    streams: credentialStreams,
    own: async (by, { kind }, get, id) => {
      if (kind !== 'admin') return false;
      const { operator_id: owner, expires_at: expiresAt, ...terms } = await issuedKey(get, id);
      return requireOwnKey(by, { ...terms, id, owner, expiresAt }, get);
    },
    gives: async ({ kind }, get, id) => (kind === 'admin' ? (await issuedKey(get, id)).scopes : []),
    execute: roll,
    repeat: async ({ id }, get) => secretOf(get, deriveId(id, 'credential')),
  }),
  ...['credentials.revoke', 'credentials.revoke_leaked'].map((name) =>
    defineOperation<CredentialHolder>({
      ...CREDENTIAL,
      name,
      ...(name === 'credentials.revoke' && { check: requireNotRevoked }),
      streams: credentialStreams,
      execute: async ({ subjectId, parameters }, get) =>
        void (await run(get, revocation(subjectId, parameters))),
    }),
  ),
];

const EXCHANGE_KEY = {
  scope: 'credentials:write',
  subject: 'exchange_key',
  streams: (keyId: string) => [`exchange_key-${keyId}`],
} as const;

/** On API keys of the exchange as a whole; programs request them. */
export const programOperations = [
  defineOperation<{ readonly addresses: readonly string[] }>({
    ...EXCHANGE_KEY,
    name: 'credentials.restrict',
    execute: async ({ subjectId, parameters: { addresses } }, get) =>
      void (await run(get, new SetAddresses('exchange_key', subjectId, addresses))),
  }),
  defineOperation<{ readonly page: PayPageSettings }>({
    ...EXCHANGE_KEY,
    name: 'credentials.set_page',
    execute: async ({ subjectId, parameters: { page } }, get) =>
      void (await run(get, new SetExchangeKeyPage(subjectId, page))),
  }),
  defineOperation({
    ...EXCHANGE_KEY,
    name: 'credentials.revoke_key',
    execute: async ({ subjectId }, get) => void (await run(get, new RevokeExchangeKey(subjectId))),
  }),
];
