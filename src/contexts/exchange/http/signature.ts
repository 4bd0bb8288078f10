import { bodyDigest, signerAmong } from '../../../platform/http/api.guard.js';
import { Refusal, type HttpProblem } from '../../../platform/http/problem.js';
import { NO_BODY } from '../../../platform/http/request-state.js';
import type { ExchangeCaller, KnownExchangeKey } from '../../access/contract.js';
import { canonicalQuery } from '../application/signed-links.js';

const TITLE = 'Invalid API key or signature';

/** The refusal of a missing, malformed, unknown or revoked key. It does not reveal which (contract.md 21.2). */
export function invalidKey(where: string): HttpProblem {
  return { status: 401, title: TITLE, detail: `A valid API key is required in the ${where}` };
}

const INVALID_SIGNATURE =
  'The signature must be the lower-case hex HMAC-SHA256, under the secret of the API key, of withdraw_address= followed by the address; it goes in the parameter signature, for the list of orders, where the address is empty, in the header X-Signature. A return_url, and a tag or memo of some keys, need a signature_v2 over the whole query';

/**
 * {@link INVALID_SIGNATURE}, and for the request log what should have been signed: with a `signature_v2` the query, else
 * the address. Both are values of the query, so that their digest is kept.
 */
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

/** The text before the address in the signed text. */
const ADDRESS = 'withdraw_address=';

/** The id of the secret; null for none. */
export function findSecretId({ secrets, secretIds }: ExchangeCaller, secret: string | null): string | null {
  return secret === null ? null : (secretIds?.[secrets.indexOf(secret)] ?? null);
}

/** Checks that one of the secrets signed the address, in constant time (contract.md 21.3). */
export function isSignedWith(
  { secrets }: Pick<ExchangeCaller, 'secrets'>,
  signature: string,
  withdrawAddress: string,
): boolean {
  return signerAmong(secrets, signature, `${ADDRESS}${withdrawAddress}`, NO_BODY) >= 0;
}

/** Throws {@link Refusal} (403) unless orders of the key may pay out there; what reads the address reports a missing one. */
export function requirePayoutAddress({ withdrawAddresses }: KnownExchangeKey, address: unknown): void {
  if (withdrawAddresses.length === 0 || typeof address !== 'string' || address === '') return;
  if (!withdrawAddresses.includes(address))
    throw new Refusal({ status: 403, detail: 'The API key pays out to other addresses only' });
}

/** The paths for which a query is signed. No signature of a link or an address is one of a call. */
type SignedPath = '/v1/orders' | '/v1/merchants/configuration' | '/widget';

/** The parameters of a request, each given once. */
type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * The secret of the key that signed a request: its address, in the query or in the header, and in `signature_v2` all other
 * parameters (contract.md 21.8). Null for a request that needs no signature and has none; undefined when one is missing or
 * wrong. Every secret is tried, so that the time it takes does not reveal which one it was.
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
    ofAddress.every((each) => isSignedWith({ secrets }, String(each), address)) &&
    (ofQuery === undefined || signerAmong(secrets, ofQuery, query, NO_BODY) >= 0);
  if (!isSigned(key.secrets)) return undefined;
  // The older of two secrets that signed a part each is revoked first.
  return key.secrets.filter((secret) => isSigned([secret])).at(-1) ?? key.secrets[0];
}

/**
 * Checks for parameters that the signature of the address does not cover, and with which money could go to another
 * person.
 */
function needsQuerySignature(
  { memoSigning, demandsSignature }: Pick<ExchangeCaller, 'memoSigning' | 'demandsSignature'>,
  path: SignedPath,
  { withdraw_address_tag: tag, withdraw_address_memo: memo, return_url: returnUrl }: Parameters,
): boolean {
  const coversMemo = memoSigning === 'full' || (path === '/widget' && demandsSignature);
  return Boolean(returnUrl) || (coversMemo && Boolean(tag || memo));
}

/**
 * An action on an order is signed over the order's address (contract.md 21.4), so it is checked once the order is loaded.
 * Returns the secret that signed it, null for a request that needs no signature and has none. Throws {@link Refusal} (401).
 */
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

/** The secret that signed the address; undefined: none. */
export function addressSigner(
  { secrets }: Pick<ExchangeCaller, 'secrets'>,
  signature: string,
  withdrawAddress: string,
): string | undefined {
  return secrets.filter((secret) => isSignedWith({ secrets: [secret] }, signature, withdrawAddress)).at(-1);
}
