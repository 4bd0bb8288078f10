import { DomainError } from '../../../kernel/domain-error.js';
import { deriveId } from '../../../kernel/ids.js';
import { isScope, SCOPES } from '../operators/roles.js';

/** The signing rules for a tag or memo: `full` requires `signature_v2` (contract.md 21.8). */
export const MEMO_SIGNING = ['contract', 'full'] as const;
export type MemoSigning = (typeof MEMO_SIGNING)[number];

/** The terms of a credential. Terms that its kind lacks are null or empty. */
export interface Terms {
  readonly name: string | null;
  readonly scopes: readonly string[];
  /** The merchants that the credential may access; null means all. */
  readonly merchants: readonly string[] | null;
  /** The networks that may use the credential; an empty list allows any address. */
  readonly addresses: readonly string[];
  /** The only addresses that orders of the key may pay out to; an empty list allows any. */
  readonly withdraw_addresses: readonly string[] | null;
  readonly demands_signing: boolean | null;
  readonly memo_signing: MemoSigning | null;
  /** The expiry in ISO 8601; null if it does not expire. */
  readonly expires_at: string | null;
}

type KindTerms = Omit<Terms, 'name' | 'expires_at'>;

interface KindRule {
  /** The kind of owner. An operator's credential needs the approval of another person. */
  readonly owner: 'merchant' | 'operator';
  /** The plural noun for secrets of this kind in error messages. */
  readonly nouns: string;
  /** The prefix of signing secrets. Null for a bearer token, which is stored only as a hash. */
  readonly prefix: string | null;
  /** The request members that this kind has and others may lack. */
  readonly members: readonly string[];
  /** True if revoking the last valid secret ends the key. */
  readonly endsWithLast: boolean;
  /** Returns the key id of a credential; `former` is the key id of the replaced credential, or null. */
  readonly deriveKeyId: (credentialId: string, ownerId: string, former: string | null) => string;
  /** Returns the validated terms. Throws `validation_failed` on an invalid member. */
  readonly readTerms: (given: KindTerms, ownerId: string) => KindTerms;
}

const NONE = {
  scopes: [],
  addresses: [],
  withdraw_addresses: null,
  demands_signing: null,
  memo_signing: null,
} as const;

/** The parameters of a request for a credential without limits. */
export const NO_LIMITS = {
  ...{ scopes: null, merchants: null, addresses: [] },
  ...{ withdraw_addresses: [], demands_signing: false, memo_signing: 'contract' as const },
  expires_at: null,
};

export const KIND_RULES = {
  /** The keys with which a merchant signs calls. The allowed networks are a setting of the merchant. */
  payouts: {
    owner: 'merchant',
    nouns: 'private keys',
    prefix: 'dsk_',
    members: ['merchant_id'],
    endsWithLast: false,
    deriveKeyId: (_, ownerId) => ownerId,
    readTerms: (_, ownerId) => ({ ...NONE, merchants: [ownerId] }),
  },
  /** The keys of calls to the exchange API (contract.md 21). */
  exchange: {
    owner: 'merchant',
    nouns: 'secrets',
    prefix: 'dxs_',
    members: ['merchant_id', 'addresses', 'withdraw_addresses', 'demands_signing', 'memo_signing'],
    endsWithLast: true,
    deriveKeyId: (id, _, former) => former ?? deriveId(id, 'exchange key'),
    readTerms: ({ addresses, withdraw_addresses, demands_signing, memo_signing }, ownerId) => {
      if (memo_signing === 'full' && !demands_signing)
        throw DomainError.invalid({ memo_signing: ['full is for keys that demand signatures'] });
      return {
        ...NONE,
        merchants: [ownerId],
        ...{ addresses, withdraw_addresses: withdraw_addresses ?? [], demands_signing, memo_signing },
      };
    },
  },
  /** The keys of the admin API, each for one person. */
  admin: {
    owner: 'operator',
    nouns: 'keys',
    prefix: null,
    members: ['operator_id', 'scopes', 'merchants', 'addresses'],
    endsWithLast: false,
    deriveKeyId: (id) => id,
    readTerms: ({ scopes, merchants, addresses }) => ({
      ...NONE,
      scopes: readScopes(scopes),
      merchants,
      addresses,
    }),
  },
} as const satisfies Readonly<Record<string, KindRule>>;

export type CredentialKind = keyof typeof KIND_RULES;
export const CREDENTIAL_KINDS = Object.keys(KIND_RULES) as CredentialKind[];

export function readScopes(scopes: readonly string[]): readonly string[] {
  const unknown = scopes.findIndex((scope) => !isScope(scope));
  if (unknown >= 0)
    throw DomainError.invalid({ scopes: [`[${unknown}] must be one of ${SCOPES.join(', ')}`] });
  return SCOPES.filter((scope) => scopes.includes(scope));
}

/** The content of a key's pay page in addition to the merchant's name. */
export interface PayPageSettings {
  /** A `data:` URL of a PNG or WebP, so that the page loads nothing from other sites. */
  readonly logo: string | null;
  readonly help_url: string | null;
  readonly terms_url: string | null;
}

export const NO_PAGE_SETTINGS: PayPageSettings = { logo: null, help_url: null, terms_url: null };

const MAX_LOGO_BYTES = 16_384;
const MAX_URL_LENGTH = 2048;
const LOGO = /^data:image\/(png|webp);base64,([A-Za-z0-9+/]+={0,2})$/;

/** Returns a `data:` URL without validation; checkPage refuses formats such as SVG. */
export function toLogo(bytes: Buffer): string {
  return `data:image/${readType(bytes)};base64,${bytes.toString('base64')}`;
}

/** Throws `validation_failed` for an invalid link or logo. Formats other than PNG and WebP can run code. */
export function checkPage({ logo, help_url, terms_url }: PayPageSettings): void {
  for (const [name, url] of Object.entries({ help_url, terms_url }))
    if (url !== null && !isWebLink(url))
      throw DomainError.invalid({
        [name]: [`must be a URL that begins with https:// and has at most ${MAX_URL_LENGTH} characters`],
      });
  if (logo === null) return;
  const [, type, base64 = ''] = LOGO.exec(logo) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > MAX_LOGO_BYTES || type === undefined || type !== readType(bytes))
    throw DomainError.invalid({ logo: [`must be a PNG or WebP of at most ${MAX_LOGO_BYTES / 1024} KiB`] });
}

function isWebLink(text: string): boolean {
  return text.length <= MAX_URL_LENGTH && URL.canParse(text) && new URL(text).protocol === 'https:';
}

function readType(bytes: Buffer): 'png' | 'webp' | null {
  if (bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n') return 'png';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'webp' : null;
}
