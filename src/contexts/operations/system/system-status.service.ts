import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Gauge } from 'prom-client';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { comparePositions, EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { BacklogState, ReportsAudit, ReportsBacklog } from '../../../platform/operations/system-report.js';
import { SubscriptionLag } from '../../../platform/projections/subscription-lag.js';
import {
  ChainNodeState,
  ProviderState,
  ScheduleState,
  type HaltedSubscription,
} from '../../../platform/telemetry/process-facts.js';
import { registers } from '../../../platform/telemetry/metrics.js';
import { RunningProcess, SystemTables, type ProcessRow } from './system.store.js';
import { ApiProperty, Many, Nested } from '../../../platform/dto/field.js';
import { COUNT, nullable, TEXT, TIME } from '../../../platform/dto/rules.js';

const MAX_LAG_EVENTS = 1000;

const dueWork = new Gauge({
  name: 'disburse_due_work',
  help: 'Work that is due and that no process performs, by kind of work; webhooks.deliveries are deliveries. Of processes with the role worker. Exact up to 10,000.',
  labelNames: ['work'] as const,
  registers,
});

const dueWorkAge = new Gauge({
  name: 'disburse_due_work_oldest_seconds',
  help: 'How long the oldest of this work has been due, by kind of work; 0 where nothing is.',
  labelNames: ['work'] as const,
  registers,
});

/** Reads the state of the service: processes, subscriptions, backlogs, nodes, providers and the audit. */
@Injectable()
export class SystemStatus implements OnModuleInit {
  private audits: ReturnType<typeof ReportsAudit.discover> = [];
  private reports: ReturnType<typeof ReportsBacklog.discover> = [];

  constructor(
    private readonly discovery: DiscoveryService,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly lag: SubscriptionLag,
    private readonly tables: SystemTables,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.audits = ReportsAudit.discover(this.discovery);
    this.reports = ReportsBacklog.discover(this.discovery);
  }

  async read(): Promise<SystemResponse> {
    const processes = await this.tables.alive();
    const facts = processes.map((each) => each.facts);
    const schedules = facts.flatMap((each) => each.schedules);
    const nodes = byWorkers(processes).flatMap((each) => each.nodes);
    const providers = facts.flatMap((each) => each.providers);
    const [subscriptions, backlogs, audit] = await Promise.all([
      this.subscriptions(facts.flatMap(({ halted }) => halted)),
      this.backlogs(),
      Promise.all(this.audits.map(async ({ value, call }) => [value, await call()] as const)),
    ]);
    return {
      processes: processes.map(({ facts: _, ...each }) => each),
      subscriptions,
      backlogs,
      schedules: select(schedules, toName, isNewer).toSorted(byName),
      nodes: select(nodes, ({ url_host }) => url_host, isWrong),
      providers: select(providers, toName, isWrong),
      audit: { head: null, last_verify: null, ...Object.fromEntries(audit) },
    };
  }

  private async subscriptions(halted: readonly HaltedSubscription[]) {
    const lags = await this.lag.all();
    const late = new Set(lags.filter(({ ageMs }) => ageMs > 0).map(({ position }) => position));
    const counted = await Promise.all(
      [...late].map(async (position) => [position, await this.eventsAfter(position)] as const),
    );
    const events = new Map(counted);
    return lags.map(({ name, position, ageMs }) => {
      // A newer process may have passed the event at which an older one is halted.
      const waits = halted.filter(
        (each) => each.name === name && comparePositions(each.position, position) > 0,
      );
      return {
        name,
        position,
        lag_events: events.get(position) ?? 0,
        lag_seconds: ageMs / 1000,
        halted_at: waits.map(({ at }) => at).sort()[0] ?? null,
      };
    });
  }

  private async eventsAfter(position: string | null): Promise<number> {
    let count = 0;
    for await (const page of logPages(this.store, { after: position })) {
      count += page.length;
      if (count >= MAX_LAG_EVENTS) return MAX_LAG_EVENTS;
    }
    return count;
  }

  /** Measures due work. Only workers measure it, so the metrics are missing if no worker runs. */
  @Periodic({ name: 'gauge of due work', everyMs: 10_000 })
  async measure(): Promise<void> {
    const backlogs = await this.backlogs().finally(() => {
      // Drops the last values of kinds without work, and of kinds that could not be read.
      dueWork.reset();
      dueWorkAge.reset();
    });
    const now = this.clock.now().getTime();
    for (const { name: work, due, oldest_at: oldest } of backlogs) {
      dueWork.set({ work }, due);
      dueWorkAge.set({ work }, oldest === null ? 0 : Math.max(0, now - Date.parse(oldest)) / 1000);
    }
  }

  private async backlogs(): Promise<readonly BacklogState[]> {
    const own = this.reports.map(({ call }) => call());
    const [items, ...reported] = await Promise.all([this.tables.backlogs(), ...own]);
    // Items of a kind that a context reports may only be locks; the context counts the work itself.
    const unreported = items.filter(({ name }) => reported.every((each) => each.name !== name));
    return [...unreported, ...reported].toSorted(byName);
  }
}

/** Returns the facts of workers, which verify payouts, or of all processes if there is no worker. */
function byWorkers(processes: readonly ProcessRow[]): readonly ProcessRow['facts'][] {
  const workers = processes.filter(({ roles }) => roles.includes('worker'));
  return (workers.length > 0 ? workers : processes).map(({ facts }) => facts);
}

interface Named {
  readonly name: string;
}
const toName = ({ name }: Named): string => name;
const byName = (a: Named, b: Named): number => (a.name < b.name ? -1 : 1);
const isWrong = ({ status }: { readonly status: string }): boolean => status !== 'ok';
const isNewer = (each: ScheduleState, known: ScheduleState): boolean =>
  (each.last_at ?? '') > (known.last_at ?? '');

/** Selects the best report per name, because several processes report the same thing. */
function select<T>(
  reported: readonly T[],
  readName: (each: T) => string,
  isBetter: (each: T, known: T) => boolean,
): readonly T[] {
  const selected = new Map<string, T>();
  for (const each of reported) {
    const known = selected.get(readName(each));
    if (known === undefined || isBetter(each, known)) selected.set(readName(each), each);
  }
  return [...selected.values()];
}

const NUMBER = { type: 'number' };
const OBJECT = { type: 'object', additionalProperties: true };

class SubscriptionState {
  @ApiProperty(TEXT) name!: string;

  @ApiProperty(nullable(TEXT, 'Of the last event that it has handled.')) position!: string | null;

  @ApiProperty({ ...COUNT, description: 'Events after that position, counted up to 1000.' })
  lag_events!: number;

  @ApiProperty({ ...NUMBER, description: 'Age of the oldest of them.' }) lag_seconds!: number;

  @ApiProperty(
    nullable(TIME, 'Since when it waits at an event: a forged one, or one of a type that no process knows.'),
  )
  halted_at!: string | null;
}

class AuditState {
  @ApiProperty(nullable(OBJECT, 'The newest signed head, as of GET /audit/head.'))
  head!: object | null;

  @ApiProperty(
    nullable(
      OBJECT,
      'The last `npm run audit -- verify`: `at`, `outcome` (in_order, wrong, incomplete), `read_to`.',
    ),
  )
  last_verify!: object | null;
}

export class SystemResponse {
  @Many(() => RunningProcess) processes!: readonly RunningProcess[];
  @Many(() => SubscriptionState) subscriptions!: readonly SubscriptionState[];
  @Many(() => BacklogState) backlogs!: readonly BacklogState[];
  @Many(() => ScheduleState) schedules!: readonly ScheduleState[];
  @Many(() => ChainNodeState) nodes!: readonly ChainNodeState[];
  @Many(() => ProviderState) providers!: readonly ProviderState[];
  @Nested(() => AuditState) audit!: AuditState;
}
