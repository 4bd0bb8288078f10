import { ApiProperty, Field, PageOf } from '../../../../platform/dto/field.js';
import { oneOf, text, uuid, UUID } from '../../../../platform/dto/rules.js';
import {
  DisplayedOperation,
  OPERATION_STATUSES,
  OperationResponse,
} from '../../../../platform/operations/displayed-operation.js';
import { reasonRule } from '../../../../platform/http/admin/writes.js';
import { Filter, ListParameters } from '../../../../platform/http/list-query.js';

/** Parameters of GET /admin/v1/operations. */
export class OperationsQuery extends ListParameters {
  @Filter(oneOf(OPERATION_STATUSES), 'Only those of this status.') status?: string;
  @Filter(text(), 'Only those of this name, such as `users.erase`.') name?: string;
  @Filter(uuid, 'Only those that this operator requested.') operator_id?: string;
  @Filter(text(), 'Only those on this subject.') subject_id?: string;
}

/** Body of a decision. */
export class DecisionBody {
  @Field(reasonRule, { description: 'Why, without personal data: it is kept for ever.' }) reason!: string;
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

export class OperationsResponse extends PageOf('operations', DisplayedOperation) {}
