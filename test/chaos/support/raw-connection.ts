import { connect, type Socket } from 'node:net';
import type { SignedRequest } from '../../../bench/support/sign.js';
import type { Verdict } from './verdict.js';

export interface RawResponse {
  readonly kind: 'responded';
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The connection ended before a response was whole. */
export interface CutOff {
  readonly kind: 'cut_off';
  /** Bytes of the response that had arrived: 0 when it had not begun. */
  readonly received: number;
  readonly why: string;
}

export type Outcome = RawResponse | CutOff;

/** A single attempt may take this long before it counts as hung. */
const ATTEMPT_MS = 30_000;

/** The bytes of a request on the wire. */
export function encode({ method, path, headers, body }: SignedRequest): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/**
 * One keep-alive connection, one request at a time, with nothing in between that retries, pools or hides: what a
 * client sees of a server that dies is exactly what arrived on the socket.
 */
export class RawConnection {
  private received = Buffer.alloc(0);
  private end: string | null = null;
  private waiting: ((outcome: Outcome) => void) | null = null;

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.settle();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => this.ended(error.code ?? error.message));
    socket.on('end', () => this.ended('FIN'));
    socket.on('close', () => this.ended('closed'));
  }

  /** Rejects when no process listens. */
  static open(port: number, localAddress = '127.0.0.1'): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  get usable(): boolean {
    return this.end === null;
  }

  write(bytes: Buffer): void {
    if (this.end === null) this.socket.write(bytes);
  }

  /** The response to what was written, or how the connection ended, or `timeout` after `timeoutMs`. */
  response(timeoutMs: number): Promise<Outcome> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.ended('timeout');
        this.close();
      }, timeoutMs);
      this.waiting = (outcome) => {
        clearTimeout(timer);
        this.waiting = null;
        this.received = Buffer.alloc(0);
        resolve(outcome);
      };
      this.settle();
    });
  }

  exchange(request: SignedRequest, timeoutMs = ATTEMPT_MS): Promise<Outcome> {
    this.write(encode(request));
    return this.response(timeoutMs);
  }

  close(): void {
    this.socket.destroy();
  }

  private ended(why: string): void {
    this.end ??= why;
    this.settle();
  }

  private settle(): void {
    if (this.waiting === null) return;
    const response = parse(this.received);
    if (response !== null) this.waiting(response);
    else if (this.end !== null) {
      this.waiting({ kind: 'cut_off', received: this.received.length, why: this.end });
    }
  }
}

/** A client's connection, opened again when it broke. */
export class Line {
  private connection: RawConnection | null = null;

  constructor(
    private readonly port: number,
    /** A request that hangs is a broken fact. */
    private readonly verdict: Verdict,
    private readonly localAddress?: string,
  ) {}

  /** Rejects when the connection was refused or ended before the response was whole, with the reason. */
  async send(request: SignedRequest): Promise<RawResponse> {
    if (this.connection === null || !this.connection.usable) {
      this.connection?.close();
      this.connection = await RawConnection.open(this.port, this.localAddress);
    }
    const outcome = await this.connection.exchange(request);
    if (outcome.kind === 'responded') return outcome;
    if (outcome.why === 'timeout')
      this.verdict.expect(false, `${request.path} responds within ${ATTEMPT_MS / 1000} s`);
    throw new Error(outcome.why);
  }

  close(): void {
    this.connection?.close();
  }
}

/** One whole response, or null while bytes are missing. */
function parse(bytes: Buffer): RawResponse | null {
  const head = bytes.indexOf('\r\n\r\n');
  if (head < 0) return null;
  const [first = '', ...lines] = bytes.subarray(0, head).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  if (headers['transfer-encoding'] !== undefined) throw new Error('chunked responses are not expected here');
  const length = Number(headers['content-length'] ?? 0);
  if (bytes.length < head + 4 + length) return null;
  return {
    kind: 'responded',
    status: Number(first.split(' ')[1]),
    headers,
    body: bytes.subarray(head + 4, head + 4 + length).toString('utf8'),
  };
}
