import { ApiTags } from '@nestjs/swagger';
import { ApiProperty, Field, ResourceOf, PageOf } from '../../../platform/dto/field.js';
import { nullable, oneOf, text, UUID, TIME } from '../../../platform/dto/rules.js';
import { WriteBody, PendingResponse, toWrite, written } from '../../../platform/http/admin/writes.js';
import { OPERATOR_STATUSES } from './operator.js';
import { ROLES, SCOPES, type Role } from './roles.js';
import { label } from '../merchants/rules.dto.js';
import {
  DIRECTORY_VIEW,
  DisplayedOperator,
  OperatorsQuery,
  OperatorsView,
} from '../merchants/directory.view.js';
import { Get, Patch, Post } from '@nestjs/common';
import {
  AdminController,
  Caller,
  type AdminCaller,
  listed,
  WriteBy,
  WriteTo,
  type AdminWrite,
  type SubjectWrite,
} from '../../../platform/http/admin/admin.guard.js';
import { Reads } from '../../../platform/http/reads.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { ListQuery, UuidParam, ValidBody } from '../../../platform/http/decorators.js';
import type { Reply } from '../../../platform/http/reply.js';
import { Operations } from '../../../platform/operations/operations.js';
import { CreateOperator, UpdateOperator } from './operators.commands.js';

class NewOperatorBody extends WriteBody {
  @Field(label) name!: string;
  @Field(text({ format: 'email', maxLength: 254 }), { description: 'No other operator has it.' })
  email!: string;

  @Field(oneOf(ROLES)) role!: Role;
}

class OperatorBody extends WriteBody {
  @Field(oneOf(ROLES), { optional: true }) role?: Role;
  @Field(oneOf(OPERATOR_STATUSES), { optional: true }) status?: 'active' | 'disabled';
}

class OperatorResponse extends ResourceOf('operator', DisplayedOperator) {}

class OperatorWritten extends OperatorResponse {
  @ApiProperty(UUID) operation_id!: string;

  @ApiProperty({ type: 'string', required: false, description: 'Where the person enrols a passkey, once.' })
  login_url?: string;
}

class OperatorsResponse extends PageOf('operators', DisplayedOperator) {}

class WhoamiActor {
  /** The operator; null for the shell of the machine. */
  @ApiProperty(UUID) operator_id!: string | null;
  @ApiProperty({ type: 'string' }) name!: string;

  @ApiProperty(nullable(UUID, 'Null in a session of the console.')) credential_id!: string | null;
}

class WhoamiResponse {
  @ApiProperty({ type: WhoamiActor }) actor!: WhoamiActor;
  @ApiProperty({ type: 'string', enum: [...ROLES] }) role!: string | null;
  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...SCOPES] } }) scopes!: readonly string[];

  @ApiProperty(nullable({ type: 'array', items: UUID }, 'Null: all.')) merchants!: readonly string[] | null;
  @ApiProperty(nullable(TIME)) expires_at!: string | null;
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

@ApiTags('Admin: operators')
@AdminController('operators')
export class AdminOperatorsController {
  constructor(
    private readonly operators: OperatorsView,
    private readonly operations: Operations,
  ) {}

  @Get()
  @ApiRoute({
    id: 'adminListOperators',
    summary: 'List operators, newest first',
    scopes: ['operators:read'],
    responses: listed(OperatorsResponse),
  })
  @Reads({ view: DIRECTORY_VIEW, lookup: null })
  async list(@ListQuery() query: OperatorsQuery): Promise<OperatorsResponse> {
    const { rows: operators, next_cursor } = await this.operators.page(query);
    return { operators, next_cursor };
  }

  @Post()
  @ApiRoute({
    id: 'adminCreateOperator',
    summary: 'Create an operator',
    description: 'The approval returns login_url once, with which the person enrols a passkey.',
    scopes: ['operators:write'],
    responses: {
      201: [OperatorWritten, 'Only where approvals are off: the operator exists.'],
      202: [PendingResponse, 'Another person has to approve it.'],
      403: 'A scope is missing: operators:write, or one that the role gives.',
      422: 'name, email, role, reason or ticket is invalid.',
    },
  })
  async create(
    @WriteBy() write: AdminWrite,
    @ValidBody() { name, email, role, ...body }: NewOperatorBody,
  ): Promise<Reply> {
    const id = write.idempotency.id('operator');
    const command = new CreateOperator(id, { name, email, role });
    const outcome = await this.operations.request(command, toWrite(write, body, null));
    // Only the approver gets the link of an approved operation, even if a repeat of this request executes it.
    const isOwn = outcome.operation.approval !== 'required';
    return written(outcome, 201, async (result) => ({
      operator: await this.operators.get(id),
      ...(isOwn && result),
    }));
  }

  @Get(':id')
  @ApiRoute({
    id: 'adminGetOperator',
    summary: 'Get an operator',
    scopes: ['operators:read'],
    responses: { 200: [OperatorResponse, 'The operator; the ETag is its revision.'] },
  })
  @Reads({ view: null, lookup: null, etag: (id) => [`operator-${id}`] })
  async get(@UuidParam('id', 'Operator') id: string): Promise<OperatorResponse> {
    return { operator: await this.operators.get(id) };
  }

  @Patch(':id')
  @ApiRoute({
    id: 'adminUpdateOperator',
    summary: 'Change the role of an operator, disable or enable it',
    description: 'Every key and session of a disabled person is refused with 401.',
    scopes: ['operators:write'],
    responses: {
      200: [OperatorWritten, 'The operator as it is now.'],
      202: [
        PendingResponse,
        'It gives scopes that the person lacked, as a higher role or as an active person: another person has to approve it.',
      ],
      403: 'A scope is missing: operators:write, or one that the role gives.',
      409: 'Of two administrators one would be left.',
      422: 'role, status, reason or ticket is invalid.',
    },
  })
  async update(
    @WriteTo('Operator') write: SubjectWrite,
    @ValidBody() { role, status, ...body }: OperatorBody,
  ): Promise<Reply> {
    const command = new UpdateOperator(write.subject.id, { role, status });
    const outcome = await this.operations.request(command, toWrite(write, body, null));
    return written(outcome, 200, async () => ({ operator: await this.operators.get(write.subject.id) }));
  }
}
