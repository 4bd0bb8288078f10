import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The server never gets a message, or executes it and cannot respond. */
export type Side = 'unsent' | 'unacknowledged';

/** A proxy to PostgreSQL that can disconnect, at once or before the next response, or hang. */
export class DisconnectableProxy {
  cutNextResponse = false;
  /** Connections remain open and nothing passes, like a hanging server or a network that drops packets. */
  hangs = false;
  /** Hangs from the next message with this text, before the server gets it or before its response returns. */
  hangAt: { readonly text: string; readonly side: Side } | null = null;
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;
  private port = 0;

  constructor(private readonly target: URL) {}

  async open(): Promise<string> {
    this.server = createServer((client) => {
      const upstream = connect(Number(this.target.port), this.target.hostname);
      for (const socket of [client, upstream]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => [client, upstream].forEach((each) => each.destroy()));
      }
      client.on('data', (chunk: Buffer) => {
        if (this.hangs) return;
        const { text, side } = this.hangAt ?? {};
        const here = text !== undefined && chunk.includes(text);
        if (here) [this.hangs, this.hangAt] = [true, null];
        if (!here || side === 'unacknowledged') upstream.write(chunk);
      });
      upstream.on('data', (chunk) => {
        if (this.hangs) return;
        if (!this.cutNextResponse) client.write(chunk);
        else this.cut();
      });
    });
    await new Promise<void>((resolve) => this.server!.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return Object.assign(new URL(this.target.href), { hostname: '127.0.0.1', port: String(this.port) }).href;
  }

  cut(): void {
    this.cutNextResponse = false;
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server?.close(resolve));
    this.cut();
    await closed;
  }
}
