import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/label.js';
import {
  evolveCredential,
  known,
  NEW_CREDENTIAL,
  secretIssued,
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
  | CredentialEvent<'api_key'>;

export const MERCHANT_EVENTS = [
  'merchant.registered.v1',
  'merchant.key_issued.v1',
  'merchant.key_revoked.v1',
  'merchant.suspended.v1',
  'merchant.reinstated.v1',
  'merchant.ip_allow_list_set.v1',
  'merchant.embedding_set.v1',
] as const satisfies readonly MerchantEvent['type'][];

const MAX_NAME_LENGTH = 255;

/** Who may show the pages of a merchant's users, and where they lead back to. */
export interface Embedding {
  readonly origins: readonly string[];
  readonly callbacks: readonly string[];
  readonly displayName: string | null;
}
const NO_EMBEDDING: Embedding = { origins: [], callbacks: [], displayName: null };

/** A merchant with its credential of kind `api_key`; the stream is `merchant-<merchant_id>`. */
export type Merchant = { readonly status: 'unknown' } | (KnownCredential & { readonly embedding: Embedding });

export const merchant: Aggregate<Merchant, MerchantEvent> = {
  category: 'merchant',
  initial: { status: 'unknown' },
  evolve(state, event) {
    if (event.type === 'merchant.registered.v1') {
      const { merchant_id } = event.data;
      return { ...NEW_CREDENTIAL, ids: { merchant_id }, embedding: NO_EMBEDDING };
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
      default:
        return evolveCredential('api_key', state, event);
    }
  },
};

export function registerMerchant(
  command: { merchantId: string; name: string; secret: NewSecret; at: string },
  state: Merchant,
): MerchantEvent[] {
  if (state.status !== 'unknown')
    throw new DomainError('invalid_transition', 'The merchant is registered already');
  const name = readLabel('name', command.name, MAX_NAME_LENGTH);
  const { merchantId: merchant_id, secret, at } = command;
  return [
    { type: 'merchant.registered.v1', data: { merchant_id, name, registered_at: at } },
    secretIssued('api_key', { merchant_id }, secret, at),
  ];
}

export function suspendMerchant({ at }: { at: string }, state: Merchant): MerchantEvent[] {
  const { ids, status } = known('api_key', state);
  return status === 'suspended' ? [] : [{ type: 'merchant.suspended.v1', data: { ...ids, at } }];
}

export function reinstateMerchant({ at }: { at: string }, state: Merchant): MerchantEvent[] {
  const { ids, status } = known('api_key', state);
  return status === 'active' ? [] : [{ type: 'merchant.reinstated.v1', data: { ...ids, at } }];
}

/** What `change` does not name stays as it is. Lists in canonical form (see application/embedding.ts). */
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
