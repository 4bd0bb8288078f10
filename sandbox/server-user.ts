import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { SandboxError } from './sandbox-error.js';

export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user of PostgreSQL, which refuses to run as root: `postgres` if the system has it, else `nobody`, which
 * exists everywhere. Null if the service is not root; PostgreSQL then runs as the same user.
 */
export function serverUser(
  passwd: () => string = () => readFileSync('/etc/passwd', 'utf8'),
): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  const entries = passwd()
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const entry = entries.find(([each]) => each === name);
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new SandboxError(
    'PostgreSQL does not run as root and there is neither a user postgres nor nobody: start as another user, or set DATABASE_URL.',
  );
}

/** Checks that the user may traverse every folder above `path`, and `path` itself if it is a folder. */
export function canReach(user: ServerUser, path: string): boolean {
  for (let each = resolve(path); ; each = dirname(each)) {
    const { mode, uid, gid } = statSync(each);
    const needed = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & needed) === 0) return false;
    if (each === dirname(each)) return true;
  }
}
