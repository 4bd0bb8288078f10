import { ApiProperty, Many, Nested } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';

const STRING = { type: 'string' };
const NUMBER = { type: 'number' };

export class RunningProcess {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(STRING) version!: string;
  @ApiProperty({ type: 'array', items: STRING }) roles!: readonly string[];
  @ApiProperty(TIME) started_at!: string;

  @ApiProperty({ ...NUMBER, description: "How far its clock is ahead of the database's; negative: behind." })
  clock_skew_ms!: number;
}

class SubscriptionState {
  @ApiProperty(STRING) name!: string;

  @ApiProperty({ ...STRING, nullable: true, description: 'Of the last event that it has handled.' })
  position!: string | null;

  @ApiProperty({ ...COUNT, description: 'Events after that position, counted up to 1000.' })
  lag_events!: number;

  @ApiProperty({ ...NUMBER, description: 'Age of the oldest of them.' }) lag_seconds!: number;

  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Since when it waits at an event: a forged one, or one of a type that no process knows.',
  })
  halted_at!: string | null;
}

class BacklogState {
  @ApiProperty({ ...STRING, description: 'The kind of work.' }) name!: string;
  @ApiProperty({ ...COUNT, description: 'Counted up to 10,000.' }) due!: number;
  @ApiProperty({ ...TIME, nullable: true }) oldest_at!: string | null;
}

class ScheduleState {
  @ApiProperty(STRING) name!: string;
  @ApiProperty(COUNT) every_ms!: number;
  @ApiProperty({ ...TIME, nullable: true }) last_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true }) next_at!: string | null;
}

class ChainNodeState {
  @ApiProperty({ ...STRING, description: 'Host and port of its URL.' }) url_host!: string;

  @ApiProperty({ ...COUNT, nullable: true, description: 'The height of its newest block.' })
  head!: number | null;

  @ApiProperty({ type: 'integer', nullable: true }) head_age_seconds!: number | null;
  @ApiProperty({ ...STRING, enum: ['ok', 'unavailable'] }) status!: string;
}

class ProviderState {
  @ApiProperty({ ...STRING, examples: ['sms:twilio'], description: 'Its port and its name.' }) name!: string;

  @ApiProperty({
    ...STRING,
    enum: ['ok', 'unavailable', 'missing'],
    description: '`unavailable`: the last call of a process failed; `missing`: none is configured.',
  })
  status!: string;
}

class AuditSystemReport {
  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description: 'The newest signed head, as of GET /audit/head.',
  })
  head!: object | null;

  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description:
      'The last `npm run audit -- verify`: `at`, `outcome` (in_order, wrong, incomplete), `read_to`.',
  })
  last_verify!: object | null;
}

export class SystemResponse {
  @Many(() => RunningProcess) processes!: readonly RunningProcess[];
  @Many(() => SubscriptionState) subscriptions!: readonly SubscriptionState[];
  @Many(() => BacklogState) backlogs!: readonly BacklogState[];
  @Many(() => ScheduleState) schedules!: readonly ScheduleState[];
  @Many(() => ChainNodeState) nodes!: readonly ChainNodeState[];
  @Many(() => ProviderState) providers!: readonly ProviderState[];
  @Nested(() => AuditSystemReport) audit!: AuditSystemReport;
}
