import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/label.js';
import {
  evolveCredential,
  known,
  NEW_CREDENTIAL,
  notRevoked,
  secretIssued,
  type CredentialEvent,
  type KnownCredential,
  type NewSecret,
} from './credential.js';
import { checkPage, NO_PAGE_SETTINGS, type PayPageSettings } from './pay-page-settings.js';

/** What a tag or memo needs: nothing beyond the contract's signature, or `full`, one over the whole query (contract.md 21.8). */
const MEMO_SIGNING = ['contract', 'full'] as const;
export type MemoSigning = (typeof MEMO_SIGNING)[number];

type Ids = Readonly<Record<'key_id' | 'merchant_id', string>>;

export type ExchangeKeyIssued = DomainEvent<
  'exchange_key.issued.v1',
  Ids & { label: string | null; demands_signature: boolean; memo_signing: MemoSigning; issued_at: string }
>;

export type ExchangeKeyEvent =
  | ExchangeKeyIssued
  | DomainEvent<'exchange_key.revoked.v1', Ids & { revoked_at: string }>
  /** What the pay page of the key displays; in place of what was set before. */
  | DomainEvent<
      'exchange_key.page_set.v1',
      Ids & { logo: string | null; help_url: string | null; terms_url: string | null; at: string }
    >
  | CredentialEvent<'exchange_key'>;

/** Stored names of all events of exchange keys. */
export const EXCHANGE_KEY_EVENTS = [
  'exchange_key.issued.v1',
  'exchange_key.secret_issued.v1',
  'exchange_key.secret_revoked.v1',
  'exchange_key.revoked.v1',
  'exchange_key.addresses_set.v1',
  'exchange_key.page_set.v1',
] as const satisfies readonly ExchangeKeyEvent['type'][];

const MAX_LABEL_LENGTH = 255;

/** A credential of kind `exchange_key` (contract.md 21); the stream is `exchange_key-<key_id>`. */
export type ExchangeKey =
  { readonly status: 'unknown' } | (KnownCredential & { readonly ids: Ids; readonly page: PayPageSettings });

export const exchangeKey: Aggregate<ExchangeKey, ExchangeKeyEvent> = {
  category: 'exchange_key',
  initial: { status: 'unknown' },
  evolve(state, event) {
    if (event.type === 'exchange_key.issued.v1') {
      const { key_id, merchant_id } = event.data;
      return { ...NEW_CREDENTIAL, ids: { key_id, merchant_id }, page: NO_PAGE_SETTINGS };
    }
    if (state.status === 'unknown') return state;
    switch (event.type) {
      case 'exchange_key.revoked.v1':
        return { ...state, status: 'revoked' };
      case 'exchange_key.page_set.v1': {
        const { logo, help_url: helpUrl, terms_url: termsUrl } = event.data;
        return { ...state, page: { logo, helpUrl, termsUrl } };
      }
      default:
        return evolveCredential('exchange_key', state, event);
    }
  },
};

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
  const ids = { key_id: keyId, merchant_id: merchantId };
  const signing = { demands_signature: demandsSignature, memo_signing: memoSigning };
  return [
    { type: 'exchange_key.issued.v1', data: { ...ids, label, ...signing, issued_at: at } },
    secretIssued('exchange_key', ids, secret, at),
  ];
}

/** For good. A repeat changes nothing. */
export function revokeExchangeKey({ at }: { at: string }, state: ExchangeKey): ExchangeKeyEvent[] {
  const { ids, status } = known('exchange_key', state);
  return status === 'revoked' ? [] : [{ type: 'exchange_key.revoked.v1', data: { ...ids, revoked_at: at } }];
}

/** Throws `validation_failed` for a logo or a link that no page displays. */
export function setPage(
  command: { page: PayPageSettings; at: string },
  state: ExchangeKey,
): ExchangeKeyEvent[] {
  const { ids, page } = notRevoked('exchange_key', state);
  const { logo, helpUrl, termsUrl } = command.page;
  checkPage(command.page);
  if (logo === page.logo && helpUrl === page.helpUrl && termsUrl === page.termsUrl) return [];
  const data = { ...ids, logo, help_url: helpUrl, terms_url: termsUrl, at: command.at };
  return [{ type: 'exchange_key.page_set.v1', data }];
}
