// The session of disburse login, in a file that this user alone reads.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** `$XDG_CONFIG_HOME/disburse/session.json`, `~/.config` without that variable. */
export function sessionFile(env = process.env) {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'disburse', 'session.json');
}

/** `{portalUrl, cookie, merchant, expiresAt}`; null when there is none. */
export function readSession() {
  try {
    return JSON.parse(readFileSync(sessionFile(), 'utf8'));
  } catch {
    return null;
  }
}

export function writeSession(session) {
  const file = sessionFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A file that exists would keep the mode that it has.
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(fresh, file);
  return file;
}

export function deleteSession() {
  rmSync(sessionFile(), { force: true });
}
