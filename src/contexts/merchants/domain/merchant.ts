import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/label.js';

export type MerchantRegistered = DomainEvent<
  'merchant.registered.v1',
  { merchant_id: string; name: string; registered_at: string }
>;
export type MerchantKeyIssued = DomainEvent<
  'merchant.key_issued.v1',
  { merchant_id: string; key_id: string; sealed_private_key: string; issued_at: string }
>;
export type MerchantKeyRevoked = DomainEvent<
  'merchant.key_revoked.v1',
  { merchant_id: string; key_id: string; revoked_at: string }
>;
export type MerchantSuspended = DomainEvent<'merchant.suspended.v1', { merchant_id: string; at: string }>;
export type MerchantReinstated = DomainEvent<'merchant.reinstated.v1', { merchant_id: string; at: string }>;
/** `cidrs` empty: calls may come from anywhere. */
export type MerchantIpAllowListSet = DomainEvent<
  'merchant.ip_allow_list_set.v1',
  { merchant_id: string; cidrs: readonly string[]; at: string }
>;
/**
 * `origins` may show pages of the merchant's users in a frame, and those pages lead back to `callbacks` alone (origins, or
 * schemes of apps with their colon); either may be empty: nothing was said. `shown_as`: what people read for the merchant; null: its name.
 */
export type MerchantEmbeddingSet = DomainEvent<
  'merchant.embedding_set.v1',
  {
    merchant_id: string;
    origins: readonly string[];
    callbacks: readonly string[];
    shown_as: string | null;
    at: string;
  }
>;

export type MerchantEvent =
  | MerchantRegistered
  | MerchantKeyIssued
  | MerchantKeyRevoked
  | MerchantSuspended
  | MerchantReinstated
  | MerchantIpAllowListSet
  | MerchantEmbeddingSet;

/** Stored names of all merchant events. */
export const MERCHANT_EVENTS = [
  'merchant.registered.v1',
  'merchant.key_issued.v1',
  'merchant.key_revoked.v1',
  'merchant.suspended.v1',
  'merchant.reinstated.v1',
  'merchant.ip_allow_list_set.v1',
  'merchant.embedding_set.v1',
] as const satisfies readonly MerchantEvent['type'][];

/** A rotation overlaps the old private key with the new one, and no more (contract.md 2.6). */
export const MAX_VALID_KEYS = 2;
export const MAX_NAME_LENGTH = 255;

/** Who may show the pages of a merchant's users, and where they lead back to: see {@link MerchantEmbeddingSet}. */
export interface Embedding {
  readonly origins: readonly string[];
  readonly callbacks: readonly string[];
  readonly shownAs: string | null;
}
export const NO_EMBEDDING: Embedding = { origins: [], callbacks: [], shownAs: null };

export type Merchant =
  | { readonly status: 'unknown' }
  | {
      readonly status: 'active' | 'suspended';
      readonly merchantId: string;
      readonly name: string;
      readonly validKeys: readonly string[];
      readonly revokedKeys: readonly string[];
      readonly ipAllowList: readonly string[];
      readonly embedding: Embedding;
    };
type Registered = Exclude<Merchant, { status: 'unknown' }>;

export const merchant: Aggregate<Merchant, MerchantEvent> = {
  category: 'merchant',
  initial: { status: 'unknown' },
  evolve(state, event) {
    if (event.type === 'merchant.registered.v1') {
      const { merchant_id: merchantId, name } = event.data;
      const keys = { validKeys: [], revokedKeys: [] };
      return { status: 'active', merchantId, name, ...keys, ipAllowList: [], embedding: NO_EMBEDDING };
    }
    return state.status === 'unknown' ? state : evolveRegistered(state, event);
  },
};

function evolveRegistered(state: Registered, event: Exclude<MerchantEvent, MerchantRegistered>): Registered {
  switch (event.type) {
    case 'merchant.key_issued.v1':
      return { ...state, validKeys: [...state.validKeys, event.data.key_id] };
    case 'merchant.key_revoked.v1':
      return {
        ...state,
        validKeys: state.validKeys.filter((keyId) => keyId !== event.data.key_id),
        revokedKeys: [...state.revokedKeys, event.data.key_id],
      };
    case 'merchant.suspended.v1':
      return { ...state, status: 'suspended' };
    case 'merchant.reinstated.v1':
      return { ...state, status: 'active' };
    case 'merchant.ip_allow_list_set.v1':
      return { ...state, ipAllowList: event.data.cidrs };
    case 'merchant.embedding_set.v1': {
      const { origins, callbacks, shown_as: shownAs } = event.data;
      return { ...state, embedding: { origins, callbacks, shownAs } };
    }
    default:
      event satisfies never;
      return state;
  }
}

