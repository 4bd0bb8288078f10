import { ApiProperty, Field, Many, Nested } from '../../../platform/dto/field.js';
import { oneOf, text, TIME, uuid, UUID } from '../../../platform/dto/rules.js';
import { reasonRule } from '../../../platform/http/admin/writes.js';
import { Filter, PageParameters } from '../../../platform/http/page-query.js';

const STATUSES = ['pending_approval', 'executed', 'unconfirmed', 'rejected', 'withdrawn', 'lapsed', 'failed'];
const NULLABLE_TEXT = { type: 'string', nullable: true };
const NULLABLE_TIME = { ...TIME, nullable: true };

/** Parameters of GET /admin/v1/operations. */
export class OperationsQuery extends PageParameters {
  @Filter(oneOf(STATUSES), 'Only those of this status.')
  status?: string;

  @Filter(text(), 'Only those of this name, such as `users.erase`.')
  name?: string;

  @Filter(uuid, 'Only those that this operator requested.')
  operator_id?: string;

  @Filter(text(), 'Only those on this subject.')
  subject_id?: string;
}

/** Body of a decision. */
export class DecisionBody {
  @Field(reasonRule, { description: 'Why, without personal data: it is kept for ever.' })
  reason!: string;
}

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

/** An operation (admin-api.md 4). */
export class DisplayedOperation {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string', examples: ['users.erase'] }) name!: string;
  @ApiProperty({ type: 'string', enum: STATUSES }) status!: string;
  @Nested(() => DisplayedSubject) subject!: DisplayedSubject;
  @ApiProperty({ type: 'object', additionalProperties: true }) parameters!: object;
  @ApiProperty({ type: 'string' }) reason!: string;
  @ApiProperty(NULLABLE_TEXT) ticket!: string | null;
  @ApiProperty({ type: 'string', enum: ['none', 'required', 'off'] }) approval!: string;
  @Nested(() => DisplayedPerson) requested_by!: DisplayedPerson;
  @ApiProperty(TIME) requested_at!: string;
  @ApiProperty(NULLABLE_TIME) expires_at!: string | null;
  @Nested(() => DisplayedPerson, { nullable: true }) decided_by!: DisplayedPerson | null;
  @ApiProperty(NULLABLE_TIME) decided_at!: string | null;
  @ApiProperty(NULLABLE_TEXT) decision_reason!: string | null;
  @ApiProperty(NULLABLE_TIME) executed_at!: string | null;
  @Nested(() => DisplayedFailure, { nullable: true }) failure!: DisplayedFailure | null;
}

export class OperationResponse {
  @Nested(() => DisplayedOperation) operation!: DisplayedOperation;
}

/** Of a write whose resource is nothing but the operation. */
export class WrittenResponse extends OperationResponse {
  @ApiProperty(UUID) operation_id!: string;
}

export class DecisionResponse extends WrittenResponse {
  @ApiProperty({
    type: 'string',
    required: false,
    description:
      'Of an approved new operator: where that person enrols a passkey. It is in this response alone.',
  })
  login_url?: string;
}

export class OperationsResponse {
  @Many(() => DisplayedOperation) operations!: DisplayedOperation[];
  @ApiProperty(NULLABLE_TEXT) next_cursor!: string | null;
}
