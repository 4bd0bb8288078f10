import { Agent, request as httpRequest, type ClientRequest, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import type { SignedRequest } from '../../../bench/support/sign.js';
import type { Verdict } from './verdict.js';

export interface Responded {
  readonly kind: 'responded';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The connection ended before the response was complete. */
interface CutOff {
  readonly kind: 'cut_off';
  /** The received bytes of the response. */
  readonly received: number;
  readonly why: string;
}

export type Outcome = Responded | CutOff;

const ATTEMPT_MS = 30_000;

/**
 * A client with one keep-alive connection, which is reopened when it breaks, and one request at a time. It
 * never retries, so that it observes exactly what arrives on the socket.
 */
export class Line {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(
    private readonly port: number,
    private readonly verdict: Verdict,
    private readonly localAddress = '127.0.0.1',
  ) {}

  /** Sends the head; the caller writes and ends the body. */
  begin({ method, path, headers, body }: SignedRequest): {
    readonly sent: ClientRequest;
    readonly outcome: Promise<Outcome>;
  } {
    const { port, localAddress, agent } = this;
    const length = { host: '127.0.0.1', 'content-length': Buffer.byteLength(body) };
    const target = { port, host: '127.0.0.1', localAddress, agent, method, path };
    const sent = httpRequest({ ...target, headers: { ...length, ...headers } });
    const timer = setTimeout(() => {
      this.verdict.expect(false, `${path} responds within ${ATTEMPT_MS / 1000} s`);
      sent.destroy(new Error('timeout'));
    }, ATTEMPT_MS);
    let before = 0;
    const outcome = new Promise<Outcome>((resolve) => {
      const cutOff = ({ code, message }: NodeJS.ErrnoException): void =>
        resolve({
          kind: 'cut_off',
          received: (sent.socket?.bytesRead ?? 0) - before,
          why: code ?? message,
        });
      sent.on('socket', (socket) => (before = socket.bytesRead));
      sent.on('error', cutOff);
      sent.on('response', (response) => {
        const { statusCode, headers: names } = response;
        const whole = (read: string): void =>
          resolve({ kind: 'responded', status: statusCode!, headers: names, body: read });
        text(response).then(whole, cutOff);
      });
    });
    return { sent, outcome: outcome.finally(() => clearTimeout(timer)) };
  }

  exchange(request: SignedRequest): Promise<Outcome> {
    const { sent, outcome } = this.begin(request);
    sent.end(request.body);
    return outcome;
  }

  /** Rejects with the reason if the connection ended before the response was complete. */
  async send(request: SignedRequest): Promise<Responded> {
    const outcome = await this.exchange(request);
    if (outcome.kind === 'responded') return outcome;
    throw new Error(outcome.why);
  }

  close(): void {
    this.agent.destroy();
  }
}
