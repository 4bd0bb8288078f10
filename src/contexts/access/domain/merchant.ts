import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/text.js';
import { historyRules } from '../../../kernel/history-rules.js';

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
  /** The rate limit; null for the service's default. */
  | DomainEvent<
      'merchant.limits_set.v1',
      { merchant_id: string; requests_per_minute: number | null; at: string }
    >
  /** The addresses of calls; empty for any. */
  | DomainEvent<
      'merchant.ip_allow_list_set.v1',
      { merchant_id: string; cidrs: readonly string[]; at: string }
    >;

const MAX_NAME_LENGTH = 255;

/** The sites that may embed the pages of a merchant's users, and their targets. */
export interface Embedding {
  readonly origins: readonly string[];
  readonly callbacks: readonly string[];
  readonly display_name: string | null;
}
const NO_EMBEDDING: Embedding = { origins: [], callbacks: [], display_name: null };

/** A merchant; the stream is `merchant-<merchant_id>`. Its keys are in `credentials-<merchant_id>`. */
export type Merchant = { readonly status: 'unknown' } | RegisteredMerchant;
interface RegisteredMerchant {
  readonly status: 'active' | 'suspended';
  readonly merchantId: string;
  readonly name: string;
  readonly embedding: Embedding;
  readonly cidrs: readonly string[];
  readonly requests_per_minute: number | null;
}

export const merchant: Aggregate<Merchant, MerchantEvent> = {
  category: 'merchant',
  initial: { status: 'unknown' },
  evolve(state, event) {
    if (event.type === 'merchant.registered.v1') {
      const { merchant_id: merchantId, name } = event.data;
      const settings = { name, embedding: NO_EMBEDDING, cidrs: [], requests_per_minute: null };
      return { status: 'active', merchantId, ...settings };
    }
    if (state.status === 'unknown') return state;
    switch (event.type) {
      case 'merchant.suspended.v1':
        return { ...state, status: 'suspended' };
      case 'merchant.reinstated.v1':
        return { ...state, status: 'active' };
      case 'merchant.embedding_set.v1': {
        const { origins, callbacks, shown_as: display_name } = event.data;
        return { ...state, embedding: { origins, callbacks, display_name } };
      }
      case 'merchant.renamed.v1':
        return { ...state, name: event.data.name };
      case 'merchant.limits_set.v1':
        return { ...state, requests_per_minute: event.data.requests_per_minute };
      case 'merchant.ip_allow_list_set.v1':
        return { ...state, cidrs: event.data.cidrs };
      default:
        event satisfies never;
        return state;
    }
  },
};

