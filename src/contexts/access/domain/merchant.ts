import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/text.js';
import {
  evolveCredential,
  known,
  NEW_CREDENTIAL,
  secretIssued,
  setAddresses,
  type CredentialEvent,
  type KnownCredential,
  type NewSecret,
} from './credential.js';

export type MerchantEvent =
  | DomainEvent<'merchant.registered.v1', { merchant_id: string; name: string; registered_at: string }>
  | DomainEvent<'merchant.suspended.v1', { merchant_id: string; at: string }>
  | DomainEvent<'merchant.reinstated.v1', { merchant_id: string; at: string }>
  /**
   * `origins` may embed pages of the merchant's users, which lead back to `callbacks` alone (origins, or schemes of apps
   * with their colon); an empty list is not set. `shown_as`: the displayed name; null: the registered one.
   */
  | DomainEvent<
      'merchant.embedding_set.v1',
      {
        merchant_id: string;
        origins: readonly string[];
        callbacks: readonly string[];
        shown_as: string | null;
        at: string;
      }
    >
  | DomainEvent<'merchant.renamed.v1', { merchant_id: string; name: string; at: string }>
  /** Null: the default of the service. */
  | DomainEvent<
      'merchant.limits_set.v1',
      { merchant_id: string; requests_per_minute: number | null; at: string }
    >
  | CredentialEvent<'api_key'>;

const MAX_NAME_LENGTH = 255;

/** Who may show the pages of a merchant's users, and where they lead back to. */
export interface Embedding {
  readonly origins: readonly string[];
  readonly callbacks: readonly string[];
  readonly displayName: string | null;
}
const NO_EMBEDDING: Embedding = { origins: [], callbacks: [], displayName: null };

/** A merchant with its credential of kind `api_key`; the stream is `merchant-<merchant_id>`. */
export type Merchant = { readonly status: 'unknown' } | KnownMerchantState;
interface KnownMerchantState extends KnownCredential {
  readonly name: string;
  readonly embedding: Embedding;
  readonly requestsPerMinute: number | null;
}

export const merchant: Aggregate<Merchant, MerchantEvent> = {
  category: 'merchant',
  initial: { status: 'unknown' },
  evolve(state, event) {
    if (event.type === 'merchant.registered.v1') {
      const { merchant_id, name } = event.data;
      const settings = { name, embedding: NO_EMBEDDING, requestsPerMinute: null };
      return { ...NEW_CREDENTIAL, ids: { merchant_id }, ...settings };
    }
    if (state.status === 'unknown') return state;
    switch (event.type) {
      case 'merchant.suspended.v1':
        return { ...state, status: 'suspended' };
      case 'merchant.reinstated.v1':
        return { ...state, status: 'active' };
      case 'merchant.embedding_set.v1': {
        const { origins, callbacks, shown_as: displayName } = event.data;
        return { ...state, embedding: { origins, callbacks, displayName } };
      }
      case 'merchant.renamed.v1':
        return { ...state, name: event.data.name };
      case 'merchant.limits_set.v1':
        return { ...state, requestsPerMinute: event.data.requests_per_minute };
      default:
        return evolveCredential('api_key', state, event);
    }
  },
};

/** With its first key, if `secret` is given. The same again changes nothing: a retry after a crash. */
export function registerMerchant(
  command: { merchantId: string; name: string; secret: NewSecret | null; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { merchantId: merchant_id, secret, at } = command;
  const name = readLabel('name', command.name, MAX_NAME_LENGTH);
  if (state.status !== 'unknown') {
    if (secret === null && state.name === name) return [];
    throw new DomainError('invalid_transition', 'The merchant is registered already');
  }
  const registered: MerchantEvent = {
    type: 'merchant.registered.v1',
    data: { merchant_id, name, registered_at: at },
  };
  return secret === null ? [registered] : [registered, secretIssued('api_key', { merchant_id }, secret, at)];
}

export function renameMerchant(command: { name: string; at: string }, state: Merchant): MerchantEvent[] {
  const { ids, name: former } = known('api_key', state);
  const name = readLabel('name', command.name, MAX_NAME_LENGTH);
  return name === former ? [] : [{ type: 'merchant.renamed.v1', data: { ...ids, name, at: command.at } }];
}

export const MAX_REQUESTS_PER_MINUTE = 1_000_000;

/** Null: the default of the service. Throws `validation_failed` on `requests_per_minute`. */
export function setLimits(
  { requestsPerMinute, at }: { requestsPerMinute: number | null; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { ids, requestsPerMinute: former } = known('api_key', state);
  if (requestsPerMinute !== null && !isLimit(requestsPerMinute))
    throw DomainError.invalid({ requests_per_minute: [`must be from 1 to ${MAX_REQUESTS_PER_MINUTE}`] });
  if (requestsPerMinute === former) return [];
  const data = { ...ids, requests_per_minute: requestsPerMinute, at };
  return [{ type: 'merchant.limits_set.v1', data }];
}

function isLimit(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= MAX_REQUESTS_PER_MINUTE;
}

export function suspendMerchant({ at }: { at: string }, state: Merchant): MerchantEvent[] {
  const { ids, status } = known('api_key', state);
  return status === 'suspended' ? [] : [{ type: 'merchant.suspended.v1', data: { ...ids, at } }];
}

export function reinstateMerchant({ at }: { at: string }, state: Merchant): MerchantEvent[] {
  const { ids, status } = known('api_key', state);
  return status === 'active' ? [] : [{ type: 'merchant.reinstated.v1', data: { ...ids, at } }];
}

/** What `change` does not name stays as it is. Lists in canonical form (see application/allow-lists.ts). */
export function setEmbedding(
  command: { change: Partial<Embedding>; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { ids, embedding } = known('api_key', state);
  const { origins, callbacks, displayName } = { ...embedding, ...command.change };
  const label = displayName === null ? null : readLabel('shown_as', displayName, MAX_NAME_LENGTH);
  const before = [embedding.origins, embedding.callbacks, embedding.displayName];
  if (JSON.stringify([origins, callbacks, label]) === JSON.stringify(before)) return [];
  const data = { ...ids, origins, callbacks, shown_as: label, at: command.at };
  return [{ type: 'merchant.embedding_set.v1', data }];
}

/** What an operator changes of a merchant at once; what is absent stays. Lists in canonical form. */
export interface MerchantChange {
  readonly name?: string | undefined;
  readonly cidrs?: readonly string[] | undefined;
  readonly embedding?: Partial<Embedding> | undefined;
  readonly requestsPerMinute?: number | null | undefined;
}

export function updateMerchant(
  { change, at }: { change: MerchantChange; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { name, cidrs, embedding, requestsPerMinute } = change;
  known('api_key', state);
  return [
    ...(name === undefined ? [] : renameMerchant({ name, at }, state)),
    ...(cidrs === undefined ? [] : setAddresses('api_key', { cidrs, at }, state)),
    ...(embedding === undefined ? [] : setEmbedding({ change: embedding, at }, state)),
    ...(requestsPerMinute === undefined ? [] : setLimits({ requestsPerMinute, at }, state)),
  ];
}
