import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** Ends TLS on 127.0.0.1 before a server that speaks plain HTTP, with the certificate of a folder (certificate.ts). */
export class TlsFront {
  private constructor(private readonly server: Server) {}

  static async start(folder: string, target: string): Promise<TlsFront> {
    const files = {
      key: readFileSync(join(folder, 'key.pem')),
      cert: readFileSync(join(folder, 'cert.pem')),
    };
    const server = createServer(files, (incoming, response) => {
      const { method, headers } = incoming;
      const on = request(new URL(incoming.url ?? '/', target), { method, headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      });
      on.on('error', () => response.destroy());
      incoming.pipe(on);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TlsFront(server);
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
