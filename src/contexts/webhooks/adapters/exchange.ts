import type { IncomingHttpHeaders } from 'node:http';
import { errors, type Dispatcher } from 'undici';
import type { ReceiverAnswer } from '../application/ports.js';
import type { FailurePhase } from '../domain/outcome.js';
import { AttemptFailure, codeOf, describe } from './attempt-failure.js';

/** The most that is read of the body of an answer; what follows is cut off with the connection. */
export const MAX_BODY_BYTES = 65_536;
const EXCERPT_BYTES = 1024;

const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|EPROTO$)/;

/** What an attempt is doing, in the words of a timeout. */
export type Stage = 'resolving the name' | 'connecting' | 'waiting for an answer' | 'reading the answer';

/**
 * One request and what comes back, as undici's parser reports it. Settles once, with whatever comes first: the end of the
 * answer, 64 KiB of it, a failure or the deadline; what happens later is not heard.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<ReceiverAnswer>;
  stage: Stage = 'connecting';
  /** Whether the answer came to its own end, so that its connection may carry another. */
  whole = false;

  private readonly deadline: NodeJS.Timeout;
  private settle!: (answer: ReceiverAnswer) => void;
  private status: number | null = null;
  private retryAfter: string | null = null;
  private readonly kept: Buffer[] = [];
  private read = 0;

  constructor(
    timeoutMs: number,
    /** Whether a first byte of an answer has arrived. */
    private readonly answering: () => boolean,
  ) {
    this.answer = new Promise((resolve) => (this.settle = resolve));
    this.deadline = setTimeout(() => this.timeOut(timeoutMs), timeoutMs);
  }

  onRequestStart(): void {
    this.stage = 'waiting for an answer';
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // 103 and the like: the answer is still to come.
    if (status < 200) return;
    this.stage = 'reading the answer';
    this.status = status;
    const retryAfter: string | string[] | undefined = headers['retry-after'];
    this.retryAfter = (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.read < EXCERPT_BYTES) this.kept.push(chunk.subarray(0, EXCERPT_BYTES - this.read));
    this.read += chunk.length;
    if (this.read < MAX_BODY_BYTES) return;
    this.answered();
    controller.abort(new AttemptFailure('answer', 'cut off'));
  }

  onResponseEnd(): void {
    this.whole = true;
    this.answered();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof errors.HeadersOverflowError && this.status !== null) this.cutOff();
    else this.fail(this.phaseOf(error), describe(error));
  }

  /** More has come than an answer may take. Once its header was read, its status counts as if the body had ended. */
  cutOff(): void {
    if (this.status !== null) this.answered();
    else this.fail('answer', 'the answer is too long');
  }

  fail(phase: FailurePhase, error: string): void {
    this.finish({ response: { kind: 'failed', phase }, error, excerpt: null });
  }

  private timeOut(timeoutMs: number): void {
    this.fail('timeout', `timed out after ${timeoutMs / 1000} s, ${this.stage}`);
  }

  private answered(): void {
    this.finish({
      response: { kind: 'answered', status: this.status!, retryAfter: this.retryAfter },
      error: null,
      excerpt: Buffer.concat(this.kept),
    });
  }

  private finish(answer: ReceiverAnswer): void {
    clearTimeout(this.deadline);
    this.settle(answer);
  }

  private phaseOf(error: Error): FailurePhase {
    if (error instanceof AttemptFailure) return error.phase;
    // Under TLS 1.3 a receiver refuses a client only after the handshake.
    if (TLS_CODES.test(codeOf(error))) return 'tls';
    return this.answering() ? 'answer' : 'send';
  }
}
