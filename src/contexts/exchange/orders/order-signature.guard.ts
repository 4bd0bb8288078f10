import { bodyDigest, signerAmong } from '../../../platform/http/api.guard.js';
import { Refusal, type HttpProblem } from '../../../platform/http/problem.js';
import { NO_BODY } from '../../../platform/http/request-state.js';
import type { ExchangeCaller, KnownExchangeKey } from '../../access/access.contract.js';
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../../../kernel/domain-error.js';
import { type HttpConfig, listenerUrl } from '../../../platform/config/config.js';

const TITLE = 'Invalid API key or signature';

/** Returns the problem for a missing or invalid key. It does not reveal the cause (contract.md 21.2). */
export function invalidKey(where: string): HttpProblem {
  return { status: 401, title: TITLE, detail: `A valid API key is required in the ${where}` };
}

const INVALID_SIGNATURE =
  'The signature must be the lower-case hex HMAC-SHA256, under the secret of the API key, of withdraw_address= followed by the address; it goes in the parameter signature, for the list of orders, where the address is empty, in the header X-Signature. A return_url, and a tag or memo of some keys, need a signature_v2 over the whole query';

/** Returns the problem for a wrong signature. The log gets the text to sign, with its values as a digest. */
export function invalidSignature(
  { signature_v2: ofQuery, ...parameters }: Parameters,
  path: string,
): HttpProblem {
  const { withdraw_address: address = '' } = parameters;
  const query = (): string => canonicalQuery(Object.entries(parameters as Record<string, string>));
  const stringToSign =
    ofQuery === undefined ? `${ADDRESS}${bodyDigest(address)}` : `${path}?${bodyDigest(query())}`;
  return { status: 401, title: TITLE, detail: INVALID_SIGNATURE, stringToSign };
}

/** The prefix of the address in the signed text (contract.md 21.3). */
const ADDRESS = 'withdraw_address=';

/** Returns the newest secret that signed the address, or undefined. Compares in constant time. */
export function addressSigner(
  { secrets }: Pick<ExchangeCaller, 'secrets'>,
  signature: string,
  withdrawAddress: string,
): string | undefined {
  return secrets[signerAmong(secrets, signature, `${ADDRESS}${withdrawAddress}`, NO_BODY)];
}

/** Throws Refusal (403) for an address outside the key's list. A missing address is refused later. */
export function requirePayoutAddress({ withdrawAddresses }: KnownExchangeKey, address: unknown): void {
  if (withdrawAddresses.length === 0 || typeof address !== 'string' || address === '') return;
  if (!withdrawAddresses.includes(address))
    throw new Refusal({ status: 403, detail: 'The API key pays out to other addresses only' });
}

/** The paths whose queries are signed. A signature covers its path, so it is valid for no other path. */
type SignedPath = '/v1/orders' | '/v1/merchants/configuration' | '/widget';

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Returns the signing secret, null for an allowed request without a signature, or undefined for a missing or
 * wrong signature. `signature` or the header covers the address, `signature_v2` the whole query (contract.md
 * 21.8). Every secret is tried, so that the duration does not reveal the signer.
 */
export function findSigner(
  key: Pick<ExchangeCaller, 'secrets' | 'demandsSignature' | 'memoSigning'>,
  path: SignedPath,
  { signature_v2: ofQuery, ...parameters }: Parameters,
  header: unknown,
): string | null | undefined {
  const { signature, withdraw_address: address = '' } = parameters;
  const ofAddress = [header, signature].filter((each) => each !== undefined);
  if (ofQuery === undefined && needsQuerySignature(key, path, parameters)) return undefined;
  if (ofQuery === undefined && ofAddress.length === 0) return key.demandsSignature ? undefined : null;
  const query = `${path}?${canonicalQuery(Object.entries(parameters as Record<string, string>))}`;
  const isSigned = (secrets: readonly string[]): boolean =>
    ofAddress.every((each) => addressSigner({ secrets }, String(each), address) !== undefined) &&
    (ofQuery === undefined || signerAmong(secrets, ofQuery, query, NO_BODY) >= 0);
  if (!isSigned(key.secrets)) return undefined;
  // Two secrets may each sign a part. The oldest secret is then reported, because it is revoked first.
  return key.secrets.filter((secret) => isSigned([secret])).at(-1) ?? key.secrets[0];
}

