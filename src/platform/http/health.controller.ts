import { ApiProperty } from '../dto/field.js';
import { Controller, Get } from '@nestjs/common';
import { RouteConstraints } from '@nestjs/platform-fastify';
import { ApiRoute } from '../openapi/route.js';
import { HealthRegistry } from '../telemetry/health.js';
import { Public } from './api.guard.js';
import { EVERY_LISTENER } from './connections.js';
import { Reply } from './reply.js';

class Live {
  @ApiProperty({ const: 'ok' }) status!: 'ok';
}

class Health {
  @ApiProperty({ type: 'string', enum: ['ok', 'unavailable'] }) status!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: {
      type: 'object',
      required: ['status'],
      properties: { status: { enum: ['ok', 'unavailable'] }, detail: { type: 'string' } },
    },
  })
  checks!: object;
}

@Controller('health')
@Public()
export class HealthController {
  constructor(private readonly health: HealthRegistry) {}

  @Get('live')
  @RouteConstraints({ listener: EVERY_LISTENER })
  @ApiRoute({
    id: 'live',
    tag: 'Health',
    summary: 'Whether the process serves requests',
    responses: { 200: [Live, 'It does.'] },
  })
  live(): Live {
    return { status: 'ok' };
  }

  @Get('ready')
  @RouteConstraints({ listener: EVERY_LISTENER })
  @ApiRoute({
    id: 'ready',
    tag: 'Health',
    summary: 'Whether everything the service depends on works',
    responses: {
      200: [Health, 'All of it works.'],
      503: [Health, 'Something does not; the body says what.'],
    },
  })
  async ready(): Promise<Reply> {
    const report = await this.health.report();
    return new Reply(report.status === 'ok' ? 200 : 503, JSON.stringify(report));
  }
}
