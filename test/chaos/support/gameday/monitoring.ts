import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ready } from '../../../../bench/support/children.js';
import type { BenchEnvironment } from '../../../../bench/support/environment.js';
import { freePort } from '../../../../sandbox/processes.js';
import { systemProgram } from '../../../support/programs/system-program.js';

const FOLDER = 'deploy/prometheus';
const LOOPBACK = '127.0.0.1';

/**
 * Starts Prometheus with the project's rules, and Alertmanager with its routes, which lead to `pagerUrl`. `targets` are
 * scraped, as `host:port`. The environment stops both.
 */
export async function startMonitoring(
  environment: BenchEnvironment,
  targets: readonly string[],
  pagerUrl: string,
): Promise<void> {
  const [prometheus, alertmanager] = ['prometheus', 'prometheus-alertmanager'].map((name) => {
    const program = systemProgram(name);
    if (program === null) throw new Error(`install Debian's packages prometheus and prometheus-alertmanager`);
    return program;
  });
  const dir = environment.folder('monitoring');
  mkdirSync(dir, { recursive: true });
  const routes = join(dir, 'alertmanager.yaml');
  const example = readFileSync(join(FOLDER, 'alertmanager.yaml'), 'utf8');
  writeFileSync(routes, example.replaceAll('http://127.0.0.1:8080', pagerUrl));
  const alerts = `${LOOPBACK}:${await freePort()}`;
  const alerting = environment.children.start({
    name: 'alertmanager',
    command: alertmanager!,
    args: [
      `--config.file=${routes}`,
      `--storage.path=${join(dir, 'alerts')}`,
      `--web.listen-address=${alerts}`,
      '--cluster.listen-address=',
    ],
    env: {},
    dir,
  });
  await ready(alerting, `http://${alerts}/-/ready`);
  const config = join(dir, 'prometheus.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      global: { evaluation_interval: '15s' },
      scrape_configs: [{ job_name: 'disburse', scrape_interval: '15s', static_configs: [{ targets }] }],
      rule_files: [resolve(FOLDER, 'rules.yaml')],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [alerts] }] }] },
    }),
  );
  const metrics = `${LOOPBACK}:${await freePort()}`;
  const scraping = environment.children.start({
    name: 'prometheus',
    command: prometheus!,
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(dir, 'metrics')}`,
      `--web.listen-address=${metrics}`,
    ],
    env: {},
    dir,
  });
  await ready(scraping, `http://${metrics}/-/ready`);
}
