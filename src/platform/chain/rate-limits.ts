/** The HTTP statuses of documented or observed rate limits (docs/providers.md). */
const STATUSES: ReadonlySet<number> = new Set([402, 418, 420, 429, 503, 509, 529]);
const CODES: ReadonlySet<unknown> = new Set([
  402, 429, -32005, -32007, -32011, -32012, -32016, -32029, -32090, -32097, -32429, -32605, -32607,
]);
const RATE =
  /rate[ _-]?limit|rate exceeded|too[ _-]?(many|frequent)[ _-]?requests?|throttl|compute units?|credits? limit|(per|\/) ?(s|sec|second|min|minute|hour|day|month)\b|\bquota\b|slow(er)? down|(banned|blocked) your ip|your ip\b.{0,40}(banned|blocked)/i;
/** The errors about one call or the batch size. Another call or a smaller batch may succeed. */
const CALL =
  /batch|revert|too (large|big|long|wide)|\b(range|size|results?|blocks|logs|gas)\b|not found|unknown|missing|indexing|invalid|unsupported|not (supported|available)|does not exist/i;
const CALL_CODES: ReadonlySet<unknown> = new Set([-32600, -32601, -32602, -32004, -32008]);
const LIMIT =
  /(request|usage|capacity|call|daily|monthly|tier|free|connection)s? limit|limit(s|ed)? (exceeded|reached|to)|(has|have|you've|been) (exceeded|reached)|exceeded (its|the|your)|capacity|current plan|too much load|overload|(too|is|server) busy|(too many|concurrent) (requests|connections)|at this time/i;

const MAX_TEXT = 4096;

export interface RpcError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly data?: unknown;
}

export function isRateLimitStatus(status: number): boolean {
  return STATUSES.has(status);
}

export function saysRateLimit(text: string): boolean {
  const start = text.slice(0, MAX_TEXT);
  return RATE.test(start) || (!CALL.test(start) && LIMIT.test(start));
}

export function isRateLimit(error: RpcError): boolean {
  const text = JSON.stringify(error).slice(0, MAX_TEXT);
  return RATE.test(text) || (!CALL.test(text) && (CODES.has(error.code) || LIMIT.test(text)));
}

/** Checks that all calls failed alike, so that the error concerns the node and not one call. */
export function isAlike(errors: readonly RpcError[]): boolean {
  const [first] = errors;
  if (errors.length < 2 || first === undefined || isAboutCall(first)) return false;
  const name = ({ code, message }: RpcError): string => `${String(code)} ${String(message).slice(0, 40)}`;
  return errors.every((each) => name(each) === name(first));
}

function isAboutCall({ code, message }: RpcError): boolean {
  return CALL_CODES.has(code) || (typeof message === 'string' && CALL.test(message));
}
