import { Get } from '@nestjs/common';
import { AdminController } from '../../../platform/http/admin/admin-controller.js';
import { Operation } from '../../../platform/openapi/operation.js';
import { SystemStatus, type SystemJson } from '../application/system-status.js';
import { SystemResponse } from './system-dto.js';

/** admin-api.md 3: `GET /system`. */
@AdminController('system')
export class SystemController {
  constructor(private readonly status: SystemStatus) {}

  @Get()
  @Operation({
    id: 'adminGetSystem',
    tag: 'Admin: system',
    summary: 'Get the state of the service',
    description: 'Of all processes that reported themselves within the last minute. It is not wrapped.',
    scopes: ['system:read'],
    responses: {
      200: [SystemResponse, 'Processes, subscriptions, due work, schedules, nodes, providers and the audit.'],
    },
  })
  system(): Promise<SystemJson> {
    return this.status.read();
  }
}
