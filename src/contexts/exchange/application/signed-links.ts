import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { httpConfig, type HttpConfig, listenerUrl } from '../../../platform/config/config.js';
import type { ExchangeCaller } from '../../access/contract.js';

/** The time in which a signed link to the pay widget can be opened (contract.md 25.4). */
export const SIGNED_URL_LASTS_MS = 30 * 60_000;
const NONCE_BYTES = 16;

/** The parameters that a signature adds to a link. */
const NONCE = 'nonce';
const EXPIRES = 'expires';
const URL_SIGNATURE = 'url_signature';

/** Purpose of the derived key: no signature of a request is one of a link, and vice versa. */
const PURPOSE = 'exchange signed_url v1';
const MAX_CHARACTERS = 16_384;

type Pair = readonly [name: string, value: string];

/**
 * The query of a link to the pay widget: `parameters`, a nonce, `expires` in Unix seconds and a signature over all of
 * them. `secret` is that of the key.
 */
export function signedQuery(
  parameters: Readonly<Record<string, string | null | undefined>>,
  { secret, nonce, expiresAt }: { readonly secret: string; readonly nonce: string; readonly expiresAt: Date },
): string {
  const pairs: Pair[] = Object.entries(parameters).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, value]],
  );
  pairs.push([NONCE, nonce], [EXPIRES, String(Math.floor(expiresAt.getTime() / 1000))]);
  pairs.push([URL_SIGNATURE, toSignature(pairs, secret).toString('hex')]);
  return pairs.map(encoded).join('&');
}

/**
 * Whether the query of a URL, without its `?`, is that of a signed link, or of one that lost its signature:
 * {@link openSignedQuery} checks both.
 */
export function isSignedQuery(query: string): boolean {
  const parameters = new URLSearchParams(query);
  return [URL_SIGNATURE, NONCE, EXPIRES].some((name) => parameters.has(name));
}

/** The parameters of a signed link, without nonce, expiry and signature, and the secret that signed it. */
interface OpenedLink {
  readonly parameters: Readonly<Record<string, string>>;
  readonly secret: string;
  readonly hasExpired: boolean;
}

/**
 * Null when a parameter was added, changed, removed or repeated, and when the link was signed with none of the secrets that
 * are valid now.
 */
export function openSignedQuery(query: string, secrets: readonly string[], now: Date): OpenedLink | null {
  if (query.length > MAX_CHARACTERS) return null;
  const pairs: readonly Pair[] = [...new URLSearchParams(query)];
  const names = new Set(pairs.map(([name]) => name));
  if (names.size < pairs.length) return null;
  const {
    [URL_SIGNATURE]: signature,
    [NONCE]: nonce,
    [EXPIRES]: expires,
    ...parameters
  } = Object.fromEntries(pairs);
  if (signature === undefined || nonce === undefined || expires === undefined) return null;
  if (!/^[0-9a-f]{64}$/.test(signature) || !/^[0-9]{1,12}$/.test(expires)) return null;
  const signed = pairs.filter(([name]) => name !== URL_SIGNATURE);
  const given = Buffer.from(signature, 'hex');
  // Every secret is tried, so that the time it takes does not reveal which one it was.
  const secret = secrets.filter((each) => timingSafeEqual(toSignature(signed, each), given)).at(-1);
  if (secret === undefined) return null;
  return { parameters, secret, hasExpired: now.getTime() >= Number(expires) * 1000 };
}

/** All `name=value`, percent-encoded as RFC 3986 has it, sorted, and joined by `&`. */
export function canonicalQuery(pairs: readonly Pair[]): string {
  return pairs.map(encoded).toSorted().join('&');
}

/** HMAC-SHA256 under HKDF-SHA256 of the secret's UTF-8 bytes, without salt. */
function toSignature(pairs: readonly Pair[], secret: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', PURPOSE, 32));
  return createHmac('sha256', key).update(canonicalQuery(pairs)).digest();
}

function encoded(pair: Pair): string {
  const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return pair.map((text) => encodeURIComponent(text).replace(/[!'()*]/g, hex)).join('=');
}

/** Links to the pay widget (contract.md 25.4). */
@Injectable()
export class LinkSignatures {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
  ) {}

  /**
   * A link with the parameters, under the newest secret of the key. Throws DomainError `unavailable` when the widget has
   * no address.
   */
  make({ keyId, secrets }: ExchangeCaller, parameters: Readonly<Record<string, string | undefined>>) {
    const expiry = this.clock.now().getTime() + SIGNED_URL_LASTS_MS;
    // The link counts seconds.
    const expiresAt = new Date(Math.floor(expiry / 1000) * 1000);
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const signing = { secret: secrets.at(-1)!, nonce, expiresAt };
    const query = signedQuery({ api_key: keyId, ...parameters }, signing);
    return { url: `${this.base().replace(/\/+$/, '')}/widget?${query}`, expiresAt: expiresAt.toISOString() };
  }

  private base(): string {
    const { mode, payUrl, host, payPort } = this.config;
    if (payUrl !== null) return payUrl;
    if (mode === 'production') throw new DomainError('unavailable', 'The pay widget has no address');
    return listenerUrl(host, payPort);
  }
}
