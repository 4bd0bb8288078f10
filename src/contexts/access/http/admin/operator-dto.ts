import { ApiProperty, Field, ResourceOf, PageOf } from '../../../../platform/dto/field.js';
import { oneOf, text, UUID } from '../../../../platform/dto/rules.js';
import { WriteBody } from '../../../../platform/http/admin/writes.js';
import { Filter, ListParameters } from '../../../../platform/http/list-query.js';
import { ROLES } from '../../domain/roles.js';
import { DisplayedOperator, OPERATOR_STATUSES } from '../../views/operators.js';
import { label } from './rules.js';

export class OperatorsQuery extends ListParameters {
  @Filter(oneOf(OPERATOR_STATUSES), 'Only those of this status.') status?: string;
}

export class NewOperatorBody extends WriteBody {
  @Field(label) name!: string;
  @Field(text({ format: 'email', maxLength: 254 }), { description: 'No other operator has it.' })
  email!: string;

  @Field(oneOf(ROLES)) role!: string;
}

export class OperatorBody extends WriteBody {
  @Field(oneOf(ROLES), { optional: true }) role?: string;
  @Field(oneOf(OPERATOR_STATUSES), { optional: true }) status?: 'active' | 'disabled';
}

export class OperatorResponse extends ResourceOf('operator', DisplayedOperator) {}

export class OperatorWritten extends OperatorResponse {
  @ApiProperty(UUID) operation_id!: string;

  @ApiProperty({ type: 'string', required: false, description: 'Where the person enrols a passkey, once.' })
  login_url?: string;
}

export class OperatorsResponse extends PageOf('operators', DisplayedOperator) {}
