import { Get } from '@nestjs/common';
import {
  AdminController,
  Caller,
  type AdminCaller,
} from '../../../../platform/http/admin/admin-controller.js';
import { Operation } from '../../../../platform/openapi/operation.js';
import { SCOPES } from '../../domain/roles.js';
import { WhoamiResponse } from './whoami-dto.js';

@AdminController('whoami')
export class WhoamiController {
  @Get()
  @Operation({
    id: 'adminWhoami',
    tag: 'Admin: operators',
    summary: 'Show who is calling and what the credential may do',
    scopes: [],
    responses: { 200: [WhoamiResponse, 'The person and the credential of this request.'] },
  })
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
