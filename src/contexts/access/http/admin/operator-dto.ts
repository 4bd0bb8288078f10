import { ApiProperty, Field, Many, Nested } from '../../../../platform/dto/field.js';
import { oneOf, text, TIME, UUID } from '../../../../platform/dto/rules.js';
import { WriteBody } from '../../../../platform/http/admin/writes.js';
import { Filter, PageParameters } from '../../../../platform/http/page-query.js';
import { ROLES } from '../../domain/roles.js';
import type { OperatorListRow } from '../../views/operator-list.js';
import { label } from './rules.js';

const STATUSES = ['active', 'disabled'];

export class OperatorsQuery extends PageParameters {
  @Filter(oneOf(STATUSES), 'Only those of this status.')
  status?: string;
}

export class NewOperatorBody extends WriteBody {
  @Field(label) name!: string;
  @Field(text({ format: 'email', maxLength: 254 }), { description: 'No other operator has it.' })
  email!: string;

  @Field(oneOf(ROLES)) role!: string;
}

export class OperatorBody extends WriteBody {
  @Field(oneOf(ROLES), { optional: true }) role?: string;
  @Field(oneOf(STATUSES), { optional: true }) status?: 'active' | 'disabled';
}

/** A person of the operator (admin-api.md 1). */
class DisplayedOperator {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty({ type: 'string' }) email!: string;
  @ApiProperty({ type: 'string', enum: [...ROLES] }) role!: string;
  @ApiProperty({ type: 'string', enum: STATUSES }) status!: string;
  @ApiProperty(TIME) created_at!: Date;
}

export class OperatorResponse {
  @Nested(() => DisplayedOperator) operator!: DisplayedOperator;
}

export class OperatorWritten extends OperatorResponse {
  @ApiProperty(UUID) operation_id!: string;

  @ApiProperty({ type: 'string', required: false, description: 'Where the person enrols a passkey, once.' })
  login_url?: string;
}

export class OperatorsResponse {
  @Many(() => DisplayedOperator) operators!: DisplayedOperator[];
  @ApiProperty({ type: 'string', nullable: true }) next_cursor!: string | null;
}

export function operatorJson(row: OperatorListRow): DisplayedOperator {
  const { id, name, email, role, status, createdAt: created_at } = row;
  return { id, name, email, role, status, created_at };
}
