import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { postgresHome } from './binaries.js';
import { writePrivately } from './files.js';
import { stopAbandonedPostgres } from './postgres.js';
import { canReach, type ServerUser } from './server-user.js';

/** The folder whose files survive a reboot and that every user may enter. */
const COMMON_GROUND = '/var/tmp';
const PREFIX = 'disburse-postgres-';

export interface PostgresPlace {
  /** The folder of the server's data and log. */
  readonly dir: string;
  /** The folder of the server's programs. */
  readonly home: string;
}

/**
 * Chooses the folder of PostgreSQL, which is in DATA_DIR unless the service is root. Then PostgreSQL runs as
 * another user, which may be unable to enter DATA_DIR or the checkout. In that case the server gets a folder
 * under /var/tmp with a copy of its programs, and DATA_DIR records the path.
 */
export async function placePostgres(dataDir: string, user: ServerUser | null): Promise<PostgresPlace> {
  const home = postgresHome();
  if (user === null || (canReach(user, dataDir) && canReach(user, home))) {
    return { dir: join(dataDir, 'postgres'), home };
  }
  await sweepAbandoned();
  const dir = rememberedPlace(dataDir) ?? makePlace(dataDir);
  return { dir, home: copyPrograms(home, dir) };
}

function pointerOf(dataDir: string): string {
  return join(dataDir, 'postgres.location');
}

function rememberedPlace(dataDir: string): string | null {
  const pointer = pointerOf(dataDir);
  const dir = existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : '';
  return dir !== '' && existsSync(dir) ? dir : null;
}

function makePlace(dataDir: string): string {
  const dir = mkdtempSync(join(COMMON_GROUND, PREFIX));
  chmodSync(dir, 0o711);
  writePrivately(join(dir, 'belongs-to'), dataDir);
  writePrivately(pointerOf(dataDir), dir);
  return dir;
}

function copyPrograms(home: string, dir: string): string {
  const copy = join(dir, 'programs');
  const stamp = join(copy, 'built-from');
  const version = readFileSync(join(home, '..', 'package.json'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === version) return copy;
  rmSync(copy, { recursive: true, force: true });
  cpSync(home, `${copy}.new`, { recursive: true, verbatimSymlinks: true });
  openToAll(`${copy}.new`);
  writeFileSync(join(`${copy}.new`, 'built-from'), version);
  renameSync(`${copy}.new`, copy);
  return copy;
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}

/** Stops the PostgreSQL servers whose DATA_DIR was deleted, and deletes their folders. */
async function sweepAbandoned(): Promise<void> {
  for (const name of readdirSync(COMMON_GROUND)) {
    const dir = join(COMMON_GROUND, name);
    const owner = join(dir, 'belongs-to');
    if (!name.startsWith(PREFIX) || !existsSync(owner)) continue;
    if (rememberedPlace(readFileSync(owner, 'utf8')) === dir) continue;
    await stopAbandonedPostgres(dir);
    rmSync(dir, { recursive: true, force: true });
  }
}
