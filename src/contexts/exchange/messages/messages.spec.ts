import { expect, it } from '@jest/globals';
import { MESSAGES } from './messages.js';

const placeholders = (text: string): string[] => (text.match(/\{[a-z_]+\}/g) ?? []).sort();

it.each(Object.entries(MESSAGES))('%s has all words, with the same placeholders as English', (_, words) => {
  expect(Object.keys(words).sort()).toEqual(Object.keys(MESSAGES.en).sort());
  for (const [key, english] of Object.entries(MESSAGES.en))
    expect([key, placeholders(words[key as keyof typeof words])]).toEqual([key, placeholders(english)]);
});
