import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/**
 * Replaces the file atomically and durably, readable only by its owner. A reader gets either the old or the
 * new contents.
 */
export function writePrivately(file: string, content: string | Buffer): void {
  const descriptor = openSync(`${file}.new`, 'w', 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${file}.new`, file);
}

export function writeJson(file: string, value: unknown): void {
  writePrivately(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** Returns the JSON of the file; null if the file is missing. */
export function readJson<T>(file: string): T | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : null;
}
