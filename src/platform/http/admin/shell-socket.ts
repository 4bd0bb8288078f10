import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import type { FastifyRequest } from 'fastify';
import type { HttpConfig } from '../../config/config.js';
import type { Log } from '../../telemetry/logger.js';
import { guardConnections, refuseClientError, type ConnectionGuard, type Drainable } from '../connections.js';

/** Linux allows 107 bytes, macOS 103; the random suffix of a new socket has 7 of them. */
const MAX_PATH_BYTES = 103 - 7;

const shells = new WeakSet<object>();

/** True for a request over the socket that only the user of the process may open (admin-api.md 4). */
export function isShell({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return shells.has(raw.socket);
}

/** `admin.sock` in DATA_DIR, mode 0600: the way of the machine's shell into the admin API. A process without it still serves. */
export class ShellSocket implements Drainable {
  readonly connections: ConnectionGuard;
  private readonly server: Server;
  private readonly path: string;
  private inode: number | null = null;

  constructor(
    { dataDir, maxConnections }: HttpConfig,
    routing: RequestListener,
    private readonly log: Pick<Log, 'warn'>,
  ) {
    this.path = join(resolve(dataDir), 'admin.sock');
    this.server = createServer({ requireHostHeader: false }, routing);
    this.server.on('connection', (socket) => shells.add(socket));
    this.server.on('clientError', refuseClientError);
    this.connections = guardConnections(this.server, maxConnections);
  }

  async listen(): Promise<void> {
    await this.open().catch((error: Error) =>
      this.log.warn(`npm run admin finds no socket of this process: ${error.message}`),
    );
  }

  getHttpServer(): Server {
    return this.server;
  }

  drain(): void {
    if (this.inode !== null && inodeOf(this.path) === this.inode) rmSync(this.path, { force: true });
    this.inode = null;
  }

  /** A new socket replaces a stale one by its name, so that the name never leads to one that others may open. */
  private async open(): Promise<void> {
    const { path, server } = this;
    if (Buffer.byteLength(path) > MAX_PATH_BYTES)
      throw new Error(`${path} is longer than ${MAX_PATH_BYTES} bytes: set DATA_DIR to a shorter path`);
    mkdirSync(resolve(path, '..'), { recursive: true, mode: 0o711 });
    if (await isServed(path)) throw new Error(`another process serves ${path}: set another DATA_DIR`);
    const fresh = `${path}.${randomBytes(3).toString('hex')}`;
    await new Promise<void>((done, failed) => {
      server.once('error', failed);
      // The socket is created within this call.
      const umask = process.umask(0o077);
      server.listen(fresh, done);
      process.umask(umask);
    });
    chmodSync(fresh, 0o600);
    this.inode = inodeOf(fresh);
    renameSync(fresh, path);
  }
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

/** Only a socket without a process refuses. */
function isServed(path: string): Promise<boolean> {
  return new Promise((found) => {
    const client = connect(path, () => found(true));
    client.once('error', ({ code }: NodeJS.ErrnoException) =>
      found(code !== 'ENOENT' && code !== 'ECONNREFUSED'),
    );
    client.once('connect', () => client.destroy());
  });
}
