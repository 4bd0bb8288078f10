import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';

const FILES = readdirSync('src/contexts', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\/words\/[a-z]+\.json$/.test(file))
  .map((file) => join('src/contexts', file));

const read = (file: string): Record<string, string> =>
  JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
const placeholders = (text: string): string[] => (text.match(/\{[a-zA-Z_]+\}/g) ?? []).sort();

it('each context with words has them in every language', () => {
  expect(FILES.map((file) => basename(dirname(dirname(file))))).toEqual(
    expect.arrayContaining(['exchange', 'onboarding']),
  );
  for (const folder of new Set(FILES.map(dirname)))
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['de.json', 'en.json', 'es.json']));
});

it.each(FILES)('%s has all words, with the same placeholders as English', (file) => {
  const [words, english] = [read(file), read(join(dirname(file), 'en.json'))];
  expect(Object.keys(words)).toEqual(Object.keys(english));
  for (const [key, text] of Object.entries(english))
    expect([key, placeholders(words[key]!)]).toEqual([key, placeholders(text)]);
});
