import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/label.js';
import { checkPage, NO_PAGE_SETTINGS, type PayPageSettings } from './pay-page-settings.js';

/** What a tag or memo needs: nothing beyond the contract's signature, or `full`, one over the whole query (contract.md 21.8). */
export const MEMO_SIGNING = ['contract', 'full'] as const;
export type MemoSigning = (typeof MEMO_SIGNING)[number];

export type ExchangeKeyIssued = DomainEvent<
  'exchange_key.issued.v1',
  {
    key_id: string;
    merchant_id: string;
    label: string | null;
    demands_signature: boolean;
    memo_signing: MemoSigning;
    issued_at: string;
  }
>;
export type ExchangeKeySecretIssued = DomainEvent<
  'exchange_key.secret_issued.v1',
  { key_id: string; merchant_id: string; secret_id: string; sealed_secret: string; issued_at: string }
>;
export type ExchangeKeySecretRevoked = DomainEvent<
  'exchange_key.secret_revoked.v1',
  { key_id: string; merchant_id: string; secret_id: string; revoked_at: string }
>;
export type ExchangeKeyRevoked = DomainEvent<
  'exchange_key.revoked.v1',
  { key_id: string; merchant_id: string; revoked_at: string }
>;
/** `cidrs` empty: calls may come from anywhere. */
export type ExchangeKeyAddressesSet = DomainEvent<
  'exchange_key.addresses_set.v1',
  { key_id: string; merchant_id: string; cidrs: readonly string[]; at: string }
>;

/** What the pay page of the key displays; in place of what was set before. */
export type ExchangeKeyPageSet = DomainEvent<
  'exchange_key.page_set.v1',
  {
    key_id: string;
    merchant_id: string;
    logo: string | null;
    help_url: string | null;
    terms_url: string | null;
    at: string;
  }
>;

export type ExchangeKeyEvent =
  | ExchangeKeyIssued
  | ExchangeKeySecretIssued
  | ExchangeKeySecretRevoked
  | ExchangeKeyRevoked
  | ExchangeKeyAddressesSet
  | ExchangeKeyPageSet;

/** Stored names of all events of exchange keys. */
export const EXCHANGE_KEY_EVENTS = [
  'exchange_key.issued.v1',
  'exchange_key.secret_issued.v1',
  'exchange_key.secret_revoked.v1',
  'exchange_key.revoked.v1',
  'exchange_key.addresses_set.v1',
  'exchange_key.page_set.v1',
] as const satisfies readonly ExchangeKeyEvent['type'][];

/** A rotation overlaps the old secret with the new one, and no more (contract.md 21.7). */
const MAX_VALID_SECRETS = 2;
const MAX_LABEL_LENGTH = 255;

/** An API key of the exchange (contract.md 21); the stream is `exchange_key-<key_id>`. */
export type ExchangeKey =
  | { readonly status: 'unknown' }
  | {
      readonly status: 'valid' | 'revoked';
      readonly keyId: string;
      readonly merchantId: string;
      /** Never empty while the key is valid. */
      readonly validSecrets: readonly string[];
      readonly revokedSecrets: readonly string[];
      readonly cidrs: readonly string[];
      readonly page: PayPageSettings;
    };
type Issued = Exclude<ExchangeKey, { status: 'unknown' }>;

export const exchangeKey: Aggregate<ExchangeKey, ExchangeKeyEvent> = {
  category: 'exchange_key',
  initial: { status: 'unknown' },
  evolve(state, event) {
    if (event.type === 'exchange_key.issued.v1') {
      const { key_id: keyId, merchant_id: merchantId } = event.data;
      const secrets = { validSecrets: [], revokedSecrets: [] };
      return { status: 'valid', keyId, merchantId, ...secrets, cidrs: [], page: NO_PAGE_SETTINGS };
    }
    return state.status === 'unknown' ? state : evolveIssued(state, event);
  },
};

function evolveIssued(state: Issued, event: Exclude<ExchangeKeyEvent, ExchangeKeyIssued>): Issued {
  switch (event.type) {
    case 'exchange_key.secret_issued.v1':
      return { ...state, validSecrets: [...state.validSecrets, event.data.secret_id] };
    case 'exchange_key.secret_revoked.v1':
      return {
        ...state,
        validSecrets: state.validSecrets.filter((secretId) => secretId !== event.data.secret_id),
        revokedSecrets: [...state.revokedSecrets, event.data.secret_id],
      };
    case 'exchange_key.revoked.v1':
      return { ...state, status: 'revoked' };
    case 'exchange_key.addresses_set.v1':
      return { ...state, cidrs: event.data.cidrs };
    case 'exchange_key.page_set.v1': {
      const { logo, help_url: helpUrl, terms_url: termsUrl } = event.data;
      return { ...state, page: { logo, helpUrl, termsUrl } };
    }
    default:
      event satisfies never;
      return state;
  }
}

/** A secret as it may be kept: `sealed` with the key's and the secret's id as associated data. */
export interface NewSecret {
  readonly secretId: string;
  readonly sealed: string;
}

