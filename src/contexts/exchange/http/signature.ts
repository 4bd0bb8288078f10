import { isSignedBy } from '../../../platform/http/svc-signature/signature.js';
import { Refusal, type Problem } from '../../../platform/http/problem.js';
import { NO_BODY } from '../../../platform/http/request-state.js';
import type { ExchangeCaller } from '../application/keys/exchange-caller.js';

const TITLE = 'Invalid API key or signature';

/** Of a key that is missing, malformed, unknown or revoked: it does not tell which (contract.md 21.2). */
export function invalidKey(where: string): Problem {
  return { status: 401, title: TITLE, detail: `A valid API key is required in the ${where}` };
}

export const INVALID_SIGNATURE: Problem = {
  status: 401,
  title: TITLE,
  detail:
    'The signature must be the lower-case hex HMAC-SHA256, under the secret of the API key, of withdraw_address= followed by the address; it goes in the parameter signature, for the list of orders in the header X-Signature',
};

/** Whether one of the secrets made the signature over the address, in constant time (contract.md 21.3). */
export function isSignedWith(
  { secrets }: Pick<ExchangeCaller, 'secrets'>,
  signature: string,
  withdrawAddress: string,
): boolean {
  return isSignedBy(secrets, signature, `withdraw_address=${withdrawAddress}`, NO_BODY);
}

/**
 * An action on an order is signed over the address that the order was made with (contract.md 21.4): to be asked once
 * that is known. `signature` is the parameter of the request. Throws {@link Refusal} (401).
 */
export function requireOrderSignature(
  caller: ExchangeCaller,
  signature: string | undefined,
  withdrawAddress: string,
): void {
  if (signature === undefined && !caller.demandsSignature) return;
  if (!isSignedWith(caller, signature ?? '', withdrawAddress)) throw new Refusal(INVALID_SIGNATURE);
}
