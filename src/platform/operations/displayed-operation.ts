import { ApiProperty, Nested, ResourceOf } from '../dto/field.js';
import { TIME, UUID } from '../dto/rules.js';
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
const NULLABLE_TEXT = { type: 'string', nullable: true };
const NULLABLE_TIME = { ...TIME, nullable: true };

class DisplayedSubject {
  @ApiProperty({ type: 'string' }) kind!: string;
  @ApiProperty({ type: 'string' }) id!: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'At which it was requested; null where it did not exist.',
  })
  revision!: number | null;
}

class DisplayedPerson {
  @ApiProperty({ ...NULLABLE_TEXT, description: 'Null: the shell of the machine.' })
  operator_id!: string | null;

  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty(NULLABLE_TEXT) role!: string | null;
  @ApiProperty({ ...NULLABLE_TEXT, description: 'Of the admin key; null for a session of the console.' })
  credential_id!: string | null;

  @ApiProperty(NULLABLE_TEXT) address!: string | null;
}

class DisplayedFailure {
  @ApiProperty({ type: 'string', description: '`changed`: the subject was no longer at its revision.' })
  code!: string;

  @ApiProperty({ type: 'string' }) message!: string;
}

export class DisplayedOperation {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string', examples: ['users.erase'] }) name!: string;
  @ApiProperty({ type: 'string', enum: OPERATION_STATUSES })
  status!: (typeof OPERATION_STATUSES)[number];
  @Nested(() => DisplayedSubject) subject!: DisplayedSubject;
  @ApiProperty({ type: 'object', additionalProperties: true }) parameters!: JsonObject;
  @ApiProperty({ type: 'string' }) reason!: string;
  @ApiProperty(NULLABLE_TEXT) ticket!: string | null;
  @ApiProperty({ type: 'string', enum: ['none', 'required', 'off'] }) approval!: 'none' | 'required' | 'off';
  @Nested(() => DisplayedPerson) requested_by!: DisplayedPerson;
  @ApiProperty(TIME) requested_at!: string;
  @ApiProperty(NULLABLE_TIME) expires_at!: string | null;
  @Nested(() => DisplayedPerson, { nullable: true }) decided_by!: DisplayedPerson | null;
  @ApiProperty(NULLABLE_TIME) decided_at!: string | null;
  @ApiProperty(NULLABLE_TEXT) decision_reason!: string | null;
  @ApiProperty(NULLABLE_TIME) executed_at!: string | null;
  @Nested(() => DisplayedFailure, { nullable: true }) failure!: DisplayedFailure | null;
}

/** The response of a read, and the 202 of a write that waits for a second person. */
export class OperationResponse extends ResourceOf('operation', DisplayedOperation) {}
