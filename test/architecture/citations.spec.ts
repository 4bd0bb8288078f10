import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

type Texts = ReadonlyMap<string, string>;

const FOLDERS = ['src', 'sandbox', 'test', 'bench', 'scripts', 'examples', 'docs', 'widgets', 'packages'];
const CONTRACT = 'docs/contract.md';

const texts: Texts = new Map(
  FOLDERS.filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    )
    .concat('README.md')
    // The site has copies of the documents.
    .filter((file) => !/\.vitepress\/(dist|\.)/.test(file))
    .filter((file) => /\.(ts|mjs|py|md)$/.test(file) && file !== 'test/architecture/citations.spec.ts')
    .map((file) => [file, readFileSync(file, 'utf8')]),
);

/** Joins the lines of comments and paragraphs. */
const flat = (text: string): string => text.replaceAll(/\s*\n\s*(?:\*(?!\*)|\/\/|#)?\s*/g, ' ');

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((match) => match[1]!);

const rulesOf = (contract: string): string[] => [
  ...matches(contract, /^\*\*(\d+\.\d+)\*\*/gm),
  ...matches(contract, /^## (\d+)\. /gm),
];

/** Rules that a text cites as `contract.md 4.3`, or several with commas, `and`, `to`. */
const citedRules = (text: string): string[] =>
  matches(flat(text), /\bcontract\.md ((?:\d+(?:\.\d+)?(?:, | and | to )?)+)/g).flatMap(
    (list) => list.match(/\d+(\.\d+)?/g) ?? [],
  );

/** Tests that a document names, as `[file, part of the name]`, and suites of `npm run chaos`. */
const citedTests = (text: string): [string, string][] =>
  [
    ...flat(text).matchAll(/`([\w.-]+\.(?:spec|e2e|tests)\.ts)`(?: "([^"]+)")?|`npm run chaos -- ([\w-]+)`/g),
  ].map(([, file, name = '', suite]) => (file === undefined ? ['chaos/run.ts', suite!] : [file, name]));

const holds = (all: Texts, [file, name]: [string, string]): boolean =>
  [...all].some(([path, text]) => path.endsWith(`/${file}`) && flat(text).includes(name));

const citedDecisions = (text: string): number[] =>
  matches(flat(text), /\b(?:ADRs? ?\[?|adr\/)(\d{1,4})\b/g).map(Number);

/** Mentions of missing documents or sections, except RFCs. */
const strayCitations = (text: string, all: Texts): string[] => [
  ...matches(flat(text), /(\b(?:merchant|exchange)-api\b|§ ?\d|(?<!RFC \d+ )\bsections? \d[\d.]*)/g),
  ...matches(text, /\b([\w-]+\.md)\b(?!\.\w)/g).filter(
    (name) => name !== 'CHANGELOG.md' && ![...all.keys()].some((path) => basename(path) === name),
  ),
];

/** Anchors of the headings of a Markdown file, as GitHub names them. */
const anchorsOf = (text: string): string[] =>
  matches(text.replaceAll(/^```.*?^```/gms, ''), /^#{1,6} (.+)$/gm).map((heading) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Relative links in a Markdown file whose file or heading does not exist. */
const deadLinks = (path: string, text: string): string[] =>
  matches(text, /\]\((?!https?:)([^)\s]+)\)/g).filter((target) => {
    const [file, anchor] = target.split('#') as [string, string?];
    const to = file === '' ? path : join(dirname(path), file);
    if (file !== '' && !existsSync(to)) return true;
    const headings = file === '' ? text : (texts.get(to) ?? '');
    return anchor !== undefined && to.endsWith('.md') && !anchorsOf(headings).includes(anchor);
  });

describe('docs/contract.md', () => {
  const contract = texts.get(CONTRACT)!;

  it('numbers each rule once', () => {
    const rules = rulesOf(contract);
    expect(rules.length).toBeGreaterThan(100);
    expect(new Set(rules).size).toBe(rules.length);
  });

  it('contains every rule that is cited', () => {
    const rules = rulesOf(contract);
    const unknown = [...texts].flatMap(([path, text]) =>
      citedRules(text)
        .filter((rule) => !rules.includes(rule))
        .map((rule) => `${path}: ${rule}`),
    );
    expect(unknown).toEqual([]);
  });

  it('names the tests of its rules', () => expect(citedTests(contract).length).toBeGreaterThan(150));
});

describe('citations', () => {
  it('name tests that exist', () => {
    const missing = [...texts]
      .filter(([path]) => path.endsWith('.md'))
      .flatMap(([path, text]) =>
        citedTests(text)
          .filter((test) => !holds(texts, test))
          .map((test) => `${path}: ${test.join(' ')}`),
      );
    expect(missing).toEqual([]);
  });

  it('name files that exist', () => {
    const path = /`((?:src|test|bench|scripts|sandbox|widgets|packages|deploy|examples)\/[\w./-]+\.\w+)`/g;
    const missing = [...texts].flatMap(([document, text]) =>
      document.endsWith('.md')
        ? matches(text, path)
            .filter((file) => !existsSync(file) && !/\/notes\//.test(file))
            .map((file) => `${document}: ${file}`)
        : [],
    );
    expect(missing).toEqual([]);
  });

  it('name only ADRs that exist, and the index lists each ADR', () => {
    const kept = [...texts.keys()].flatMap((path) => matches(path, /docs\/adr\/(\d{4})-/g)).map(Number);
    const unknown = [...texts].flatMap(([path, text]) =>
      citedDecisions(text)
        .filter((number) => !kept.includes(number))
        .map((number) => `${path}: ${number}`),
    );
    expect(unknown).toEqual([]);
    const indexed = matches(texts.get('docs/adr/README.md')!, /\]\((\d{4})-/g).map(Number);
    expect(indexed).toEqual(kept.toSorted((a, b) => a - b));
  });

  it('name documents that exist', () => {
    const stray = [...texts].flatMap(([path, text]) =>
      strayCitations(text, texts).map((mention) => `${path}: ${mention}`),
    );
    expect(stray).toEqual([]);
  });

  it('lead to existing targets if they are links', () => {
    const dead = [...texts]
      .filter(([path]) => path.endsWith('.md'))
      .flatMap(([path, text]) => deadLinks(path, text).map((target) => `${path}: ${target}`));
    expect(dead).toEqual([]);
  });

  it('of rules, tests, ADRs, documents and links are recognised in every form', () => {
    expect(citedRules('a (contract.md 4.3 to 4.5, 5.1 and 6), and\n * contract.md\n * 12.10')).toEqual([
      ...['4.3', '4.5', '5.1', '6', '12.10'],
    ]);
    expect(citedTests('`a.spec.ts` "b\nc"; `npm run chaos -- d`')).toEqual([
      ['a.spec.ts', 'b c'],
      ['chaos/run.ts', 'd'],
    ]);
    expect(holds(new Map([['x/a.spec.ts', "it('does that')"]]), ['a.spec.ts', 'does this'])).toBe(false);
    expect(citedDecisions('ADR 0076, ADRs [60](adr/0060-x.md), see docs/adr/0108')).toEqual([
      76, 60, 60, 108,
    ]);
    expect(strayCitations('// section 6.4, RFC 9110 section 10.2.3, notes.md', new Map())).toEqual([
      'section 6.4',
      'notes.md',
    ]);
    const links =
      '# 1. A `b`\n[c](contract.md#1-general) [d](contract.md#gone) [e](gone.md) [f](#1-a-b) [g](#b)';
    expect(deadLinks('docs/a.md', links)).toEqual(['contract.md#gone', 'gone.md', '#b']);
  });
});
