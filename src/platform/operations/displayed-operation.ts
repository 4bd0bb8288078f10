import { ApiProperty, Nested, ResourceOf } from '../dto/field.js';
import { nullable, TEXT, TIME, UUID } from '../dto/rules.js';
import type { JsonObject } from '../event-store/port.js';

export const OPERATION_STATUSES = [
  'pending_approval',
  'executed',
  'unconfirmed',
  'rejected',
  'withdrawn',
  'lapsed',
  'failed',
] as const;

class DisplayedSubject {
  @ApiProperty(TEXT) kind!: string;
  @ApiProperty(TEXT) id!: string;
  @ApiProperty(nullable({ type: 'integer' }, 'At which it was requested; null where it did not exist.'))
  revision!: number | null;
}

class DisplayedPerson {
  @ApiProperty(nullable(TEXT, 'Null: the shell of the machine.')) operator_id!: string | null;
  @ApiProperty(TEXT) name!: string;
  @ApiProperty(nullable(TEXT)) role!: string | null;
  @ApiProperty(nullable(TEXT, 'Of the admin key; null for a session of the console.'))
  credential_id!: string | null;

  @ApiProperty(nullable(TEXT)) address!: string | null;
}

class DisplayedFailure {
  @ApiProperty({ type: 'string', description: '`changed`: the subject was no longer at its revision.' })
  code!: string;

  @ApiProperty(TEXT) message!: string;
}

export class DisplayedOperation {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string', examples: ['users.erase'] }) name!: string;
  @ApiProperty({ type: 'string', enum: OPERATION_STATUSES })
  status!: (typeof OPERATION_STATUSES)[number];
  @Nested(() => DisplayedSubject) subject!: DisplayedSubject;
  @ApiProperty({ type: 'object', additionalProperties: true }) parameters!: JsonObject;
  @ApiProperty(TEXT) reason!: string;
  @ApiProperty(nullable(TEXT)) ticket!: string | null;
  @ApiProperty({ type: 'string', enum: ['none', 'required', 'off'] }) approval!: 'none' | 'required' | 'off';
  @Nested(() => DisplayedPerson) requested_by!: DisplayedPerson;
  @ApiProperty(TIME) requested_at!: string;
  @ApiProperty(nullable(TIME)) expires_at!: string | null;
  @Nested(() => DisplayedPerson, { nullable: true }) decided_by!: DisplayedPerson | null;
  @ApiProperty(nullable(TIME)) decided_at!: string | null;
  @ApiProperty(nullable(TEXT)) decision_reason!: string | null;
  @ApiProperty(nullable(TIME)) executed_at!: string | null;
  @Nested(() => DisplayedFailure, { nullable: true }) failure!: DisplayedFailure | null;
}

/** The response to a read of an operation, and the 202 to a write that waits for a second person. */
export class OperationResponse extends ResourceOf('operation', DisplayedOperation) {}