/** The same again changes nothing: a retry after a crash. */
export function registerMerchant(
  command: { merchantId: string; name: string; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { merchantId: merchant_id, at } = command;
  const name = readLabel('name', command.name, MAX_NAME_LENGTH);
  if (state.status === 'unknown')
    return [{ type: 'merchant.registered.v1', data: { merchant_id, name, registered_at: at } }];
  if (state.name === name) return [];
  throw new DomainError('invalid_transition', 'The merchant is registered already');
}

/** Throws `not_found`. */
export function requireMerchant(state: Merchant): RegisteredMerchant {
  if (state.status === 'unknown') throw DomainError.notFound('Merchant');
  return state;
}

function renameMerchant(command: { name: string; at: string }, state: Merchant): MerchantEvent[] {
  const { merchantId: merchant_id, name: former } = requireMerchant(state);
  const name = readLabel('name', command.name, MAX_NAME_LENGTH);
  return name === former
    ? []
    : [{ type: 'merchant.renamed.v1', data: { merchant_id, name, at: command.at } }];
}

export const MAX_REQUESTS_PER_MINUTE = 1_000_000;

/** Sets the rate limit; null for the service's default. Throws `validation_failed` on `requests_per_minute`. */
function setLimits(
  { requests_per_minute, at }: { requests_per_minute: number | null; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { merchantId: merchant_id, requests_per_minute: former } = requireMerchant(state);
  if (requests_per_minute !== null && !isLimit(requests_per_minute))
    throw DomainError.invalid({ requests_per_minute: [`must be from 1 to ${MAX_REQUESTS_PER_MINUTE}`] });
  if (requests_per_minute === former) return [];
  return [{ type: 'merchant.limits_set.v1', data: { merchant_id, requests_per_minute, at } }];
}

function isLimit(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= MAX_REQUESTS_PER_MINUTE;
}

export function suspendMerchant({ at }: { at: string }, state: Merchant): MerchantEvent[] {
  const { merchantId: merchant_id, status } = requireMerchant(state);
  return status === 'suspended' ? [] : [{ type: 'merchant.suspended.v1', data: { merchant_id, at } }];
}

export function reinstateMerchant({ at }: { at: string }, state: Merchant): MerchantEvent[] {
  const { merchantId: merchant_id, status } = requireMerchant(state);
  return status === 'active' ? [] : [{ type: 'merchant.reinstated.v1', data: { merchant_id, at } }];
}

/** Changes the members that `change` names. Lists are in canonical form (application/allow-lists.ts). */
export function setEmbedding(
  command: { change: Partial<Embedding>; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { merchantId: merchant_id, embedding } = requireMerchant(state);
  const { origins, callbacks, display_name: name } = { ...embedding, ...command.change };
  const label = name === null ? null : readLabel('shown_as', name, MAX_NAME_LENGTH);
  const before = [embedding.origins, embedding.callbacks, embedding.display_name];
  if (JSON.stringify([origins, callbacks, label]) === JSON.stringify(before)) return [];
  const data = { merchant_id, origins, callbacks, shown_as: label, at: command.at };
  return [{ type: 'merchant.embedding_set.v1', data }];
}

/** `cidrs` in canonical form; none: anywhere. */
export function setAllowList(
  { cidrs, at }: { cidrs: readonly string[]; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { merchantId: merchant_id, cidrs: former } = requireMerchant(state);
  if (cidrs.join() === former.join()) return [];
  return [{ type: 'merchant.ip_allow_list_set.v1', data: { merchant_id, cidrs, at } }];
}

/** The members of a PATCH that it has; the others stay as they are. Lists in canonical form. */
export interface MerchantChange {
  readonly name?: string;
  readonly ip_allow_list?: readonly string[];
  readonly embedding?: Partial<Embedding>;
  readonly limits?: { readonly requests_per_minute: number | null };
}

export function updateMerchant(
  { change, at }: { change: MerchantChange; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { name, ip_allow_list: cidrs, embedding, limits } = change;
  requireMerchant(state);
  return [
    ...(name === undefined ? [] : renameMerchant({ name, at }, state)),
    ...(cidrs === undefined ? [] : setAllowList({ cidrs, at }, state)),
    ...(embedding === undefined ? [] : setEmbedding({ change: embedding, at }, state)),
    ...(limits === undefined ? [] : setLimits({ ...limits, at }, state)),
  ];
}

export const merchantHistory = historyRules(
  merchant,
  {
    'merchant.registered.v1': ({ merchant_id: merchantId, name, registered_at: at }, state) =>
      state.status === 'unknown'
        ? registerMerchant({ merchantId, name, at }, state)
        : 'The merchant is registered already',
    'merchant.suspended.v1': ({ at }, state) => suspendMerchant({ at }, state),
    'merchant.reinstated.v1': ({ at }, state) => reinstateMerchant({ at }, state),
    'merchant.embedding_set.v1': ({ origins, callbacks, shown_as: display_name, at }, state) =>
      setEmbedding({ change: { origins, callbacks, display_name }, at }, state),
    'merchant.renamed.v1': (data, state) => renameMerchant(data, state),
    'merchant.limits_set.v1': (data, state) => setLimits(data, state),
    'merchant.ip_allow_list_set.v1': (data, state) => setAllowList(data, state),
  },
  { id: 'merchant_id' },
);
