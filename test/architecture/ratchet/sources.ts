import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** A text file of the repository: its path from the root, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

const GENERATED = /(^|\/)(package-lock\.json|.*\.snap)$|^test\/contract\//;
const WRITTEN = /\.(tsx?|mjs|md)$/;

/** Every file that people write: code, tests, documents. New files count before they are committed. */
export function sources(leftOut: RegExp | null = GENERATED): Source[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((path) => WRITTEN.test(path) && leftOut?.test(path) !== true && existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

export const isTest = (path: string): boolean =>
  /\.(spec|e2e)\.tsx?$/.test(path) || /^(test|bench)\//.test(path);

/** The program itself: src without its specs. */
export const isProgram = (path: string): boolean => /^src\/.*\.tsx?$/.test(path) && !isTest(path);
