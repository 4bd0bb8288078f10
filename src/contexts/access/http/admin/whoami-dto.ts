import { ApiProperty } from '../../../../platform/dto/field.js';
import { TIME, UUID } from '../../../../platform/dto/rules.js';
import { ROLES, SCOPES } from '../../domain/roles.js';

class WhoamiActor {
  @ApiProperty(UUID)
  operator_id!: string;

  @ApiProperty({ type: 'string' })
  name!: string;

  @ApiProperty({ ...UUID, nullable: true, description: 'Null in a session of the console.' })
  credential_id!: string | null;
}

export class WhoamiResponse {
  @ApiProperty({ type: WhoamiActor })
  actor!: WhoamiActor;

  @ApiProperty({ type: 'string', enum: [...ROLES] })
  role!: string;

  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...SCOPES] } })
  scopes!: readonly string[];

  @ApiProperty({ type: 'array', items: UUID, nullable: true, description: 'Null: all.' })
  merchants!: readonly string[] | null;

  @ApiProperty({ ...TIME, nullable: true })
  expires_at!: string | null;
}
