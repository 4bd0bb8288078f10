import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../sandbox/processes.js';
import {
  budgetFaults,
  chainFaults,
  processFaults,
  databaseFaults,
} from '../support/gameday/outage-faults.js';
import { diskFaults, queueFaults, tamperingFaults } from '../support/gameday/data-faults.js';
import type { Fault, Faults } from '../support/gameday/fault.js';
import type { Stage } from '../support/gameday/stage.js';
import { seconds, type Suite, type SuiteOptions } from '../support/suite.js';

const GROUPS: readonly (() => Faults)[] = [
  processFaults,
  chainFaults,
  databaseFaults,
  queueFaults,
  tamperingFaults,
  diskFaults,
  budgetFaults,
];
/** The maximum time until an alert arrives, and the wait for alerts that must not follow. */
const ALERT_MS = 120_000;
/** Alertmanager sends resolved alerts with the next group, half a minute later. */
const RESOLVED_MS = 180_000;
const POLL_MS = 500;

/**
 * Runs Prometheus and Alertmanager next to installations with one fault after another. Only the right alert
 * arrives, and its runbook ends it. `--only N` plays the Nth fault alone.
 */
export const gameday: Suite = async (options) => {
  for (let round = 1; round <= options.count; round += 1) {
    let numbered = 0;
    const groups = GROUPS.map((make) => {
      const { faults, ...group } = make();
      const all = faults.map((fault) => ({ fault, number: (numbered += 1) }));
      const { only } = options.sizes ?? {};
      return { ...group, faults: all.filter(({ number }) => only === undefined || only === number) };
    });
    await Promise.all(
      groups
        .filter(({ faults }) => faults.length > 0)
        .map((group) =>
          play(group, options).catch((error: Error) =>
            options.verdict.expect(false, 'the group ends', error.stack ?? error.message),
          ),
        ),
    );
  }
};

interface Group extends Omit<Faults, 'faults'> {
  readonly faults: readonly { readonly fault: Fault; readonly number: number }[];
}

async function play({ start, prepare, faults }: Group, options: SuiteOptions): Promise<void> {
  const stage = await start();
  try {
    await prepare?.(stage);
    for (const { fault, number } of faults) await playFault(number, fault, stage, options);
  } finally {
    await stage.close();
  }
}

async function playFault(
  number: number,
  { name, alerts, begin, end, resolvedMs: maxMs = RESOLVED_MS }: Fault,
  stage: Stage,
  { say, verdict }: SuiteOptions,
): Promise<void> {
  const { pager } = stage;
  const arrived = new Set<string>();
  const note = (): void => pager.alerts.forEach((each) => arrived.add(each));
  const missing = (): boolean => alerts.some((each) => !arrived.has(each));
  verdict.none(`no alert before: ${name}`, pager.details);
  await begin(stage);
  const began = performance.now();
  let alertMs = 0;
  await until(() => {
    note();
    if (alertMs === 0 && !missing()) alertMs = performance.now() - began;
    return performance.now() - began > ALERT_MS;
  }, ALERT_MS + POLL_MS);
  verdict.expect(!missing(), `${alerts.join()} within two minutes: ${name}`, [...arrived]);
  verdict.none(`no other alert: ${name}`, pager.details, ({ alertname }) => !alerts.includes(alertname!));
  const endedAt = performance.now();
  await end(stage);
  // Alerts of an error budget that the fault has used up may arrive and last.
  const own = () => pager.details.filter(({ alertname }) => alerts.includes(alertname!));
  while (own().length > 0 && performance.now() - endedAt < maxMs) await sleep(POLL_MS);
  const resolvedMs = performance.now() - endedAt;
  verdict.none(`resolved by its runbook: ${name}`, own());
  say(
    `${String(number).padStart(3)}  ${name}: ${[...arrived].join()} after ${seconds(alertMs)}, resolved ${seconds(resolvedMs)} after its end`,
  );
}
