import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { join, resolve } from 'node:path';

/** The maximum length of the socket's path: 103 bytes on macOS (107 on Linux) minus a temporary suffix. */
const MAX_PATH_BYTES = 103 - 7;

/**
 * Listens on `admin.sock` in DATA_DIR for the machine's shell (admin-api.md 4). The socket is renamed to this
 * name once its mode is 0600, so that other users can never open it. Returns a function that removes it.
 */
export async function listenOnSocket(server: Server, dataDir: string): Promise<() => void> {
  const path = join(resolve(dataDir), 'admin.sock');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new Error(`${path} is longer than ${MAX_PATH_BYTES} bytes: set DATA_DIR to a shorter path`);
  mkdirSync(resolve(path, '..'), { recursive: true, mode: 0o711 });
  if (await isServed(path)) throw new Error(`another process serves ${path}: set another DATA_DIR`);
  const fresh = `${path}.${randomBytes(3).toString('hex')}`;
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    // `listen` creates the socket synchronously, under this umask.
    const umask = process.umask(0o077);
    server.listen(fresh, done);
    process.umask(umask);
  });
  chmodSync(fresh, 0o600);
  const inode = readInode(fresh);
  renameSync(fresh, path);
  return () => {
    if (readInode(path) === inode) rmSync(path, { force: true });
  };
}

function readInode(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

/** Checks that a process listens on the socket. A killed process does not remove its socket file. */
function isServed(path: string): Promise<boolean> {
  return new Promise((found) => {
    const client = connect(path, () => found(true));
    client.once('error', ({ code }: NodeJS.ErrnoException) =>
      found(code !== 'ENOENT' && code !== 'ECONNREFUSED'),
    );
    client.once('connect', () => client.destroy());
  });
}