/** Returns true for parameters that could redirect money and that the address signature does not cover. */
function needsQuerySignature(
  { memoSigning, demandsSignature }: Pick<ExchangeCaller, 'memoSigning' | 'demandsSignature'>,
  path: SignedPath,
  { withdraw_address_tag: tag, withdraw_address_memo: memo, return_url: returnUrl }: Parameters,
): boolean {
  const coversMemo = memoSigning === 'full' || (path === '/widget' && demandsSignature);
  return Boolean(returnUrl) || (coversMemo && Boolean(tag || memo));
}

/** Returns the secret that signed the address, null if unsigned (contract.md 21.4). Throws Refusal (401). */
export function requireOrderSignature(
  caller: ExchangeCaller,
  signature: string | undefined,
  withdrawAddress: string,
): string | null {
  if (signature === undefined && !caller.demandsSignature) return null;
  const secret = addressSigner(caller, signature ?? '', withdrawAddress);
  if (secret === undefined) throw new Refusal(invalidSignature({ withdraw_address: withdrawAddress }, ''));
  return secret;
}

/** The time in which a signed link to the pay widget can be opened (contract.md 25.4). */
export const SIGNED_URL_LASTS_MS = 30 * 60_000;
const NONCE_BYTES = 16;

/** The parameters that a signature adds to a link. */
const NONCE = 'nonce';
const EXPIRES = 'expires';
const URL_SIGNATURE = 'url_signature';

/** The purpose of the derived key, which separates signatures of links from those of requests. */
const PURPOSE = 'exchange signed_url v1';

type Pair = readonly [name: string, value: string];

/** Returns a query of `parameters`, a nonce, `expires` (Unix seconds) and a signature over all of these. */
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

/** Returns true for the query of a signed link, even if its signature was removed. Does not verify it. */
export function isSignedQuery(query: string): boolean {
  const parameters = new URLSearchParams(query);
  return [URL_SIGNATURE, NONCE, EXPIRES].some((name) => parameters.has(name));
}

/** Returns a link's content, or null if it was changed, repeats a parameter or has no valid signature. */
export function openSignedQuery(query: string, secrets: readonly string[], now: Date) {
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
  // Every secret is tried, so that the duration does not reveal which one signed.
  const secret = secrets.filter((each) => timingSafeEqual(toSignature(signed, each), given)).at(-1);
  if (secret === undefined) return null;
  return { parameters, secret, hasExpired: now.getTime() >= Number(expires) * 1000 };
}

/** Joins all `name=value` by `&`, percent-encoded by RFC 3986 and sorted. */
function canonicalQuery(pairs: readonly Pair[]): string {
  return pairs.map(encoded).toSorted().join('&');
}

/** Returns the HMAC-SHA256 of the pairs; HKDF-SHA256 derives its key from the secret (UTF-8) without salt. */
function toSignature(pairs: readonly Pair[], secret: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', PURPOSE, 32));
  return createHmac('sha256', key).update(canonicalQuery(pairs)).digest();
}

function encoded(pair: Pair): string {
  const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return pair.map((text) => encodeURIComponent(text).replace(/[!'()*]/g, hex)).join('=');
}

/** Returns a link signed with the newest secret (contract.md 25.4). Throws `unavailable` without PAY_URL. */
export function signedLink(
  { keyId, secrets }: ExchangeCaller,
  parameters: Readonly<Record<string, string | undefined>>,
  { mode, payUrl, host, payPort }: HttpConfig,
  now: Date,
) {
  if (payUrl === null && mode === 'production')
    throw new DomainError('unavailable', 'The URL of the pay widget is not configured');
  const base = (payUrl ?? listenerUrl(host, payPort)).replace(/\/+$/, '');
  // The link expires at a whole second.
  const expiresAt = new Date(Math.floor((now.getTime() + SIGNED_URL_LASTS_MS) / 1000) * 1000);
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const query = signedQuery({ api_key: keyId, ...parameters }, { secret: secrets.at(-1)!, nonce, expiresAt });
  return { url: `${base}/widget?${query}`, expiresAt: expiresAt.toISOString() };
}
