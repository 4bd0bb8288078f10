import { eachElement, eachMember, endOfValue } from '../json-text/json-text.js';
import { isAlike, isRateLimit, type RpcError } from './rate-limits.js';

/** The messages of nodes when a contract reverts (docs/providers.md). */
const REVERT =
  /revert|vm execution error|invalid opcode:? (invalid|0xfe)|(invalid|bad) jump|stack underflow/i;

export const TOO_MANY = 'too many requests for the node';

/** The reason why a call has no result. `denied` is HTTP 401 or 403, `status` another HTTP error status. */
export interface RpcRefusal {
  readonly kind:
    'denied' | 'limited' | 'too_large' | 'slow' | 'unavailable' | 'status' | 'error' | 'nonsense';
  /** A message for the log, without addresses and without text from the node. */
  readonly message: string;
  readonly isRevert?: boolean;
}

/** The response to a call. `text` is the JSON of the result, if requested. */
export type RpcResponse =
  { readonly result: unknown; readonly text?: string } | { readonly refused: RpcRefusal };

export function isKind(response: RpcResponse, kind: RpcRefusal['kind']): boolean {
  return 'refused' in response && response.refused.kind === kind;
}

export function refuseAll(
  calls: readonly unknown[],
  kind: RpcRefusal['kind'],
  message: string,
): readonly RpcResponse[] {
  return calls.map(() => ({ refused: { kind, message } }));
}

/** Reads the responses of a batch, in any order. Ignores unknown ids; a repeated id is an error. */
export function responsesIn(text: string, count: number, texts: boolean): readonly RpcResponse[] {
  const said = parsed(text);
  if (said === undefined) return Array.from({ length: count }, () => nonsense('no JSON'));
  // A single error is the response to each call of a batch.
  if (count > 1 && isRecord(said) && isRecord(said['error']))
    return errorResponses(Array.from({ length: count }, () => said['error'] as RpcError));
  const sent = texts ? resultTexts(text) : [];
  const responses: RpcResponse[] = Array.from({ length: count }, () => nonsense('no response to this call'));
  const errors = new Map<number, RpcError>();
  const seen = new Set<number>();
  for (const [place, each] of (Array.isArray(said) ? (said as unknown[]) : [said]).entries()) {
    if (!isRecord(each)) continue;
    const { id, result, error } = each;
    if (typeof id !== 'number' || !(id in responses)) continue;
    if (seen.has(id)) responses[id] = nonsense('two responses to one call');
    else if (error !== undefined && error !== null) errors.set(id, error as RpcError);
    else if (result !== undefined) responses[id] = { result, text: sent[place] };
    if (seen.has(id)) errors.delete(id);
    seen.add(id);
  }
  if (errors.size === count)
    return errorResponses([...errors].sort(([a], [b]) => a - b).map(([, each]) => each));
  for (const [id, error] of errors) responses[id] = errorResponse(error, isRateLimit(error));
  return responses;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function resultTexts(json: string): readonly (string | undefined)[] {
  const texts: (string | undefined)[] = [];
  const read = (at: number): number => {
    let result: string | undefined;
    const end = eachMember(json, at, (key, start) => {
      const memberEnd = endOfValue(json, start);
      if (key === 'result') result = json.slice(start, memberEnd);
      return memberEnd;
    });
    texts.push(result);
    return end > at ? end : endOfValue(json, at);
  };
  if (json.trimStart().startsWith('[')) eachElement(json, 0, read);
  else read(0);
  return texts;
}

function nonsense(message: string): RpcResponse {
  return { refused: { kind: 'nonsense', message } };
}

function errorResponses(errors: readonly RpcError[]): readonly RpcResponse[] {
  const alike = isAlike(errors);
  return errors.map((error) => errorResponse(error, alike || isRateLimit(error)));
}

function errorResponse({ code, message }: RpcError, isLimit: boolean): RpcResponse {
  const name = typeof code === 'number' ? `error ${code}` : 'an error';
  return isLimit
    ? { refused: { kind: 'limited', message: `${name}: ${TOO_MANY}` } }
    : { refused: { kind: 'error', message: name, isRevert: code === 3 || REVERT.test(String(message)) } };
}
