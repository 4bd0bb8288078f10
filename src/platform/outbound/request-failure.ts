import { errors } from 'undici';
import texts from './failure-texts.json' with { type: 'json' };

/**
 * The phase of a failure, and its error class for merchants (ADR 76). `address`: refused by the policy.
 * `send`: connected, but without a byte of a response. `response`: not HTTP/1.1, too large or broken off.
 */
export type FailurePhase = 'address' | 'dns' | 'connect' | 'tls' | 'send' | 'response' | 'timeout';

/** The error of a failed request. The message is for the host's owner, without path, header or body. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';

  constructor(
    readonly phase: FailurePhase,
    message: string,
  ) {
    super(message);
  }
}

/** The text for each error code, in place of messages with addresses. ERR_ASSERTION: a status below 100. */
const MEANINGS: Readonly<Record<string, string>> = texts;

export function readCode(error: unknown): string {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** Returns a sentence with the code, such as `the connection was refused (ECONNREFUSED)`. */
export function describe(error: unknown): string {
  if (error instanceof RequestFailure) return error.message;
  const code = readCode(error);
  if (error instanceof errors.HTTPParserError) return `the response is not HTTP/1.1${reason(error)}`;
  const meaning = MEANINGS[code] ?? (/^(ERR_SSL_|ERR_TLS_|EPROTO)/.test(code) ? 'TLS failed' : null);
  if (meaning !== null) return `${meaning} (${code})`;
  return code || (error instanceof Error ? error.name : 'unknown');
}

/** Returns the parser's reason, such as ` (Invalid header token)`, which never quotes the response. */
function reason({ message }: Error): string {
  const words = /\(([A-Za-z0-9 _/+`'-]+)\)$/.exec(message)?.[1];
  return words === undefined ? '' : ` (${words})`;
}
