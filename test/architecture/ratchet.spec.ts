import { describe, expect, it } from '@jest/globals';
import { lowered, readCeilings, violations, writeCeilings } from './ratchet/ceilings.js';
import { readability } from './ratchet/readability.js';
import { sources, type Source } from './ratchet/sources.js';
import { ownership, privateExports, sharedNames, sizes } from './ratchet/structure.js';
import { countWords } from './ratchet/words.js';

const CEILINGS = 'test/architecture/ceilings.json';
/** These files quote banned words. */
const THIS = /^test\/architecture\/ratchet/;

function measured(): Record<string, number> {
  const files = sources().filter(({ path }) => !THIS.test(path));
  const words = Object.entries(countWords(files.flatMap(({ path, text }) => [path, text])));
  return {
    ...sizes(files),
    ...ownership(files),
    ...readability(files),
    'exported names with several owners': sharedNames(files).size,
    ...Object.fromEntries(words.map(([word, count]) => [`word "${word}"`, count])),
  };
}

describe('the ratchet of size, owners and words', () => {
  it('finds no figure above its ceiling, and lowers each ceiling to the measured value', () => {
    const figures = measured();
    const ceilings = readCeilings(CEILINGS);
    expect(violations(figures, ceilings)).toEqual([]);
    writeCeilings(CEILINGS, lowered(figures, ceilings));
  });

  const file = (path: string, text: string): Source => ({ path, text });
  const one = { 'lines of src/kernel': 2 };

  it('reports one line too many, one file too many and a folder without a ceiling', () => {
    const figures = sizes([file('src/kernel/ids.ts', 'a\nb\nc\n'), file('src/platform/new/x.ts', 'a\n')]);
    expect(violations(figures, { ...one, 'files of src/kernel': 0 })).toEqual(
      expect.arrayContaining([
        'lines of src/kernel: 3, at most 2',
        'files of src/kernel: 1, at most 0',
        'lines of src/platform/new: 1 and no ceiling',
      ]),
    );
  });

  it('has ceilings that fall with the measured values and never rise', () => {
    expect(violations({ 'lines of src/kernel': 3 }, one)).toHaveLength(1);
    expect(lowered({ 'lines of src/kernel': 3 }, one)).toEqual(one);
    expect(lowered({ 'lines of src/kernel': 1 }, one)).toEqual({ 'lines of src/kernel': 1 });
    expect(lowered({}, one)).toEqual({});
  });

  it('counts comments that begin like a fragment, sentences above 22 words and other faults of wording', () => {
    const text = [
      '/** Of a payout. */',
      '/** The names of a payout. */',
      `/**\n * ${'A payout has '.repeat(7)}a name. Its second sentence is short.\n */`,
      'export interface KnownPayout { readonly external_id: string }',
      'export function factsOf(payout: KnownPayout): string { return payout.external_id; }',
    ].join('\n');
    const files = Array.from({ length: 10 }, (_, n) => file(`src/contexts/payouts/${n}.ts`, text));
    expect(readability([...files, file('src/contexts/users/a.spec.ts', text)])).toEqual({
      'comments that begin like a fragment': 10,
      'sentences of comments above 22 words': 10,
      'types named by a participle': 10,
      'functions named by a possessive': 10,
      'files of src that name a field': 1,
      'files of the largest context': 10,
    });
  });

  it('counts files with a mechanism such as "skip locked", and finds names that several files export', () => {
    const claims = file('src/a.ts', 'const sql = `select 1 for update skip locked`;');
    const races = file('src/b.ts', 'await Promise.race([work, late]);');
    const pages = file('src/c.ts', 'for (;;) { events = await store.readAll(after, 9); }');
    const comment = file('src/d.ts', '/** Not with skip locked. */');
    expect(ownership([claims, races, pages, comment, { ...claims, path: 'src/a.spec.ts' }])).toEqual({
      'files that claim work with "skip locked"': 1,
      'files that race with a timer': 1,
      'files that page through readAll': 1,
    });
    const names = sharedNames([
      file('src/e.ts', 'export const pause = 1;\nconst own = 2;'),
      file('src/f.ts', 'export function pause() {}\nexport class Own {}'),
    ]);
    expect([...names]).toEqual([['pause', ['src/e.ts', 'src/f.ts']]]);
  });

  it('finds an export that only its own file uses', () => {
    expect(privateExports(sources(null))).toEqual([]);
    const planted = [
      file(
        'src/g.ts',
        'export const used = 1;\nexport const unused = 2;\nexport interface Tested {}\nconst own = 3;',
      ),
      file('src/h.ts', "import { used as other } from './g.js';"),
      file('src/g.spec.ts', "import type { Tested } from './g.js';"),
    ];
    expect(privateExports(planted)).toEqual(['src/g.ts unused']);
  });

  it('counts banned words in identifiers, constants, file names and sentences', () => {
    const {
      tell,
      look,
      away,
      'MOST_, LEAST_': most,
    } = countWords([
      'test/told-twice.ts',
      'const toldTo = orderLook(MOST_TRIES); // The provider is away, and looks it.',
      'MOST_PROVIDER_LOOKS',
      'a lookup, a teller, almost',
    ]);
    expect({ tell, look, away, most }).toEqual({ tell: 2, look: 3, away: 1, most: 2 });
  });
});
