import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { programNames } from '../../src/cli.js';
import { systemProgram } from '../support/programs/system-program.js';

const FOLDER = 'deploy/prometheus';
const TESTS = ['rules.test.yaml', 'objectives.test.yaml'];
const RULES = readFileSync(join(FOLDER, 'rules.yaml'), 'utf8');
const RUNBOOKS = readFileSync('docs/runbooks.md', 'utf8');
/** .ci/run extracts this program, because Debian's package `prometheus` would start a server. */
const promtool = systemProgram('promtool');
const run = promisify(execFile);

/** Splits the rules into the texts of the alerts, each from its name. */
const alerts = [...RULES.matchAll(/^ {6}- alert: (\S+)$/gm)].map(({ index, 1: name }) => {
  const end = RULES.slice(index + 1).search(/^(?: {6}- |\n| {2}- | {2}#)/m);
  return { name: name!, text: RULES.slice(index, end === -1 ? undefined : index + 1 + end) };
});

describe('the rules of Prometheus', () => {
  const withPromtool = promtool === null ? it.skip : it;

  withPromtool('are valid and pass every test case', async () => {
    await run(promtool!, ['check', 'rules', join(FOLDER, 'rules.yaml')]);
    await run(promtool!, ['test', 'rules', ...TESTS.map((file) => join(FOLDER, file))]);
  });

  it('have for each alert a test case in which the alert fires and one in which it does not', () => {
    const text = TESTS.map((file) => readFileSync(join(FOLDER, file), 'utf8')).join('\n');
    for (const { name } of alerts) {
      const firing = text.match(new RegExp(`alertname: ${name}\n +exp_alerts:`, 'g')) ?? [];
      const calm = text.match(new RegExp(`alertname: ${name} \\}`, 'g')) ?? [];
      expect([name, firing.length > 0, calm.length > 0]).toEqual([name, true, true]);
    }
  });
});

describe('the runbooks', () => {
  it('have a section for each alert under the anchor that the alert names', () => {
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

  it('contain only commands that run a program of the project or call a health check', () => {
    const lines = [...RUNBOOKS.matchAll(/^```\n(.*?)^```$/gms)].flatMap(([, block]) =>
      block!.trim().split('\n'),
    );
    expect(lines.length).toBeGreaterThan(15);
    const programs = ['admin', ...programNames()].join('|');
    const known = new RegExp(
      `^(npm run (-s )?(${programs}) -- |curl -s http://PROCESS/health/(live|ready)$)`,
    );
    expect(lines.filter((line) => !known.test(line))).toEqual([]);
  });
});
