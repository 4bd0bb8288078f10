import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import * as failpoints from '../support/failpoints.js';
import { isProgram, sources, type Source } from './ratchet/sources.js';

/** Command handlers that no module provides. Nest would notice only at their execution. */
function unprovided(files: readonly Source[]): readonly string[] {
  const modules = files.filter(({ path }) => path.endsWith('.module.ts')).map(({ text }) => text);
  const isNamed = (name: string): boolean => modules.some((text) => new RegExp(`\\b${name}\\b`).test(text));
  const listed = files
    .flatMap(({ text }) => [...text.matchAll(/^export const (\w+_HANDLERS) = \[([^\]]*)\]/gm)])
    .flatMap(([, list, names]) => (isNamed(list!) ? names!.match(/\w+/g)! : []));
  return files
    .flatMap(({ text }) => [...text.matchAll(/@CommandHandler\([^)]*\)\s*(?:export )?class (\w+)/g)])
    .map(([, name]) => name!)
    .filter((name) => !listed.includes(name) && !isNamed(name));
}

it('every command handler is provided by a module', () => {
  const files = sources().filter(({ path }) => isProgram(path));
  expect(unprovided(files)).toEqual([]);
  const planted = { path: 'src/fly.ts', text: '@CommandHandler(Fly)\nexport class FlyHandler {}' };
  expect(unprovided([...files, planted])).toEqual(['FlyHandler']);
});

/** Fields with background work that no process would start. */
function unmarked(files: readonly Source[]): readonly string[] {
  const field = /^(.*)\n +readonly (\w+)(?:: (?:readonly )?| = new )(?:BackgroundWork|DueWork)\b/gm;
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(field)].filter(([, before]) => !before!.includes('@Background()')).map(() => path),
  );
}

it('every field with background work has the decorator @Background()', () => {
  const files = sources().filter(({ path }) => isProgram(path) && !path.startsWith('src/platform/jobs/'));
  expect(unmarked(files)).toEqual([]);
  const planted = { path: 'src/fly.ts', text: 'class Bird {\n  readonly work = new DueWork(items, {' };
  expect(unmarked([...files, planted])).toEqual(['src/fly.ts']);
});

it('every failpoint is documented in docs/chaos.md, and a suite kills a process there', () => {
  const programs = sources().filter(({ path }) => isProgram(path));
  const called = programs
    .flatMap(({ text }) => [...text.matchAll(/\bfailpoint\(([^)]*)\)/g)].map(([, argument]) => argument!))
    .flatMap((argument) => argument.match(/(?<=')[a-z]+\.[a-z_]+(?=')/g) ?? []);
  const chaos = readFileSync('docs/chaos.md', 'utf8').split('## Failpoints')[1]!.split('\n## ')[0]!;
  const listed = [...chaos.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, name]) => name!);
  const killed = Object.values<readonly string[]>(failpoints).flat();
  expect([...new Set(called)].sort()).toEqual([...listed].sort());
  expect([...killed].sort()).toEqual([...listed].sort());
});
