import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runFolder } from '../run-folder.js';
import { findProgram } from './find-program.mjs';

/** Returns the path of a program of the system, or null. A missing one is named at the end of the run. */
export function systemProgram(name: string): string | null {
  const path = findProgram(name);
  if (path === null) leaveOut(name);
  return path;
}

/** Notes that what needs `what` is left out. The reporter names each of them once per run. */
export function leaveOut(what: string): void {
  const folder = join(runFolder(), 'left-out');
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, what.replaceAll('/', ' ')), '.');
}
