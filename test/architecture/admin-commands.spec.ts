import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { programNames, loadProgram } from '../../src/cli.js';
import { parse } from '../../packages/cli/src/admin/program.mjs';

const ROOT = new URL('../../', import.meta.url);
const FOLDERS = ['docs', 'deploy', 'src', 'sandbox', 'scripts', 'packages', 'widgets'];
const FILES = /\.(md|ts|mjs|yaml|tpl|txt)$/;
/** Built and installed files, and the program with its own examples. */
const NOT_SOURCES = /node_modules|\.vitepress|\/(dist|generated)\/|^packages\/cli\/src\/admin\//;

/** Finds `npm run admin -- ...` and `disburse admin ...`, each up to its end or a comment. */
function commandsIn(text: string): readonly string[] {
  return [...text.matchAll(/(?:npm run (?:-s )?admin --|disburse admin) ([^`'\n#)|;]+)/g)].map(([, words]) =>
    words!.trim(),
  );
}

/** Splits words as a shell does. A name without options counts as a command without its arguments. */
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

/** Returns `[program, words]` of `audit -- ...` and the like. A usage line loses its brackets. */
function programCommandsIn(text: string): readonly (readonly [name: string, words: string])[] {
  const command = new RegExp(
    `\\b(${programNames().join('|')}) -- ([^\`'\\n#)|;\\\\]+?)(?= > |[\`'\\n#)|;\\\\]|$)`,
    'g',
  );
  return [...text.matchAll(command)].map(([, name, words]) => [
    name!,
    words!.replaceAll(/[[\]]|\.\.\./g, '').trim(),
  ]);
}

async function problemOfProgram([name, words]: readonly [string, string]): Promise<string | null> {
  const program = await loadProgram(name, { env: {}, print: () => undefined, exit: () => undefined });
  const args = (words.match(/(?:"[^"]*"|\S)+/g) ?? []).filter((word) => word !== '--help');
  const why = faultOf(program, args, words.includes(' --'));
  return why === null ? null : `${name} -- ${words}: ${why}`;
}

/** Arguments after a name without options are part of the sentence. */
function faultOf(command: Command, args: readonly string[], isWhole: boolean): string | null {
  const known = command.exitOverride().configureOutput({ writeErr: () => undefined });
  const { operands, unknown } = known.parseOptions([...args]);
  const [name, ...rest] = operands;
  const next = known.commands.find((each) => each.name() === name);
  if (next !== undefined) return faultOf(next, [...rest, ...unknown], isWhole);
  if (known.commands.length > 0 && name !== undefined) return `it has no command ${name}`;
  if (unknown.length > 0) return `it does not have ${unknown[0]}`;
  if (!isWhole) return null;
  const missing = known.options.find(
    (each) => each.mandatory && known.getOptionValue(each.attributeName()) === undefined,
  );
  if (missing !== undefined) return `it needs ${missing.long}`;
  const needed = known.registeredArguments.filter(({ required }) => required).length;
  return operands.length < needed ? `it needs ${needed} arguments` : null;
}

function documents(): readonly string[] {
  const root = fileURLToPath(ROOT);
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ).filter((file) => FILES.test(file) && !NOT_SOURCES.test(file));
  return ['README.md', ...found].map((file) => readFileSync(join(root, file), 'utf8'));
}

it('every program command that a document, a hint or an alert names exists with its options', async () => {
  const commands = documents().flatMap(programCommandsIn);
  expect(commands.length).toBeGreaterThan(80);
  const problems = await Promise.all(commands.map(problemOfProgram));
  expect(problems.filter((each) => each !== null)).toEqual([]);
  const planted = [
    '`exchange -- orders --shortfall`',
    'npm run audit -- verify --heads FILE',
    'npm run exchange -- erase --order <id> --yes',
    'npm run operator -- passkeys --json',
    'npm run -s audit -- key --json > key.pem',
  ].flatMap(programCommandsIn);
  expect(await Promise.all(planted.map(problemOfProgram))).toEqual([
    'exchange -- orders --shortfall: it has no command orders',
    'audit -- verify --heads FILE: it does not have --heads',
    'exchange -- erase --order <id> --yes: it needs --reason',
    'operator -- passkeys --json: it needs 1 arguments',
    null,
  ]);
});

it('every admin command that a document, a hint or an alert names exists with its arguments', () => {
  const changes = readFileSync(fileURLToPath(new URL('CHANGELOG.md', ROOT)), 'utf8');
  const commands = [changes, ...documents()].flatMap(commandsIn);
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

it('a table wider than the terminal prints the fields with the longest values below their row', () => {
  const id = (digit: string): string => digit.repeat(36);
  const rows = [
    { id: id('1'), merchant_id: id('2'), status: 'pending', at: '2026-01-31T00:00:00.000Z', note: null },
    { id: id('3'), merchant_id: id('4'), status: 'failed', at: '2026-01-31T00:00:01.000Z', note: null },
  ];
  const printed = (width?: number): readonly string[] => {
    const from = new URL('packages/cli/src/admin/output.mjs', ROOT).href;
    const program = `import { printTable } from '${from}'; printTable(${JSON.stringify(rows)}, '', ${width});`;
    const args = ['--input-type=module', '-e', program];
    return execFileSync(process.execPath, args, { encoding: 'utf8' }).split('\n').slice(0, -1);
  };
  const namesAt = (width?: number): readonly string[] => printed(width)[0]!.split(/ +/);
  expect(printed(60).slice(1)).toEqual([
    `${id('1')}  pending`,
    `    merchant_id=${id('2')}`,
    '    at=2026-01-31T00:00:00.000Z',
    `${id('3')}  failed`,
    `    merchant_id=${id('4')}`,
    '    at=2026-01-31T00:00:01.000Z',
  ]);
  expect([44, 45, 80].map(namesAt)).toEqual([['id'], ['id', 'status'], ['id', 'status', 'at']]);
  expect([namesAt(), printed().length]).toEqual([['id', 'merchant_id', 'status', 'at'], 3]);
});
