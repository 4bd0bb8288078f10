import type { Socket } from 'node:net';
import { Client, type buildConnector } from 'undici';
import { Exchange, type HttpResult, type Limits, type Stage } from './exchange.js';
import { RequestFailure } from './request-failure.js';

/** The most of a response's header (and of each interim one's), in bytes; undici's own default. */
const MAX_HEADER_BYTES = 16_384;
const KEEP_ALIVE_MS = 15_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null with GET. */
  readonly body: string | null;
}

/** Opens a socket to the origin; reports what it is doing, and leaves nothing behind once the signal is aborted. */
export type Opener = (
  options: buildConnector.Options,
  signal: AbortSignal,
  doing: (stage: Stage) => void,
) => Promise<Socket>;

/**
 * A connection to one origin, which carries one request at a time and is kept in between. After anything but a whole
 * response it is not used again: what a host says too late, or unasked, reaches no other request.
 */
export class HostConnection {
  private readonly client: Client;
  private readonly gone = new AbortController();
  private socket: Socket | null = null;
  private exchange: Exchange | null = null;
  private connected = false;
  /** Bytes the socket had read when the request began, or when it became idle. */
  private readBefore = 0;

  constructor(
    readonly origin: string,
    private readonly open: Opener,
    private readonly limits: Limits,
    /** The kept connection ended. */
    onIdleEnd: () => void,
  ) {
    this.client = new Client(origin, {
      connect: (options, callback) => {
        this.connect(options).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // One deadline over everything is set on each exchange instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on('disconnect', () => {
      if (this.exchange === null) onIdleEnd();
    });
  }

  /** Sends one request and waits for its response, no longer than the timeout. Never rejects. */
  async send({ method, path, headers, body }: HttpRequest): Promise<HttpResult> {
    this.connected = false;
    this.readBefore = this.socket?.bytesRead ?? 0;
    const exchange = new Exchange(this.limits, () => this.bytesRead() > 0);
    this.exchange = exchange;
    this.client.dispatch({ method, path, headers, body }, exchange);
    const result = await exchange.result;
    this.exchange = null;
    if (exchange.whole && this.socket && !this.socket.destroyed) this.readBefore = this.socket.bytesRead;
    else void this.destroy();
    return result;
  }

  /** Whether it may carry another request. */
  get usable(): boolean {
    return !this.client.destroyed;
  }

  /** Ends it with whatever is under way, a connect included. Resolves once its socket is closed. */
  destroy(): Promise<void> {
    this.gone.abort();
    return this.client.destroy();
  }

  /**
   * At most one new connection a request: undici would connect again and again to a host that closes, or speaks,
   * before it was asked.
   */
  private async connect(options: buildConnector.Options): Promise<Socket> {
    const { exchange } = this;
    if (exchange === null) throw new RequestFailure('connect', 'no request needs a connection');
    if (this.connected) {
      throw this.bytesRead() > 0
        ? new RequestFailure('response', 'the host sent something before it was asked')
        : new RequestFailure('send', 'the host closed the connection before it was asked');
    }
    this.connected = true;
    const socket = await this.open(options, this.gone.signal, (stage) => (exchange.stage = stage));
    this.readBefore = 0;
    this.socket = this.metered(socket);
    return socket;
  }

  /** undici limits the header; interim responses, framing of chunks and line breaks before it are limited here. */
  private metered(socket: Socket): Socket {
    return socket.on('readable', () => {
      if (this.exchange === null) {
        if (this.bytesRead() > 0) void this.destroy();
      } else if (this.bytesRead() > 2 * this.limits.bodyBytes) {
        this.exchange.cutOff();
        void this.destroy();
      }
    });
  }

  /** Since the request began, or since the connection became idle. */
  private bytesRead(): number {
    return (this.socket?.bytesRead ?? 0) - this.readBefore;
  }
}
