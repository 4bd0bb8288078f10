import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const [request, event, contexts] = [
  ...readFileSync('docs/architecture.md', 'utf8').matchAll(/^```mermaid\n(.*?)^```/gms),
].map(([, picture]) => picture!);
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => ({ file, text: readFileSync(join('src', file), 'utf8') }));

const CALL = /^ {2}(\w+) -- (\w+) --> (\w+)$/gm;
const BY_NEST = /^ {2}(\w+) -\.(?: [\w ,]+ \.)?-> (\w+)$/gm;
const declaring = (name: string): string =>
  sources.find(({ text }) => new RegExp(`^(?:export )?(?:class|function|const) ${name}\\b`, 'm').test(text))
    ?.text ?? '';

describe.each(Object.entries({ request, event }))('The picture of the %s', (_, picture) => {
  const calls = [...picture!.matchAll(CALL)].map(([, from, method, to]) => [from!, method!, to!] as const);
  const byNest = [...picture!.matchAll(BY_NEST)].map(([, from, to]) => [from!, to!] as const);

  it('every arrow of the diagram is a method call or a connection by Nest', () => {
    expect(picture!.trim().split('\n')).toHaveLength(1 + calls.length + byNest.length);
  });

  it.each(calls)('%s calls %s of %s', (from, method, to) => {
    expect(new RegExp(`\\b${method}\\(`).test(declaring(from))).toBe(true);
    expect(new RegExp(`\\b${method}(?:<.*>)?[(:]`).test(declaring(to))).toBe(true);
  });

  it.each(byNest)('the code declares %s and %s', (from, to) => {
    expect([declaring(from), declaring(to)]).not.toContain('');
  });
});

it('The picture of the contexts has an arrow for each context that imports the contract of another', () => {
  const imported = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/from '(?:\.\.\/)+(\w+)\/\w+\.contract\.js'/g)].map(
      ([, to]) => `${/^contexts\/(\w+)\//.exec(file)?.[1]} --> ${to}`,
    ),
  );
  const drawn = [...contexts!.matchAll(/^ {2}(\w+ --> \w+)$/gm)].map(([, arrow]) => arrow);
  expect(drawn.sort()).toEqual([...new Set(imported)].sort());
});
