import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { parse } from '../../packages/cli/src/admin/program.mjs';

const ROOT = new URL('../../', import.meta.url);
const PLACES = [
  'README.md',
  'CHANGELOG.md',
  'docs',
  'deploy',
  'src',
  'sandbox',
  'scripts',
  'packages',
  'widgets',
];

/** `npm run admin -- ...` and `disburse admin ...` in a text, each up to its end or the comment behind it. */
function commandsIn(text: string): readonly string[] {
  return [...text.matchAll(/(?:npm run (?:-s )?admin --|disburse admin) ([^`'\n#)|;]+)/g)].map(([, words]) =>
    words!.trim(),
  );
}

/** The words as a shell splits them. Those without options name a command only: its arguments are left out. */
function problemOf(command: string): string | null {
  const words = command.match(/(?:"[^"]*"|\S)+/g) ?? [];
  if (/^<|^\$\{|^\.\.\.|^\S*'|^--help/.test(command)) return null;
  const isWhole = words.some((word) => word.startsWith('--')) || words.length > 2;
  try {
    parse([...words, ...(isWhole ? [] : ['--help'])]);
    return null;
  } catch (error) {
    return `${command}: ${(error as Error).message}`;
  }
}

it('every command of the admin program that a document, a hint or an alert names exists, with its arguments', () => {
  const files = execFileSync('git', ['ls-files', '-z', ...PLACES], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((file) => /\.(md|ts|mjs|yaml|tpl|txt)$/.test(file) && !/^packages\/cli\/src\/admin\//.test(file));
  const commands = files.flatMap((file) => commandsIn(readFileSync(new URL(file, ROOT), 'utf8')));
  expect(commands.length).toBeGreaterThan(40);
  expect(commands.flatMap((command) => problemOf(command) ?? [])).toEqual([]);
  for (const planted of [
    'merchant list',
    'merchants list --stats x',
    'users erase <id> --ticket A',
    'users show',
  ])
    expect(problemOf(planted) === null).toBe(planted === 'users show');
});
