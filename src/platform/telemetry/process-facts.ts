import { Injectable } from '@nestjs/common';
import { withTimeout } from '../timeout.js';

/** Periodic work of a process; times are ISO 8601, null before the first run. */
export interface Schedule {
  readonly name: string;
  readonly every_ms: number;
  readonly last_at: string | null;
  readonly next_at: string | null;
}

/** A subscription that waits at an event since `at` (ISO 8601). */
export interface HaltedSubscription {
  readonly name: string;
  /** The position of the event. */
  readonly position: string;
  readonly at: string;
}

/** A node of the chain, as the process sees it. The host alone: paths and credentials of node URLs are secrets. */
export interface ChainNodeFacts {
  readonly url_host: string;
  readonly head: number | null;
  readonly head_age_seconds: number | null;
  readonly status: 'ok' | 'unavailable';
}

/** `missing`: none is configured. */
export interface ProviderFacts {
  readonly name: string;
  readonly status: 'ok' | 'unavailable' | 'missing';
}

/** The facts that a process reports for `GET /admin/v1/system` (admin-api.md 3). */
export interface ReportedFacts {
  readonly schedules: readonly Schedule[];
  readonly halted: readonly HaltedSubscription[];
  readonly nodes: readonly ChainNodeFacts[];
  readonly providers: readonly ProviderFacts[];
}

type Kind = keyof ReportedFacts;
type Read<K extends Kind> = () => ReportedFacts[K] | Promise<ReportedFacts[K]>;

/** The timeout of a source; a slower one is left out. */
const READ_TIMEOUT_MS = 2000;
/** The largest number of facts of one kind. */
const MAX_REPORTED = 200;

/** Parts of the process register what they know of themselves; the heartbeat of the process reports it. */
@Injectable()
export class ProcessFacts {
  private readonly sources: { [K in Kind]: Read<K>[] } = {
    schedules: [],
    halted: [],
    nodes: [],
    providers: [],
  };

  register<K extends Kind>(kind: K, read: Read<K>): void {
    (this.sources[kind] as Read<K>[]).push(read);
  }

  async read(): Promise<ReportedFacts> {
    const [schedules, halted, nodes, providers] = await Promise.all([
      this.of('schedules'),
      this.of('halted'),
      this.of('nodes'),
      this.of('providers'),
    ]);
    return { schedules, halted, nodes, providers };
  }

  private async of<K extends Kind>(kind: K): Promise<ReportedFacts[K]> {
    const nothing = [] as unknown as ReportedFacts[K];
    const reads = (this.sources[kind] as Read<K>[]).map((read) =>
      withTimeout(READ_TIMEOUT_MS, Promise.resolve().then(read), () => nothing).catch(() => nothing),
    );
    return (await Promise.all(reads)).flat().slice(0, MAX_REPORTED) as unknown as ReportedFacts[K];
  }
}
