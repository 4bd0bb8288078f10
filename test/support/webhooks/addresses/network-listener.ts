import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { UNRESPONSIVE_ADDRESS } from './hostile-names.js';

/** Of the event loop: one would do. */
const TICKS = 3;

/** Listens on every address of the test network, with TLS on 443 and without on 80, and notes who is connected to. */
export class NetworkListener {
  /** The addresses of connections, in order. */
  private readonly connected: string[] = [];

  static async start(tlsFiles: string): Promise<NetworkListener> {
    const listener = new NetworkListener();
    const [key, cert] = ['key.pem', 'cert.pem'].map((file) => readFileSync(join(tlsFiles, file)));
    await Promise.all([
      listener.serve(443, createHttpsServer({ key, cert }, listener.respond)),
      listener.serve(80, createHttpServer(listener.respond)),
    ]);
    return listener;
  }

  /** What was reached since the last call. The kernel has connected before the listener is notified. */
  async reached(): Promise<string[]> {
    for (let tick = 0; tick < TICKS; tick++) await new Promise((resolve) => setImmediate(resolve));
    return this.connected.splice(0);
  }

  /** A path that ends in /close ends the connection too. */
  private readonly respond: RequestListener = (request, response) => {
    request.resume().on('end', () => {
      if (request.url?.endsWith('/close')) response.setHeader('connection', 'close');
      response.writeHead(204).end();
    });
  };

  private serve(
    port: number,
    server: ReturnType<typeof createHttpServer> | ReturnType<typeof createHttpsServer>,
  ) {
    server.on('tlsClientError', () => undefined);
    const every: Server = createServer((socket: Socket) => {
      socket.on('error', () => undefined);
      const address = socket.localAddress!.replace(/^::ffff:(?=[0-9.]+$)/, '');
      this.connected.push(address);
      if (address === UNRESPONSIVE_ADDRESS) socket.resume();
      else server.emit('connection', socket);
    });
    return new Promise<void>((resolve) => every.listen({ port, host: '::', backlog: 511 }, resolve));
  }
}
