import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { specFolder } from '../support/run-folder.js';
import { systemProgram } from '../support/programs/system-program.js';

const FOLDER = 'deploy/grafana';
const promtool = systemProgram('promtool');

it('deploy/grafana contains exactly the files that npm run dashboards writes', () => {
  const folder = specFolder('grafana');
  execFileSync(process.execPath, ['scripts/dashboards.mjs', folder]);
  expect(readdirSync(FOLDER)).toEqual(readdirSync(folder));
  for (const name of readdirSync(folder))
    expect(readFileSync(join(FOLDER, name), 'utf8')).toBe(readFileSync(join(folder, name), 'utf8'));
});

(promtool === null ? it.skip : it)('every query of a dashboard is valid PromQL', () => {
  const queries = readdirSync(FOLDER).flatMap((name) => {
    const { panels } = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as {
      panels: { targets: { expr: string }[] }[];
    };
    return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  });
  expect(queries.length).toBeGreaterThan(60);
  const check = (all: readonly string[]): string => {
    const file = join(specFolder('dashboards'), 'rules.yaml');
    const rules = all.map((expr, n) => ({
      record: `query:${n}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboards', rules }] }));
    return execFileSync(promtool!, ['check', 'rules', file], { encoding: 'utf8', stdio: 'pipe' });
  };
  expect(check(queries)).toContain(`SUCCESS: ${queries.length} rules found`);
  expect(() => check([...queries, 'sum by (status'])).toThrow('parse error');
});
