import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const DOCKERFILE = readFileSync('Dockerfile', 'utf8');
const IGNORED = readFileSync('.dockerignore', 'utf8');
const FILES = readdirSync('.', { withFileTypes: true })
  .filter(({ name }) => !/^(node_modules|dist|\.git|\.sandbox)$/.test(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(entry.name, { recursive: true, encoding: 'utf8' }).map((file) => join(entry.name, file))
      : [entry.name],
  );

/** The last line of .dockerignore that matches the file or a folder above it decides. */
function isIgnored(file: string, lines: string): boolean {
  const rules = lines.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const last = rules.findLast((rule) => patternOf(rule.replace(/^!/, '')).test(file));
  return last !== undefined && !last.startsWith('!');
}

function patternOf(glob: string): RegExp {
  const parts = glob.replace(/\/$/, '').split(/(\*\*\/|\*\*|\*)/);
  const text = parts.map(
    (part) =>
      ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*' })[part] ?? part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
  );
  return new RegExp(`^${text.join('')}(?:/|$)`);
}

function missing(dockerfile: string, ignored: string): string[] {
  const context = FILES.filter((file) => !isIgnored(file, ignored));
  const copied = [...dockerfile.matchAll(/^(?:COPY|ADD) (?!--from)(.*)$/gm)].flatMap(([, paths]) =>
    paths!.split(' ').slice(0, -1),
  );
  expect(copied.length).toBeGreaterThan(5);
  return copied.filter((path) => !context.some((file) => file === path || file.startsWith(`${path}/`)));
}

it('the image is built only from files in its build context', () => {
  expect(missing(DOCKERFILE, IGNORED)).toEqual([]);
  expect(isIgnored('src/kernel/money.spec.ts', IGNORED)).toBe(true);
  expect(isIgnored('.env', IGNORED)).toBe(true);
});

it('a COPY of a renamed file or of a folder that .dockerignore excludes is reported', () => {
  expect(missing(DOCKERFILE, IGNORED.replace('!widgets\n', ''))).toEqual(['widgets']);
  expect(missing(DOCKERFILE.replace('tsconfig.json', 'tsconfig.old.json'), IGNORED)).toEqual([
    'tsconfig.old.json',
  ]);
});
