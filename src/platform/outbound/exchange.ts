import type { IncomingHttpHeaders } from 'node:http';
import { errors, type Dispatcher } from 'undici';
import { codeOf, describe, RequestFailure, type FailurePhase } from './request-failure.js';

/** How much one request may take. */
export interface Limits {
  /** From the call to the end of the response, all in all. */
  readonly timeoutMs: number;
  /** The most that is read of a response's body; what follows is cut off with the connection. */
  readonly bodyBytes: number;
  /** How much of that is handed on. */
  readonly keptBytes: number;
}

export interface HttpResponse {
  readonly kind: 'response';
  readonly status: number;
  /** The field's text as it came. */
  readonly retryAfter: string | null;
  /** The first bytes of the body, never decompressed. */
  readonly body: Buffer;
}

/** What came of a request; `error` is a sentence without secrets. */
export type HttpResult =
  HttpResponse | { readonly kind: 'failed'; readonly phase: FailurePhase; readonly error: string };

const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|EPROTO$)/;

/** What a request is doing, in the words of a timeout. */
export type Stage = 'resolving the name' | 'connecting' | 'waiting for a response' | 'reading the response';

/**
 * One request and what comes back, as undici's parser reports it. Settles once, with whatever comes first: the end of the
 * response, the most of it that is read, a failure or the deadline; what happens later is not heard.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly result: Promise<HttpResult>;
  stage: Stage = 'connecting';
  /** Whether the response came to its own end, so that its connection may carry another. */
  whole = false;

  private readonly deadline: NodeJS.Timeout;
  private settle!: (result: HttpResult) => void;
  private status: number | null = null;
  private retryAfter: string | null = null;
  private readonly kept: Buffer[] = [];
  private read = 0;

  constructor(
    private readonly limits: Limits,
    /** Whether a first byte of a response has arrived. */
    private readonly responding: () => boolean,
  ) {
    this.result = new Promise((resolve) => (this.settle = resolve));
    const { timeoutMs } = limits;
    this.deadline = setTimeout(
      () => this.fail('timeout', `timed out after ${timeoutMs / 1000} s, ${this.stage}`),
      timeoutMs,
    );
  }

  onRequestStart(): void {
    this.stage = 'waiting for a response';
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // 103 and the like: the response is still to come.
    if (status < 200) return;
    this.stage = 'reading the response';
    this.status = status;
    const retryAfter: string | string[] | undefined = headers['retry-after'];
    this.retryAfter = (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { keptBytes, bodyBytes } = this.limits;
    if (this.read < keptBytes) this.kept.push(chunk.subarray(0, keptBytes - this.read));
    this.read += chunk.length;
    if (this.read < bodyBytes) return;
    this.responded();
    controller.abort(new RequestFailure('response', 'cut off'));
  }

  onResponseEnd(): void {
    this.whole = true;
    this.responded();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof errors.HeadersOverflowError && this.status !== null) this.cutOff();
    else this.fail(this.phaseOf(error), describe(error));
  }

  /** More has come than a response may take. Once its header was read, its status counts as if the body had ended. */
  cutOff(): void {
    if (this.status !== null) this.responded();
    else this.fail('response', 'the response is too long');
  }

  private fail(phase: FailurePhase, error: string): void {
    this.finish({ kind: 'failed', phase, error });
  }

  private responded(): void {
    const { status, retryAfter, kept } = this;
    this.finish({ kind: 'response', status: status!, retryAfter, body: Buffer.concat(kept) });
  }

  private finish(result: HttpResult): void {
    clearTimeout(this.deadline);
    this.settle(result);
  }

  private phaseOf(error: Error): FailurePhase {
    if (error instanceof RequestFailure) return error.phase;
    // Under TLS 1.3 a host refuses a client only after the handshake.
    if (TLS_CODES.test(codeOf(error))) return 'tls';
    return this.responding() ? 'response' : 'send';
  }
}
