import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runFolder } from '../run-folder.js';
import { findProgram } from './find-program.mjs';

/** Finds a program of the system, or returns null. The end of the run names a missing one. */
export function systemProgram(name: string): string | null {
  const path = findProgram(name);
  if (path === null) leaveOut(name);
  return path;
}

/** Records that suites of `what` are left out. The reporter names each of them once per run. */
export function leaveOut(what: string): void {
  const folder = join(runFolder(), 'left-out');
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, what.replaceAll('/', ' ')), '.');
}
