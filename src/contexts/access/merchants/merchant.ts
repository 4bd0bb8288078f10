import { withChanges, type Aggregate, type Changes, type DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/text.js';
import { historyRules } from '../../../kernel/history-rules.js';

type Event<Type extends string, Data = object> = DomainEvent<Type, { merchant_id: string } & Data>;
type At = { at: string };

export type MerchantEvent =
  | Event<'merchant.registered.v1', { name: string; registered_at: string }>
  | Event<'merchant.suspended.v1', At>
  | Event<'merchant.reinstated.v1', At>
  | Event<
      'merchant.embedding_set.v1',
      { origins: readonly string[]; callbacks: readonly string[]; shown_as: string | null } & At
    >
  | Event<'merchant.renamed.v1', { name: string } & At>
  | Event<'merchant.limits_set.v1', { requests_per_minute: number | null } & At>
  | Event<'merchant.ip_allow_list_set.v1', { cidrs: readonly string[] } & At>;

const MAX_NAME_LENGTH = 255;
export const MERCHANT_STATUSES = ['active', 'suspended'] as const;

/** The settings of pages that the merchant embeds in its site. */
export interface Embedding {
  /** The origins that may embed the pages; an empty list means that none are set. */
  readonly origins: readonly string[];
  /** The origins, or app schemes with their colon, to which the pages may return. */
  readonly callbacks: readonly string[];
  /** The displayed name; null means the registered name. */
  readonly display_name: string | null;
}

/** A merchant; the stream is `merchant-<merchant_id>`. Its keys are in `credentials-<merchant_id>`. */
export type Merchant = { readonly status: 'unknown' } | RegisteredMerchant;

/** A registered merchant. The state is also the row of `access.merchants`. */
interface RegisteredMerchant extends Embedding {
  readonly status: (typeof MERCHANT_STATUSES)[number];
  readonly merchant_id: string;
  readonly name: string;
  readonly registered_at: string;
  /** The networks that may call the API; an empty list allows any address. */
  readonly ip_allow_list: readonly string[];
  /** The rate limit; null means the default of the service. */
  readonly requests_per_minute: number | null;
}

const NO_SETTINGS = {
  ...{ origins: [], callbacks: [], display_name: null },
  ...{ ip_allow_list: [], requests_per_minute: null },
};

export const merchantChanges: Changes<RegisteredMerchant, MerchantEvent> = {
  'merchant.registered.v1': (registered) => ({ status: 'active', ...registered, ...NO_SETTINGS }),
  'merchant.suspended.v1': () => ({ status: 'suspended' }),
  'merchant.reinstated.v1': () => ({ status: 'active' }),
  'merchant.embedding_set.v1': ({ origins, callbacks, shown_as: display_name }) => ({
    ...{ origins, callbacks, display_name },
  }),
  'merchant.renamed.v1': ({ name }) => ({ name }),
  'merchant.limits_set.v1': ({ requests_per_minute }) => ({ requests_per_minute }),
  'merchant.ip_allow_list_set.v1': ({ cidrs: ip_allow_list }) => ({ ip_allow_list }),
};

export const merchant: Aggregate<Merchant, MerchantEvent> = {
  category: 'merchant',
  initial: { status: 'unknown' },
  evolve: (state, event) =>
    state.status === 'unknown' && event.type !== 'merchant.registered.v1'
      ? state
      : withChanges(merchantChanges, event, state as RegisteredMerchant),
};

export function requireMerchant(state: Merchant): RegisteredMerchant {
  if (state.status === 'unknown') throw DomainError.notFound('Merchant');
  return state;
}

/** Returns one event, or an empty list if `data` is absent or would change nothing. Throws `not_found`. */
function change<Type extends MerchantEvent['type']>(
  state: Merchant,
  type: Type,
  data: Omit<Extract<MerchantEvent, { type: Type }>['data'], 'merchant_id'> | false | undefined,
): MerchantEvent[] {
  const { merchant_id } = requireMerchant(state);
  if (!data) return [];
  const event = { type, data: { merchant_id, ...data } } as unknown as MerchantEvent;
  return JSON.stringify(merchant.evolve(state, event)) === JSON.stringify(state) ? [] : [event];
}

/** Registers a merchant; a repeat has no effect, because a retry may follow a crash. */
export function registerMerchant(
  command: { merchant_id: string; name: string; at: string },
  state: Merchant,
): MerchantEvent[] {
  const { merchant_id, at: registered_at } = command;
  const name = readLabel('name', command.name, MAX_NAME_LENGTH);
  if (state.status === 'unknown')
    return [{ type: 'merchant.registered.v1', data: { merchant_id, name, registered_at } }];
  if (state.name === name) return [];
  throw new DomainError('invalid_transition', 'The merchant is registered already');
}

export const MAX_REQUESTS_PER_MINUTE = 1_000_000;

function readLimit({ requests_per_minute: value }: { requests_per_minute: number | null }): number | null {
  const isLimit = Number.isInteger(value) && value! >= 1 && value! <= MAX_REQUESTS_PER_MINUTE;
  if (value === null || isLimit) return value;
  throw DomainError.invalid({ requests_per_minute: [`must be from 1 to ${MAX_REQUESTS_PER_MINUTE}`] });
}

function readEmbedding({ origins, callbacks, display_name: name }: Embedding) {
  const shown_as = name === null ? null : readLabel('shown_as', name, MAX_NAME_LENGTH);
  return { origins, callbacks, shown_as };
}

export function suspendMerchant({ at }: At, state: Merchant): MerchantEvent[] {
  return change(state, 'merchant.suspended.v1', { at });
}

export function reinstateMerchant({ at }: At, state: Merchant): MerchantEvent[] {
  return change(state, 'merchant.reinstated.v1', { at });
}

/** The members of a PATCH; absent members stay unchanged. Lists must be in canonical form. */
export interface MerchantChange {
  readonly name?: string;
  readonly ip_allow_list?: readonly string[];
  readonly embedding?: Partial<Embedding>;
  readonly limits?: { readonly requests_per_minute: number | null };
}

/** Changes the given settings. Throws `not_found`, or `validation_failed` on the invalid field. */
export function updateMerchant(
  { change: { name, ip_allow_list: cidrs, embedding, limits }, at }: { change: MerchantChange; at: string },
  state: Merchant,
): MerchantEvent[] {
  const before = requireMerchant(state);
  const label = name !== undefined && { name: readLabel('name', name, MAX_NAME_LENGTH), at };
  return [
    ...change(state, 'merchant.renamed.v1', label),
    ...change(state, 'merchant.ip_allow_list_set.v1', cidrs && { cidrs, at }),
    ...change(
      state,
      'merchant.embedding_set.v1',
      embedding && { ...readEmbedding({ ...before, ...embedding }), at },
    ),
    ...change(state, 'merchant.limits_set.v1', limits && { requests_per_minute: readLimit(limits), at }),
  ];
}

export const merchantHistory = historyRules(
  merchant,
  {
    'merchant.registered.v1': ({ registered_at: at, ...data }, state) =>
      state.status === 'unknown'
        ? registerMerchant({ ...data, at }, state)
        : 'The merchant is registered already',
    'merchant.suspended.v1': suspendMerchant,
    'merchant.reinstated.v1': reinstateMerchant,
    'merchant.embedding_set.v1': ({ origins, callbacks, shown_as: display_name, at }, state) =>
      updateMerchant({ change: { embedding: { origins, callbacks, display_name } }, at }, state),
    'merchant.renamed.v1': ({ name, at }, state) => updateMerchant({ change: { name }, at }, state),
    'merchant.limits_set.v1': ({ requests_per_minute, at }, state) =>
      updateMerchant({ change: { limits: { requests_per_minute } }, at }, state),
    'merchant.ip_allow_list_set.v1': ({ cidrs: ip_allow_list, at }, state) =>
      updateMerchant({ change: { ip_allow_list }, at }, state),
  },
  { id: 'merchant_id' },
);
