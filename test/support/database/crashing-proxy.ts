import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Of the message at which a process dies: the server never gets it, or executes it and cannot respond. */
export type Side = 'unsent' | 'unacknowledged';

/**
 * A proxy that is the only way from one process to PostgreSQL. At a chosen message it ends for good: what the process had
 * not committed is rolled back, and nothing that it does afterwards has an effect. For all others the process is dead.
 */
export class CrashingProxy {
  private readonly sockets = new Set<Socket>();
  private left = Infinity;
  private side: Side = 'unsent';
  private ended = false;
  private arrived: () => void = () => undefined;
  /** Resolves when the proxy has ended. */
  readonly end = new Promise<void>((resolve) => (this.arrived = resolve));

  private constructor(
    private readonly target: URL,
    private readonly server: Server,
  ) {
    server.on('connection', (client: Socket) => this.carry(client));
  }

  static async open(target: string): Promise<CrashingProxy> {
    const server = createServer();
    const proxy = new CrashingProxy(new URL(target), server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** For the process, in place of the server's own URL. */
  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.target.href), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  /** Ends at the `nth` message from now on, counted from 1. */
  endAt(nth: number, side: Side): void {
    [this.left, this.side] = [nth, side];
  }

  endNow(): void {
    if (this.ended) return;
    this.ended = true;
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    this.arrived();
  }

  private carry(client: Socket): void {
    // It was in the queue of the listener.
    if (this.ended) return void client.destroy();
    const upstream = connect(Number(this.target.port), this.target.hostname);
    let unacknowledged = false;
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
        this.sockets.delete(socket);
      });
    }
    client.on('data', (chunk: Buffer) => {
      if (this.ended) return;
      this.left -= 1;
      if (this.left === 0 && this.side === 'unsent') return this.endNow();
      unacknowledged ||= this.left === 0;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (unacknowledged) this.endNow();
      else client.write(chunk);
    });
  }
}
