import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Source {
  readonly path: string;
  readonly text: string;
}

const GENERATED = /(^|\/)(package-lock\.json|.*\.snap)$|^test\/contract\//;
const WRITTEN = /\.(tsx?|mjs|md)$/;
/** Returns code, tests and documents, also uncommitted ones. */
export function sources(leftOut: RegExp | null = GENERATED): Source[] {
  return repositoryFiles()
    .filter((path) => WRITTEN.test(path) && leftOut?.test(path) !== true)
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

/** Lists the paths that no .gitignore excludes, without git, which may be missing on a machine. */
function repositoryFiles(folder = '', inherited: readonly RegExp[] = []): string[] {
  const ignored = [...inherited, ...patternsIn(folder)];
  return readdirSync(join('.', folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    const matched = entry.isDirectory() ? `${path}/` : path;
    if (entry.name === '.git' || ignored.some((pattern) => pattern.test(matched))) return [];
    return entry.isDirectory() ? repositoryFiles(path, ignored) : [path];
  });
}

/** A line with a slash is a path from its folder; one without is a name at any depth. */
function patternsIn(folder: string): readonly RegExp[] {
  const file = join(folder, '.gitignore');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const text = line
      .replaceAll('.', String.raw`\.`)
      .replaceAll('*', '[^/]*')
      .replace(/^\//, '');
    const start = /\/./.test(line) ? `^${folder === '' ? '' : `${folder}/`}` : '(?:^|/)';
    return new RegExp(`${start}${text}${text.endsWith('/') ? '' : '(?:/|$)'}`);
  });
}

export const isTest = (path: string): boolean =>
  /\.(spec|e2e)\.tsx?$/.test(path) || /^(test|bench)\//.test(path);

export const isProgram = (path: string): boolean => /^src\/.*\.tsx?$/.test(path) && !isTest(path);
