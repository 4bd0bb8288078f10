import type { IncomingHttpHeaders } from 'node:http';
import { parse } from 'secure-json-parse';
import { DomainError } from '../../kernel/domain-error.js';
import { depthOf } from '../json-text/json-text.js';
import { Refusal, WRONG_MEDIA_TYPE } from './problem.js';

/** The deepest nesting of arrays and objects that a body may have: 32 levels of free-form JSON inside two wrappers. */
const MAX_DEPTH = 34;

/** Drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The value of a JSON body. Throws DomainError `bad_request` (400) for bytes that are no UTF-8 or no JSON and for
 * the keys `__proto__` and `constructor.prototype`; `validation_failed` (422) for nesting deeper than {@link MAX_DEPTH}.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  const text = decode(bytes);
  if (depthOf(text) > MAX_DEPTH) {
    throw new DomainError('validation_failed', `The request body is nested deeper than ${MAX_DEPTH} levels`);
  }
  return parseText(text);
}

/** As {@link parseJsonBody}, of any depth: the caller checks it. */
export function parseDeepJsonBody(bytes: Buffer): unknown {
  return parseText(decode(bytes));
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new DomainError('bad_request', 'The request body is not valid UTF-8');
  }
}

function parseText(text: string): unknown {
  try {
    // The search for forbidden keys costs more than the parser; both of them hold these letters, unless escaped.
    return text.includes('proto') || text.includes('\\u') ? parse(text) : JSON.parse(text);
  } catch (error) {
    const detail = (error as Error).message.startsWith('Object contains forbidden')
      ? 'holds a key that is not allowed (__proto__ or constructor.prototype)'
      : 'is not valid JSON';
    throw new DomainError('bad_request', `The request body ${detail}`);
  }
}

/** Throws {@link Refusal} (415) for a body that is encoded or not called JSON. No media type counts as JSON. */
export function requireReadable(headers: IncomingHttpHeaders): void {
  const { 'content-type': contentType = 'application/json', 'content-encoding': encoding = '' } = headers;
  if (!/^[ \t,]*(identity[ \t,]*)*$/i.test(encoding)) {
    const detail = `The Content-Encoding ${encoding.slice(0, 64)} is not accepted: send the body without one`;
    throw new Refusal({ status: 415, detail, headers: { 'accept-encoding': 'identity' } });
  }
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  const utf8Charset = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (!utf8Charset || !/^application\/([a-z0-9.-]+\+)?json$/.test(type.trim()))
    throw new Refusal(WRONG_MEDIA_TYPE);
}
