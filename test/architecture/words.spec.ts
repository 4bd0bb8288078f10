import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const LANGUAGES = ['de', 'en', 'es'];
const FOLDERS = ['exchange', 'onboarding'].map((name) => `src/contexts/${name}/words`);

const read = (folder: string, language: string): Record<string, string> =>
  JSON.parse(readFileSync(`${folder}/${language}.json`, 'utf8')) as Record<string, string>;
const placeholders = (text: string): string[] => (text.match(/\{[a-zA-Z_]+\}/g) ?? []).sort();

it.each(FOLDERS)('%s has all texts in every language with the same placeholders as in English', (folder) => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  expect(files).toEqual(LANGUAGES.map((language) => `${language}.json`));
  const english = Object.entries(read(folder, 'en')).map(([key, text]) => [key, placeholders(text)]);
  for (const language of LANGUAGES)
    expect(Object.entries(read(folder, language)).map(([key, text]) => [key, placeholders(text)])).toEqual(
      english,
    );
});
