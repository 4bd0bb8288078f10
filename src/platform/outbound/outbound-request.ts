import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { errors, type Dispatcher } from 'undici';
import { readCode, describe, RequestFailure, type FailurePhase } from './request-failure.js';

export interface Limits {
  readonly timeoutMs: number;
  /** The maximum number of body bytes to read. More bytes close the connection. */
  readonly bodyBytes: number;
  readonly keptBytes: number;
  /** Accepts a response with a complete header, even if its body is broken. */
  readonly acceptsBroken?: boolean;
}

export interface HttpResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly retryAfter: string | null;
  /** The first bytes of the body, never decompressed. */
  readonly body: Buffer;
  readonly error: string | null;
}

/** The response to a request, or its failure. `error` is a sentence without secrets. */
export type HttpResult =
  HttpResponse | { readonly kind: 'failed'; readonly phase: FailurePhase; readonly error: string };

type Stage = 'resolving the name' | 'connecting' | 'waiting for a response' | 'reading the response';

const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|EPROTO$)/;
const TOO_LONG = new RequestFailure('response', 'the response is too long');
const CUT_OFF = [errors.HeadersOverflowError, errors.ResponseExceededMaxSizeError];

/** The maximum header size, also of each interim response. */
export const MAX_HEADER_BYTES = 16_384;
const HEADER = /^[\r\n]*HTTP\/1\.\d ([2-9]\d\d)\b[^]*?\n\r?\n/;
const INTERIM = /^([\r\n]*HTTP\/1\.\d 1(?!01)\d)\d\b([^]*?\n\r?\n)?/;

/** One request and its response. It settles once, with the response or a failure. */
export class OutboundRequest implements Dispatcher.DispatchHandler {
  readonly result: Promise<HttpResult>;
  stage: Stage = 'resolving the name';
  isSettled = false;

  private settle!: (result: HttpResult) => void;
  private hasConnected = false;
  private socket: Socket | null = null;
  /** The socket's count of read bytes at the start of the request, later at the end of the response. */
  private readBefore = 0;
  private complete = false;
  /** The header text that undici has not reported yet, without interim responses. */
  private head = '';
  private status: number | null = null;
  private retryAfter: string | null = null;
  private readonly kept: Buffer[] = [];
  private keptBytes = 0;

  constructor(private readonly limits: Limits) {
    this.result = new Promise((resolve) => (this.settle = resolve));
  }

  /** Sets the socket of the request. A failure of the request destroys the socket. */
  carriedBy(socket: Socket): void {
    this.stage = 'connecting';
    this.socket = socket;
    this.readBefore = socket.bytesRead;
  }

  /** Throws for a second connection. undici reconnects endlessly to hosts that close or send too early. */
  connects(): void {
    if (this.hasConnected) {
      throw this.bytesRead > 0
        ? new RequestFailure('response', 'the host sent something before the request')
        : new RequestFailure('send', 'the host closed the connection before the request');
    }
    this.hasConnected = true;
    this.stage = 'resolving the name';
  }

  /** Fails a request that reads too many bytes. undici does not count interim responses and chunk framing. */
  readMore(): void {
    if (this.bytesRead > (this.complete ? 0 : 2 * this.limits.bodyBytes)) this.fail(TOO_LONG);
  }

  /**
   * Stores the header, because undici reports no status of an invalid header. Interim statuses become 1x3,
   * which undici skips. An unexpected 100 would fail the request (RFC 9110 section 15.2).
   */
  receive(chunk: Buffer): void {
    if (this.status !== null || this.head.length > MAX_HEADER_BYTES) return;
    this.head += chunk.toString('latin1');
    for (let interim; (interim = INTERIM.exec(this.head)) !== null;) {
      const lastDigit = interim[1]!.length + chunk.length - this.head.length;
      if (lastDigit >= 0) chunk.write('3', lastDigit);
      if (interim[2] === undefined) return;
      this.head = this.head.slice(interim[0].length);
    }
  }

  /** Fails the request and closes its connection. An oversized response with a header counts as complete. */
  fail(error: Error): void {
    const isCutOff = error === TOO_LONG || CUT_OFF.some((kind) => error instanceof kind);
    const response = this.response(isCutOff ? null : describe(error));
    if (response !== null && (isCutOff || this.limits.acceptsBroken)) this.finish(response);
    else this.finish({ kind: 'failed', phase: this.toPhase(error), error: describe(error) });
    this.socket?.destroy(error);
  }

  onRequestStart(): void {
    this.stage = 'waiting for a response';
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // An interim response, such as 103.
    if (status < 200) return;
    this.stage = 'reading the response';
    this.status = status;
    this.retryAfter = [headers['retry-after']].flat()[0] ?? null;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = this.limits.keptBytes - this.keptBytes;
    if (room <= 0) return;
    this.kept.push(chunk.subarray(0, room));
    this.keptBytes += chunk.length;
  }

  onResponseEnd(): void {
    this.complete = true;
    this.readBefore += this.bytesRead;
    this.finish(this.response(null)!);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  private response(error: string | null): HttpResponse | null {
    const [header, refused] = HEADER.exec(this.head.slice(0, MAX_HEADER_BYTES)) ?? [''];
    const status = this.status ?? Number(refused);
    if (Number.isNaN(status)) return null;
    const retryAfter = this.retryAfter ?? /\nretry-after:[ \t]*([^\r\n]*)/i.exec(header)?.[1] ?? null;
    return { kind: 'response', status, retryAfter, body: Buffer.concat(this.kept), error };
  }

  private finish(result: HttpResult): void {
    this.isSettled = true;
    this.settle(result);
  }

  private get bytesRead(): number {
    return (this.socket?.bytesRead ?? 0) - this.readBefore;
  }

  private toPhase(error: Error): FailurePhase {
    if (error instanceof RequestFailure) return error.phase;
    // A TLS 1.3 host rejects a client only after the handshake.
    if (TLS_CODES.test(readCode(error))) return 'tls';
    return this.bytesRead > 0 ? 'response' : 'send';
  }
}

/** The three forms of an HTTP-date (RFC 9110 section 5.6.7); the first number of each is the day. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/,
];

/** Returns `Retry-After` in ms (RFC 9110, 10.2.3): 0 for a past date, null if invalid. `now` is epoch ms. */
export function retryAfterMs(field: string | null, now: number): number | null {
  const value = field?.trim() ?? '';
  if (/^[0-9]+$/.test(value)) return Number(value) * 1000;
  if (!HTTP_DATES.some((form) => form.test(value))) return null;
  const date = new Date(value.endsWith(' GMT') ? value : `${value} GMT`);
  // Date reads 31 Feb as a day in March.
  return date.getUTCDate() === Number(/\d+/.exec(value)) ? Math.max(0, date.getTime() - now) : null;
}
