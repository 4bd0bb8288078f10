import { Get, Inject, Param, Post } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { DomainError } from '../../../kernel/domain-error.js';
import { AdminController, WriteBy, type AdminWrite } from '../../../platform/http/admin/admin.guard.js';
import { type SealingConfig, sealingConfig } from '../../../platform/config/config.js';
import { WriteBody, toWrite, written } from '../../../platform/http/admin/writes.js';
import { OperationResponse } from '../../../platform/operations/displayed-operation.js';
import { ValidBody } from '../../../platform/http/decorators.js';
import { Reads } from '../../../platform/http/reads.js';
import type { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import type { AnyCommand } from '../../../platform/operations/operation.js';
import { Operations } from '../../../platform/operations/operations.js';
import {
  LetEventTypePass,
  RebuildProjection,
  RetireFormerMasterKey,
} from '../../../platform/cli/system-commands.js';
import { toMasterKeys } from '../../../platform/sealing/key-ring.js';
import { SystemResponse, SystemStatus } from './system-status.service.js';
import { WrittenResponse } from '../operations/operations.controller.js';

/** The names of subscriptions and event types. */
const NAME = /^[a-z][a-z0-9_.]{0,99}$/;
const Name = (name: string): MethodDecorator => ApiParam({ name, schema: { type: 'string' } });

const REFUSED = {
  403: 'The scope system:write is missing.',
  422: 'The reason is missing or too long.',
} as const;
const APPROVED_FIRST = {
  202: [OperationResponse, 'A second person has to approve it.'],
  ...REFUSED,
} as const;

@ApiTags('Admin: system')
@AdminController('system')
export class AdminSystemController {
  constructor(
    private readonly status: SystemStatus,
    private readonly operations: Operations,
    @Inject(sealingConfig.KEY) private readonly config: SealingConfig,
  ) {}

  @Get()
  @ApiRoute({
    id: 'adminGetSystem',
    summary: 'Get the state of the service',
    description: 'Of all processes that reported themselves within the last minute. It is not wrapped.',
    scopes: ['system:read'],
    responses: {
      200: [SystemResponse, 'Processes, subscriptions, due work, schedules, nodes, providers and the audit.'],
    },
  })
  @Reads({ view: null, lookup: null })
  system(): Promise<SystemResponse> {
    return this.status.read();
  }

  @Post('projections/:name/rebuild')
  @Name('name')
  @ApiRoute({
    id: 'adminRebuildProjection',
    summary: 'Rebuild a read model from the events, in the background',
    scopes: ['system:write'],
    responses: {
      202: [WrittenResponse, 'A worker rebuilds it.'],
      404: 'There is no such read model.',
      ...REFUSED,
    },
  })
  rebuild(
    @WriteBy() write: AdminWrite,
    @Param('name') name: string,
    @ValidBody() body: WriteBody,
  ): Promise<Reply> {
    return this.write(new RebuildProjection(toName(name, 'Projection')), write, body, 202);
  }

  @Post('event_types/:type/let_pass')
  @Name('type')
  @ApiRoute({
    id: 'adminLetEventTypePass',
    summary: 'Let subscriptions pass events of a type that no version here knows',
    scopes: ['system:write'],
    responses: {
      200: [WrittenResponse, 'Subscriptions pass them.'],
      409: 'This version knows the type.',
      ...APPROVED_FIRST,
    },
  })
  letPass(
    @WriteBy() write: AdminWrite,
    @Param('type') type: string,
    @ValidBody() body: WriteBody,
  ): Promise<Reply> {
    return this.write(new LetEventTypePass(toName(type, 'Event type')), write, body);
  }

  @Post('master_key/retire_former')
  @ApiRoute({
    id: 'adminRetireFormerMasterKey',
    summary: 'Let no master key but MASTER_KEY open the key ring',
    scopes: ['system:write'],
    responses: {
      200: [WrittenResponse, 'The former master key opens nothing.'],
      409: 'A process still uses the former one.',
      ...APPROVED_FIRST,
    },
  })
  retireFormer(@WriteBy() write: AdminWrite, @ValidBody() body: WriteBody): Promise<Reply> {
    const { id } = toMasterKeys(this.config).current;
    return this.write(new RetireFormerMasterKey(id), write, body);
  }

  private async write(command: AnyCommand, write: AdminWrite, body: WriteBody, status = 200): Promise<Reply> {
    const outcome = await this.operations.request(command, toWrite(write, body, null));
    return written(outcome, status, () => ({ operation: outcome.operation }));
  }
}

function toName(text: string, what: string): string {
  if (!NAME.test(text)) throw DomainError.notFound(what);
  return text;
}
