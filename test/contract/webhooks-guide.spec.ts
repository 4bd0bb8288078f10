import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { readConfig } from '../../src/composition.js';
import { webhooksConfig } from '../../src/contexts/webhooks/webhooks.config.js';
import { registry } from '../../src/platform/telemetry/metrics.js';
import type { DisableCause } from '../../src/contexts/webhooks/webhooks.contract.js';
import { EVENT_TYPES } from '../../src/contexts/webhooks/endpoints/event-types.js';
import type { FailurePhase } from '../../src/platform/outbound/request-failure.js';
import { builtDocument } from '../../src/platform/http/docs.controller.js';
import { DELIVERY_STATUSES } from '../../src/contexts/webhooks/deliveries/retry.js';
import { COUNTED } from '../../src/contexts/webhooks/endpoints/endpoint-stats.view.js';

const PHASES: Readonly<Record<FailurePhase, true>> = {
  address: true,
  dns: true,
  connect: true,
  tls: true,
  send: true,
  response: true,
  timeout: true,
};
const METHODS = ['get', 'post', 'patch', 'delete'];
const CAUSES: Readonly<Record<DisableCause, true>> = { merchant: true, gone: true, failing: true };

const guide = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const prose = guide.replaceAll(/\s+/g, ' ');
/** Each term in code type in the first column of any table. */
const rows = [...guide.matchAll(/^\| `([^|]+)` \|/gm)].flatMap((match) => match[1]!.split(/`, `/));
const config = readConfig({});

describe('docs/webhooks.md', () => {
  it.each([
    ['event type', EVENT_TYPES],
    ['error class', Object.keys(PHASES)],
    ['status of a delivery', DELIVERY_STATUSES],
    ['setting', Object.values(webhooksConfig.settings).map(({ name }) => name)],
  ])('has a row for every %s', (_what, names) => {
    expect(rows).toEqual(expect.arrayContaining([...names]));
  });

  it('names every cause that disables an endpoint, and each metric and operation of webhooks', async () => {
    for (const cause of Object.keys(CAUSES)) expect(guide).toContain(`\`${cause}\``);
    const metrics = (await registry.getMetricsAsJSON()).map(({ name }) => name);
    for (const name of metrics.filter((each) => each.includes('webhook'))) expect(guide).toContain(name);
    const { paths } = (await builtDocument('production')) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
    };
    const calls = Object.entries(paths).flatMap(([path, operations]) =>
      path.startsWith('/merchants/v1/webhook_')
        ? METHODS.filter((method) => method in operations).map(
            (method) => `\`${method.toUpperCase()} ${path.replace('/merchants/v1', '')}\``,
          )
        : [],
    );
    expect(calls.length).toBeGreaterThan(10);
    for (const call of calls) expect(guide).toContain(call);
  });

  it('states the default retry schedule', () => {
    const delays = config.webhookRetryScheduleSeconds;
    const since = delays.map((_delay, index) => delays.slice(0, index + 1).reduce((sum, each) => sum + each));
    const table = delays.map((delay, index) => `| ${index + 2} | ${span(delay)} | ${span(since[index]!)} |`);
    expect(guide).toContain(table.join('\n'));
    expect(guide).toContain(`| \`WEBHOOK_RETRY_SCHEDULE_SECONDS\` | ${delays.join(',')} |`);
  });

  it('states the defaults of automatic disabling and the timeout, and the maximum of counted deliveries', () => {
    expect(prose).toContain(`the newest ${COUNTED.toLocaleString('en-US')} deliveries`);
    const { webhookDisableFailures, webhookDisableWindowSeconds, webhookDisableSpanSeconds } = config;
    expect(prose).toContain(
      `**${webhookDisableFailures} failed attempts within ${webhookDisableWindowSeconds / 3600} hours`,
    );
    expect(prose).toContain(`at least ${webhookDisableSpanSeconds / 60} minutes apart**`);
    expect(guide).toContain(`| \`WEBHOOK_TIMEOUT_MS\` | ${config.webhookTimeoutMs} |`);
  });
});

/** `5 s`, `35 min`, `2 h 35 min`, `1 day 7 h 35 min`, rounded to minutes above an hour. */
function span(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days === 1 && hours === 0 && minutes % 60 === 0) return '24 h';
  const parts = [
    ...(days > 0 ? [`${days} ${days === 1 ? 'day' : 'days'}`] : []),
    ...(hours > 0 ? [`${hours} h`] : []),
    ...(minutes % 60 > 0 ? [`${minutes % 60} min`] : []),
  ];
  return parts.join(' ');
}
