import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { programNames, programOf } from '../../src/cli.js';
import { specFolder } from '../support/run-folder.js';
import { systemProgram } from '../support/programs/system-program.js';

const FOLDER = 'deploy/prometheus';
const TESTS = ['rules.test.yaml', 'objectives.test.yaml'];
const RULES = readFileSync(join(FOLDER, 'rules.yaml'), 'utf8');
const RUNBOOKS = readFileSync('docs/runbooks.md', 'utf8');
/** Of Debian's package `prometheus`, which would start a server: .ci/run takes this program out of it. */
const promtool = systemProgram('promtool');
const run = promisify(execFile);

/** A rule as text, from its name on. */
interface Rule {
  readonly name: string;
  readonly from: number;
  readonly text: string;
}

const rules: readonly Rule[] = [...RULES.matchAll(/^ {6}- (?:alert|record): (\S+)$/gm)].map(
  ({ index, 1: name }) => {
    const end = RULES.slice(index + 1).search(/^(?: {6}- |\n| {2}- | {2}#)/m);
    return { name: name!, from: index, text: RULES.slice(index, end === -1 ? undefined : index + 1 + end) };
  },
);
const alerts = rules.filter(({ text }) => text.startsWith('      - alert:'));

/** Of rules, or a case. */
const GROUP = /^(?= {2}- name: )/m;

/** The part of a rule that decides: its expression and how long that has to hold. */
const DECISIVE = /expr:(?: [^|\n][^\n]*| \|\n(?: {10}[^\n]*\n)+)|\bfor: \w+/g;
/** A threshold, a bucket or a window; not a digit of a name, a status or a label. */
const NUMBER =
  /(?<=le=~")\d+(?=\|)|(?<=\[)\d+(?=[smhd]\])|(?<=for: )\d+|(?<![\w."])\d+(?:\.\d+)?(?![\w."]|\.\.)/g;

interface Mutation {
  readonly what: string;
  readonly rule: Rule;
  /** The whole file; that of {@link RULES} where nothing is changed. */
  readonly mutated: string;
}

/** A tenth to either side of a threshold, half and twice a window; 0 and 1 become each other. */
function replacementsOf(number: string, before: string): readonly string[] {
  const value = Number(number);
  if (value === 0 || /== ?$/.test(before)) return [value === 0 ? '1' : '0'];
  if (/\[$|for: $|le=~"$/.test(before))
    return /le=~"$/.test(before) ? ['2.5'] : [`${value * 2}`, `${value / 2}`];
  return [value * 1.1, value * 0.9].map((each) => String(Number(each.toPrecision(6))));
}

function mutationsOf(rule: Rule): readonly Mutation[] {
  return [...rule.text.matchAll(DECISIVE)].flatMap(({ 0: part, index: at }) =>
    [...part.matchAll(NUMBER)].flatMap(({ 0: number, index }) => {
      const place = rule.from + at + index;
      return replacementsOf(number, RULES.slice(place - 5, place)).map((replacement) => ({
        what: `${rule.name} …${part.slice(Math.max(0, index - 30), index)}[${number} → ${replacement}]`,
        rule,
        // Half of an odd number of units is no duration.
        mutated: `${RULES.slice(0, place)}${halved(replacement, RULES.slice(place + number.length))}`,
      }));
    }),
  );
}

/** `0.5` and what follows as a duration that Prometheus reads. */
function halved(number: string, rest: string): string {
  const smaller = { m: ['s', 60], h: ['m', 60], d: ['h', 24] } as const;
  const [unit] = rest;
  if (!number.includes('.') || !/^[mhd](\]|\n)/.test(rest)) return `${number}${rest}`;
  const [lower, factor] = smaller[unit as keyof typeof smaller];
  return `${Number(number) * factor}${lower}${rest.slice(1)}`;
}

/** What a rule is evaluated with: of the causes, itself alone; of the objectives, the groups before it. */
function groupsOf({ from, text }: Rule, rulesText: string): string {
  const [head, ...groups] = rulesText.split(GROUP);
  const causes = groups.findIndex((group) => group.startsWith('  - name: disburse-causes\n'));
  if (from < RULES.indexOf('  - name: disburse-causes\n'))
    return `${head}${groups.slice(0, causes).join('')}`;
  const [group] = groups[causes]!.split(/^(?= {6}- alert: )/m);
  const [own] = groups[causes]!.slice(group!.length)
    .split(/^(?= {6}- alert: )/m)
    .filter((each) => each.startsWith(text.split('\n')[0]!));
  return `${head}${group}${own}`;
}

/** The cases of a rule alone: a mutated rule is red in its own. */
function casesOf(rule: Rule): readonly (readonly [file: string, text: string])[] {
  // Recordings have a file of their own, but for the budgets: alerts compare with them.
  const isBudget = rule.name === 'disburse:slo_budget:ratio';
  const alert = isBudget ? 'ErrorBudgetBurnsFast' : alerts.includes(rule) ? rule.name : null;
  const isOfRule = (text: string): boolean =>
    alert === null
      ? text.includes('disburse:slo_misses:ratio')
      : new RegExp(`alertname: ${alert}\\b`).test(text);
  return (alert === null ? ['objectives.test.yaml'] : TESTS).flatMap((file) => {
    const [head, ...cases] = readFileSync(join(FOLDER, file), 'utf8').split(GROUP);
    const own = cases.filter(isOfRule);
    return own.length === 0 ? [] : [[file, `${head}${own.join('')}`] as const];
  });
}

/** Null when all cases pass, else what promtool prints. */
async function failure(folder: string, files: readonly string[]): Promise<string | null> {
  return run(promtool!, ['test', 'rules', ...files.map((file) => join(folder, file))]).then(
    () => null,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
  );
}

describe('the rules of Prometheus', () => {
  const withPromtool = promtool === null ? it.skip : it;

  withPromtool('are valid, and every case of them passes', async () => {
    await run(promtool!, ['check', 'rules', join(FOLDER, 'rules.yaml')]);
    expect(await failure(FOLDER, TESTS)).toBeNull();
  });

  it('have a case for each alert that fires, and one that does not', () => {
    const text = TESTS.map((file) => readFileSync(join(FOLDER, file), 'utf8')).join('\n');
    for (const { name } of alerts) {
      const firing = text.match(new RegExp(`alertname: ${name}\n +exp_alerts:`, 'g')) ?? [];
      const calm = text.match(new RegExp(`alertname: ${name} \\}`, 'g')) ?? [];
      expect([name, firing.length > 0, calm.length > 0]).toEqual([name, true, true]);
    }
  });

  withPromtool(
    'are red with any threshold, window or delay changed',
    async () => {
      const unchanged = rules.map((rule) => ({ what: `${rule.name} unchanged`, rule, mutated: RULES }));
      const mutations = rules.flatMap(mutationsOf);
      expect(mutations.length).toBeGreaterThan(100);
      const root = specFolder('alerts');
      const wrong: string[] = [];
      const queue = [...unchanged, ...mutations].map((mutation, n) => ({
        mutation,
        folder: join(root, String(n)),
      }));
      const work = async (): Promise<void> => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          const { mutation, folder } = next;
          mkdirSync(folder);
          writeFileSync(join(folder, 'rules.yaml'), groupsOf(mutation.rule, mutation.mutated));
          const cases = casesOf(mutation.rule);
          for (const [file, text] of cases) writeFileSync(join(folder, file), text);
          const red = await failure(
            folder,
            cases.map(([file]) => file),
          );
          // Rules that cannot be read would be red for nothing.
          const isRed = red !== null && /\bgot: ?/.test(red);
          if (isRed !== (mutation.mutated !== RULES)) wrong.push(`${mutation.what}: ${red ?? 'passes'}`);
        }
      };
      await Promise.all([work(), work()]);
      expect(wrong).toEqual([]);
    },
    600_000,
  );
});

describe('the runbooks', () => {
  it('have a section for each alert, under the anchor that it names', () => {
    const anchors = [...RUNBOOKS.matchAll(/^## (\S+)$/gm)].map(([, heading]) => heading!);
    expect(alerts.length).toBeGreaterThan(15);
    expect(anchors).toEqual(alerts.map(({ name }) => name));
    for (const { name, text } of alerts) {
      expect(text).toContain(`runbook: docs/runbooks.md#${name.toLowerCase()}\n`);
      expect(text).toMatch(/severity: (page|ticket)/);
      const [severity] = /page|ticket/.exec(text.slice(text.indexOf('severity')))!;
      expect(RUNBOOKS).toMatch(
        new RegExp(`^## ${name}\n\n${severity === 'page' ? 'Page' : 'Ticket'}\\. `, 'm'),
      );
    }
  });

  it('name commands that exist, with options that they have', async () => {
    const lines = [...RUNBOOKS.matchAll(/^```\n(.*?)^```$/gms)].flatMap(([, block]) =>
      block!.trim().split('\n'),
    );
    expect(lines.length).toBeGreaterThan(15);
    const unknown = await Promise.all(lines.map(async (line) => ((await exists(line)) ? [] : [line])));
    expect(unknown.flat()).toEqual([]);
    expect(await exists('npm run payout -- lost')).toBe(false);
    expect(await exists('npm run payout -- stuck --soon')).toBe(false);
    expect(await exists('npm run subscriptions -- let-pass TYPE')).toBe(false);
    expect(await exists('npm run delivery -- show')).toBe(false);
    expect(await exists('curl -s http://PROCESS/health')).toBe(false);
  });
});

/** Whether the command is one that the project has: a health check, or a command of a program with its arguments. */
async function exists(line: string): Promise<boolean> {
  if (/^curl -s http:\/\/PROCESS\/health\/(live|ready)$/.test(line)) return true;
  const [, program = '', rest = ''] = /^npm run (?:-s )?([\w-]+) -- (.*)$/.exec(line) ?? [];
  if (!programNames().includes(program)) return false;
  const words = rest.match(/"[^"]*"|\S+/g) ?? [];
  let command: Command = await programOf(program, { env: {}, print: () => undefined, exit: () => undefined });
  for (let next = child(command, words[0]); next !== undefined; next = child(command, words[0])) {
    command = next;
    words.shift();
  }
  let ran = false;
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  command.action(() => void (ran = true));
  return command.parseAsync(words, { from: 'user' }).then(
    () => ran,
    () => false,
  );
}

function child(command: Command, name: string | undefined): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}
