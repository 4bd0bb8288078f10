import { Injectable } from '@nestjs/common';
import { ApiProperty } from '../dto/field.js';
import { COUNT, TIME } from '../dto/rules.js';
import { withTimeout } from '../timeout.js';

/** The periodic work of a process. Times are ISO 8601, or null before the first run. */
export class ScheduleState {
  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty(COUNT) every_ms!: number;
  @ApiProperty({ ...TIME, nullable: true }) last_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true }) next_at!: string | null;
}

/** A subscription that has waited at the event with `position` since the time `at` (ISO 8601). */
export interface HaltedSubscription {
  readonly name: string;
  readonly position: string;
  readonly at: string;
}

/** The state of a chain node, with only the host of its URL, because paths and credentials are secrets. */
export class ChainNodeState {
  @ApiProperty({ type: 'string', description: 'Host and port of its URL.' }) url_host!: string;

  @ApiProperty({ ...COUNT, nullable: true, description: 'The height of its newest block.' })
  head!: number | null;

  @ApiProperty({ type: 'integer', nullable: true }) head_age_seconds!: number | null;
  @ApiProperty({ type: 'string', enum: ['ok', 'unavailable'] }) status!: string;
}

export class ProviderState {
  @ApiProperty({ type: 'string', examples: ['sms:twilio'], description: 'Its port and its name.' })
  name!: string;

  @ApiProperty({
    type: 'string',
    enum: ['ok', 'unavailable', 'missing'],
    description: '`unavailable`: the last call of a process failed; `missing`: none is configured.',
  })
  status!: string;
}

/** The facts that a process reports for `GET /admin/v1/system` (admin-api.md 3). */
export interface ReportedFacts {
  readonly schedules: readonly ScheduleState[];
  readonly halted: readonly HaltedSubscription[];
  readonly nodes: readonly ChainNodeState[];
  readonly providers: readonly ProviderState[];
}

type Kind = keyof ReportedFacts;
type Read<K extends Kind> = () => ReportedFacts[K] | Promise<ReportedFacts[K]>;

/** The timeout of a source, after which its facts are omitted. */
const READ_TIMEOUT_MS = 2000;

/** The registered sources of facts about the process, which its heartbeat reports. */
@Injectable()
export class ProcessFacts {
  private readonly sources: (readonly [kind: Kind, read: Read<Kind>])[] = [];

  register<K extends Kind>(kind: K, read: Read<K>): void {
    this.sources.push([kind, read]);
  }

  async read(): Promise<ReportedFacts> {
    const facts: Record<Kind, object[]> = { schedules: [], halted: [], nodes: [], providers: [] };
    for (const [kind, read] of this.sources) {
      // A source that fails is omitted: the heartbeat continues.
      const found = (async () => read())().catch(() => []);
      facts[kind].push(...(await withTimeout(READ_TIMEOUT_MS, found, () => [])));
    }
    return facts as unknown as ReportedFacts;
  }
}