/** A private key as it may be kept: `sealed` with the merchant's and the key's id as associated data. */
export interface NewKey {
  readonly keyId: string;
  readonly sealed: string;
}

export function registerMerchant(
  command: { merchantId: string; name: string; key: NewKey; at: string },
  state: Merchant,
): MerchantEvent[] {
  if (state.status !== 'unknown')
    throw new DomainError('invalid_transition', 'The merchant is registered already');
  const name = readLabel('name', command.name, MAX_NAME_LENGTH);
  const { merchantId, at } = command;
  return [
    { type: 'merchant.registered.v1', data: { merchant_id: merchantId, name, registered_at: at } },
    keyIssued(merchantId, command.key, at),
  ];
}

/** At most {@link MAX_VALID_KEYS} keys are valid at a time. */
export function issueKey(command: { key: NewKey; at: string }, state: Merchant): MerchantEvent[] {
  const { merchantId, validKeys } = registered(state);
  if (validKeys.includes(command.key.keyId)) return [];
  if (validKeys.length >= MAX_VALID_KEYS) {
    throw new DomainError('invalid_transition', `${MAX_VALID_KEYS} private keys are valid; revoke one first`);
  }
  return [keyIssued(merchantId, command.key, command.at)];
}

/** The last valid key may go too: a leaked key must be stoppable at once. */
export function revokeKey(command: { keyId: string; at: string }, state: Merchant): MerchantEvent[] {
  const { merchantId, validKeys, revokedKeys } = registered(state);
  if (revokedKeys.includes(command.keyId)) return [];
  if (!validKeys.includes(command.keyId)) throw DomainError.notFound('Private key');
  const data = { merchant_id: merchantId, key_id: command.keyId, revoked_at: command.at };
  return [{ type: 'merchant.key_revoked.v1', data }];
}

export function suspendMerchant(command: { at: string }, state: Merchant): MerchantEvent[] {
  const { merchantId, status } = registered(state);
  if (status === 'suspended') return [];
  return [{ type: 'merchant.suspended.v1', data: { merchant_id: merchantId, at: command.at } }];
}

export function reinstateMerchant(command: { at: string }, state: Merchant): MerchantEvent[] {
  const { merchantId, status } = registered(state);
  if (status === 'active') return [];
  return [{ type: 'merchant.reinstated.v1', data: { merchant_id: merchantId, at: command.at } }];
}

/** `cidrs` in canonical form (see application/ip-allow-list.ts). */
export function setIpAllowList(
  command: { cidrs: readonly string[]; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { merchantId, ipAllowList } = registered(state);
  if (command.cidrs.join() === ipAllowList.join()) return [];
  const data = { merchant_id: merchantId, cidrs: command.cidrs, at: command.at };
  return [{ type: 'merchant.ip_allow_list_set.v1', data }];
}

/** What `change` does not name stays as it is. Lists in canonical form (see application/embedding.ts). */
export function setEmbedding(
  command: { change: Partial<Embedding>; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { merchantId, embedding } = registered(state);
  const { origins, callbacks, shownAs } = { ...embedding, ...command.change };
  const shown = shownAs === null ? null : readLabel('shown_as', shownAs, MAX_NAME_LENGTH);
  const before = [embedding.origins, embedding.callbacks, embedding.shownAs];
  if (JSON.stringify([origins, callbacks, shown]) === JSON.stringify(before)) return [];
  const data = { merchant_id: merchantId, origins, callbacks, shown_as: shown, at: command.at };
  return [{ type: 'merchant.embedding_set.v1', data }];
}

function keyIssued(merchantId: string, key: NewKey, at: string): MerchantKeyIssued {
  const data = { merchant_id: merchantId, key_id: key.keyId, sealed_private_key: key.sealed, issued_at: at };
  return { type: 'merchant.key_issued.v1', data };
}

function registered(state: Merchant): Registered {
  if (state.status === 'unknown') throw DomainError.notFound('Merchant');
  return state;
}
