import { Controller, Get, Inject } from '@nestjs/common';
import { Reply } from './reply.js';
import { HealthRegistry } from '../telemetry/health.js';

/** Unsigned: for load balancers and operators. */
@Controller('health')
export class HealthController {
  constructor(@Inject(HealthRegistry) private readonly health: HealthRegistry) {}

  /** 200 as long as the process serves requests. */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 200 when everything it depends on works, 503 when something does not; the body says what. */
  @Get('ready')
  async ready(): Promise<Reply> {
    const report = await this.health.report();
    return new Reply(report.status === 'ok' ? 200 : 503, JSON.stringify(report));
  }
}
