import { DomainError } from '../../../kernel/domain-error.js';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { readLabel } from '../../../kernel/text.js';
import {
  evolveCredential,
  isLastSecret,
  known,
  NEW_CREDENTIAL,
  notRevoked,
  revokeSecret,
  secretIssued,
  type CredentialEvent,
  type KnownCredential,
  type NewSecret,
} from './credential.js';

/** What the pay page of a key displays besides the merchant's name. */
export interface PayPageSettings {
  /** A `data:` URL of a PNG or WebP: part of the page, so the page loads nothing from elsewhere. */
  readonly logo: string | null;
  readonly helpUrl: string | null;
  readonly termsUrl: string | null;
}

export const NO_PAGE_SETTINGS: PayPageSettings = { logo: null, helpUrl: null, termsUrl: null };

/** The logo is in each page and in the log. */
const MAX_LOGO_BYTES = 16_384;
const MAX_URL_LENGTH = 2048;
const LOGO = /^data:image\/(png|webp);base64,([A-Za-z0-9+/]+={0,2})$/;

/** No SVG: it can hold scripts and links. Throws `validation_failed` for another format or too many bytes. */
export function logoOf(bytes: Buffer): string {
  const type = typeOf(bytes);
  if (type === null || bytes.length > MAX_LOGO_BYTES) throw wrongLogo();
  return `data:image/${type};base64,${bytes.toString('base64')}`;
}

/** Throws `validation_failed`. */
export function checkPage({ logo, helpUrl, termsUrl }: PayPageSettings): void {
  for (const [name, url] of Object.entries({ help_url: helpUrl, terms_url: termsUrl }))
    if (url !== null && !isWebLink(url))
      throw DomainError.invalid({
        [name]: [`must be a URL that begins with https:// and has at most ${MAX_URL_LENGTH} characters`],
      });
  if (logo === null) return;
  const [, type, base64 = ''] = LOGO.exec(logo) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > MAX_LOGO_BYTES || type === undefined || type !== typeOf(bytes)) throw wrongLogo();
}

function isWebLink(text: string): boolean {
  return text.length <= MAX_URL_LENGTH && URL.canParse(text) && new URL(text).protocol === 'https:';
}

function typeOf(bytes: Buffer): 'png' | 'webp' | null {
  if (bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n') return 'png';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'webp' : null;
}

function wrongLogo(): DomainError {
  return DomainError.invalid({ logo: [`must be a PNG or WebP of at most ${MAX_LOGO_BYTES / 1024} KiB`] });
}

/** What a tag or memo needs: nothing beyond the contract's signature, or `full`, one over the whole query (contract.md 21.8). */
const MEMO_SIGNING = ['contract', 'full'] as const;
export type MemoSigning = (typeof MEMO_SIGNING)[number];

type Ids = Readonly<Record<'key_id' | 'merchant_id', string>>;

export type ExchangeKeyIssued = DomainEvent<
  'exchange_key.issued.v1',
  Ids & {
    label: string | null;
    demands_signature: boolean;
    memo_signing: MemoSigning;
    /** Where its orders may pay out to; absent: anywhere. */
    withdraw_addresses?: readonly string[];
    issued_at: string;
  }
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

interface NewExchangeKey {
  readonly keyId: string;
  readonly merchantId: string;
  readonly label: string | null;
  readonly demandsSignature: boolean;
  readonly memoSigning: MemoSigning;
  readonly withdrawAddresses?: readonly string[];
  /** Absent or empty: it may be used from anywhere. */
  readonly cidrs?: readonly string[];
  readonly secret: NewSecret;
  readonly at: string;
}

export function issueExchangeKey(command: NewExchangeKey, state: ExchangeKey): ExchangeKeyEvent[] {
  if (state.status !== 'unknown') {
    // A retry after a crash.
    if (state.secrets.some(({ id }) => id === command.secret.secretId)) return [];
    throw new DomainError('invalid_transition', 'The key is issued already');
  }
  const { keyId, merchantId, demandsSignature, memoSigning, secret, at } = command;
  const { withdrawAddresses = [], cidrs = [] } = command;
  const label = command.label === null ? null : readLabel('label', command.label, MAX_LABEL_LENGTH);
  if (!MEMO_SIGNING.includes(memoSigning))
    throw DomainError.invalid({ memo_signing: [`must be one of ${MEMO_SIGNING.join(', ')}`] });
  if (memoSigning === 'full' && !demandsSignature)
    throw DomainError.invalid({ memo_signing: ['full is for keys that demand signatures'] });
  const ids = { key_id: keyId, merchant_id: merchantId };
  const settings = {
    demands_signature: demandsSignature,
    memo_signing: memoSigning,
    ...(withdrawAddresses.length > 0 && { withdraw_addresses: withdrawAddresses }),
  };
  const addresses: ExchangeKeyEvent[] =
    cidrs.length > 0 ? [{ type: 'exchange_key.addresses_set.v1', data: { ...ids, cidrs, at } }] : [];
  return [
    { type: 'exchange_key.issued.v1', data: { ...ids, label, ...settings, issued_at: at } },
    secretIssued('exchange_key', ids, secret, at),
    ...addresses,
  ];
}

/** The key ends with its last secret. A repeat changes nothing. */
export function revokeExchangeSecret(
  { secretId, at }: { secretId: string; at: string },
  state: ExchangeKey,
): ExchangeKeyEvent[] {
  const { status, secrets, revokedSecrets } = known('exchange_key', state);
  if (status === 'revoked' || revokedSecrets.includes(secretId)) return [];
  const isLast =
    secrets.some(({ id }) => id === secretId) && isLastSecret('exchange_key', { secretId, at }, state);
  return isLast ? revokeExchangeKey({ at }, state) : revokeSecret('exchange_key', { secretId, at }, state);
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
