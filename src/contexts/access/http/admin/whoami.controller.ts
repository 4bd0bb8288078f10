import { Get } from '@nestjs/common';
import { ApiProperty } from '../../../../platform/dto/field.js';
import { TIME, UUID } from '../../../../platform/dto/rules.js';
import {
  AdminController,
  Caller,
  type AdminCaller,
} from '../../../../platform/http/admin/admin-controller.js';
import { Reads } from '../../../../platform/http/reads.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { ROLES, SCOPES } from '../../domain/roles.js';

class WhoamiActor {
  /** Null for the shell of the machine. */
  @ApiProperty(UUID) operator_id!: string | null;
  @ApiProperty({ type: 'string' }) name!: string;

  @ApiProperty({ ...UUID, nullable: true, description: 'Null in a session of the console.' })
  credential_id!: string | null;
}

class WhoamiResponse {
  @ApiProperty({ type: WhoamiActor }) actor!: WhoamiActor;
  @ApiProperty({ type: 'string', enum: [...ROLES] }) role!: string | null;
  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...SCOPES] } }) scopes!: readonly string[];

  @ApiProperty({ type: 'array', items: UUID, nullable: true, description: 'Null: all.' })
  merchants!: readonly string[] | null;

  @ApiProperty({ ...TIME, nullable: true }) expires_at!: string | null;
}

@AdminController('whoami')
export class AdminWhoamiController {
  @Get()
  @ApiRoute({
    id: 'adminWhoami',
    tag: 'Admin: operators',
    summary: 'Show who is calling and what the credential may do',
    scopes: [],
    responses: { 200: [WhoamiResponse, 'The person and the credential of this request.'] },
  })
  @Reads({ view: null, lookup: null })
  whoami(@Caller() caller: AdminCaller): WhoamiResponse {
    const { operatorId: operator_id, name, credentialId: credential_id, role, scopes, merchants } = caller;
    return {
      actor: { operator_id, name, credential_id },
      role,
      scopes: SCOPES.filter((scope) => scopes.has(scope)),
      merchants,
      expires_at: caller.expiresAt,
    };
  }
}
