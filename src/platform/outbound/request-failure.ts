import { errors } from 'undici';

/**
 * Where a request broke before it had a whole response. `address`: the guard's refusal. `dns`: the name did not resolve.
 * `connect`: no TCP connection. `tls`: handshake or certificate. `send`: connected, and no byte of a response.
 * `response`: not HTTP/1.1, too large or broken off. `timeout`: none of these in time.
 */
export type FailurePhase = 'address' | 'dns' | 'connect' | 'tls' | 'send' | 'response' | 'timeout';

/**
 * The cause and place of a failed request. The message is a sentence for the host's owner, without path, header or
 * body.
 */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';

  constructor(
    readonly phase: FailurePhase,
    message: string,
  ) {
    super(message);
  }
}

/** Texts for codes of Node and undici whose own messages are unclear or contain addresses and ports. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the name does not resolve',
  ENODATA: 'the name has no addresses',
  EAI_AGAIN: 'the name servers do not respond',
  ETIMEOUT: 'the name servers do not respond',
  ESERVFAIL: 'the name servers fail',
  EREFUSED: 'the name servers refuse the query',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate comes from an authority that is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the host does not speak TLS here',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the host does not speak TLS here',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'the host speaks no version of TLS that is accepted',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'the host speaks no version of TLS that is accepted',
  UND_ERR_HEADERS_OVERFLOW: 'the header of the response is too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response is not as long as its Content-Length says',
  UND_ERR_SOCKET: 'the connection was closed',
  // undici's parser asserts that a status is no less than 100.
  ERR_ASSERTION: 'the response is not HTTP/1.1',
};

/** The code of a Node or undici error, '' when it has none. */
export function readCode(error: unknown): string {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** A sentence and the code, such as `the connection was refused (ECONNREFUSED)`. */
export function describe(error: unknown): string {
  if (error instanceof RequestFailure) return error.message;
  const code = readCode(error);
  if (error instanceof errors.HTTPParserError) return `the response is not HTTP/1.1${reason(error)}`;
  const meaning = MEANINGS[code] ?? (/^(ERR_SSL_|ERR_TLS_|EPROTO)/.test(code) ? 'TLS failed' : null);
  if (meaning !== null) return `${meaning} (${code})`;
  return code || (error instanceof Error ? error.name : 'unknown');
}

/** The parser's own words for what it met, such as ` (Invalid header token)`: none of them quotes the response. */
function reason({ message }: Error): string {
  const words = /\(([A-Za-z0-9 _/+`'-]+)\)$/.exec(message)?.[1];
  return words === undefined ? '' : ` (${words})`;
}