export interface NewExchangeKey {
  readonly keyId: string;
  readonly merchantId: string;
  readonly label: string | null;
  readonly demandsSignature: boolean;
  readonly memoSigning: MemoSigning;
  readonly secret: NewSecret;
  readonly at: string;
}

export function issueExchangeKey(command: NewExchangeKey, state: ExchangeKey): ExchangeKeyEvent[] {
  if (state.status !== 'unknown') throw new DomainError('invalid_transition', 'The key is issued already');
  const { keyId, merchantId, demandsSignature, memoSigning, secret, at } = command;
  const label = command.label === null ? null : readLabel('label', command.label, MAX_LABEL_LENGTH);
  if (!MEMO_SIGNING.includes(memoSigning))
    throw DomainError.invalid({ memo_signing: [`must be one of ${MEMO_SIGNING.join(', ')}`] });
  if (memoSigning === 'full' && !demandsSignature)
    throw DomainError.invalid({ memo_signing: ['full is for keys that demand signatures'] });
  const key = { key_id: keyId, merchant_id: merchantId };
  const signing = { demands_signature: demandsSignature, memo_signing: memoSigning };
  return [
    { type: 'exchange_key.issued.v1', data: { ...key, label, ...signing, issued_at: at } },
    secretIssued(key, secret, at),
  ];
}

/** At most {@link MAX_VALID_SECRETS} secrets are valid at a time. */
export function issueSecret(
  command: { secret: NewSecret; at: string },
  state: ExchangeKey,
): ExchangeKeyEvent[] {
  const { keyId, merchantId, validSecrets } = valid(state);
  if (validSecrets.includes(command.secret.secretId)) return [];
  if (validSecrets.length >= MAX_VALID_SECRETS) {
    throw new DomainError('invalid_transition', `${MAX_VALID_SECRETS} secrets are valid; revoke one first`);
  }
  return [secretIssued({ key_id: keyId, merchant_id: merchantId }, command.secret, command.at)];
}

/** The last one stays: a key without a secret could sign nothing. One that leaked is replaced first, or the key revoked. */
export function revokeSecret(
  command: { secretId: string; at: string },
  state: ExchangeKey,
): ExchangeKeyEvent[] {
  const { keyId, merchantId, validSecrets, revokedSecrets } = issued(state);
  const { secretId, at } = command;
  if (revokedSecrets.includes(secretId)) return [];
  if (!validSecrets.includes(secretId)) throw DomainError.notFound('Secret');
  if (validSecrets.length === 1) {
    throw new DomainError('invalid_transition', 'It is the last secret: rotate the key first, or revoke it');
  }
  const data = { key_id: keyId, merchant_id: merchantId, secret_id: secretId, revoked_at: at };
  return [{ type: 'exchange_key.secret_revoked.v1', data }];
}

/** For good. A repeat changes nothing. */
export function revokeExchangeKey(command: { at: string }, state: ExchangeKey): ExchangeKeyEvent[] {
  const { status, keyId, merchantId } = issued(state);
  if (status === 'revoked') return [];
  const data = { key_id: keyId, merchant_id: merchantId, revoked_at: command.at };
  return [{ type: 'exchange_key.revoked.v1', data }];
}

/** `cidrs` in canonical form; none: anywhere. */
export function setAddresses(
  command: { cidrs: readonly string[]; at: string },
  state: ExchangeKey,
): ExchangeKeyEvent[] {
  const { keyId, merchantId, cidrs } = valid(state);
  if (command.cidrs.join() === cidrs.join()) return [];
  const data = { key_id: keyId, merchant_id: merchantId, cidrs: command.cidrs, at: command.at };
  return [{ type: 'exchange_key.addresses_set.v1', data }];
}

/** Throws `validation_failed` for a logo or a link that no page displays. */
export function setPage(
  command: { page: PayPageSettings; at: string },
  state: ExchangeKey,
): ExchangeKeyEvent[] {
  const { keyId, merchantId, page } = valid(state);
  const { logo, helpUrl, termsUrl } = command.page;
  checkPage(command.page);
  if (logo === page.logo && helpUrl === page.helpUrl && termsUrl === page.termsUrl) return [];
  const links = { help_url: helpUrl, terms_url: termsUrl };
  const data = { key_id: keyId, merchant_id: merchantId, logo, ...links, at: command.at };
  return [{ type: 'exchange_key.page_set.v1', data }];
}

function secretIssued(
  key: { key_id: string; merchant_id: string },
  { secretId, sealed }: NewSecret,
  at: string,
): ExchangeKeySecretIssued {
  const data = { ...key, secret_id: secretId, sealed_secret: sealed, issued_at: at };
  return { type: 'exchange_key.secret_issued.v1', data };
}

function issued(state: ExchangeKey): Issued {
  if (state.status === 'unknown') throw DomainError.notFound('Key');
  return state;
}

function valid(state: ExchangeKey): Issued {
  const key = issued(state);
  if (key.status === 'revoked') throw new DomainError('invalid_transition', 'The key is revoked');
  return key;
}
