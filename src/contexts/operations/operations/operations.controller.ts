import { ApiTags } from '@nestjs/swagger';
import { Get, Inject, Post } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import {
  AdminController,
  Caller,
  listed,
  WriteBy,
  type AdminCaller,
  type AdminWrite,
} from '../../../platform/http/admin/admin.guard.js';
import { OperationResponse, DisplayedOperation } from '../../../platform/operations/displayed-operation.js';
import { PortalController, PortalScopes } from '../../../platform/http/admin/portal.guard.js';
import { ListQuery, MerchantId, UuidParam, ValidBody } from '../../../platform/http/decorators.js';
import { ListParameters } from '../../../platform/http/list-query.js';
import { Refusal } from '../../../platform/http/problem.js';
import { Disclosure, Reach, Reads } from '../../../platform/http/reads.js';
import { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { requireReach } from '../../../platform/operations/scopes.js';
import { OperationsService, type DecisionKind } from './operations.service.js';
import { Execution } from './execution.service.js';
import { existingOperation } from './operation.js';
import { LookupsView } from '../search/lookups.view.js';
import { OPERATION_VIEWS, OperationsQuery, OperationsView, operationJson } from './operations.view.js';
import { ApiProperty, Field, PageOf } from '../../../platform/dto/field.js';
import { UUID } from '../../../platform/dto/rules.js';
import { reasonRule } from '../../../platform/http/admin/writes.js';

class DecisionBody {
  @Field(reasonRule, { description: 'Why, without personal data: it is kept for ever.' }) reason!: string;
}

/** The response of a write that returns only its operation. */
export class WrittenResponse extends OperationResponse {
  @ApiProperty(UUID) operation_id!: string;
}

class DecisionResponse extends WrittenResponse {
  @ApiProperty({
    type: 'string',
    required: false,
    description:
      'Of an approved new operator: where that person enrols a passkey. It is in this response alone.',
  })
  login_url?: string;
}

class OperationsResponse extends PageOf('operations', DisplayedOperation) {}

/** The maximum age of the login behind a decision. */
const FRESH_LOGIN_MS = 5 * 60_000;
/** The console depends on this title. */
const LOGIN_REQUIRED = {
  status: 403,
  title: 'Login required',
  detail: 'Sign in again: decisions need a login within the last 5 minutes',
};

const DECISION = {
  description:
    "Needs the operation's own scope, and the scopes that it gives; in the console, a login within the last 5 minutes.",
  scopes: [],
  responses: {
    200: [DecisionResponse, 'The operation as it is now.'],
    403: "It is the caller's own, a scope is missing, or the login is too old.",
    404: 'There is no such operation.',
    409: 'It is decided, has lapsed or fails: its subject was changed, or its requester may request it no more.',
    422: 'The reason is missing or too long.',
  },
} as const;

@ApiTags('Admin: operations')
@AdminController('operations')
export class AdminOperationsController {
  constructor(
    private readonly execution: Execution,
    private readonly service: OperationsService,
    private readonly operations: OperationsView,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @ApiRoute({
    id: 'adminListOperations',
    summary: 'List operations, newest first',
    scopes: ['operations:read'],
    responses: listed(OperationsResponse),
  })
  @Reads({ view: OPERATION_VIEWS, lookup: null })
  list(@Reach() merchants: readonly string[] | null, @ListQuery() query: OperationsQuery): Promise<object> {
    return this.operations.page(merchants, query);
  }

  @Get(':id')
  @ApiRoute({
    id: 'adminGetOperation',
    summary: 'Get an operation',
    scopes: ['operations:read'],
    responses: { 200: [OperationResponse, 'The operation.'], 404: 'There is no such operation.' },
  })
  @Reads({ view: null, lookup: null })
  async get(@Caller() caller: AdminCaller, @UuidParam('id', 'Operation') id: string): Promise<object> {
    const { state, revision } = await this.execution.load(id);
    const found = existingOperation(state);
    requireReach(caller, found.facts.merchant_id, 'Operation');
    return new Disclosure([], () => ({ operation: operationJson(found) }), revision);
  }

  @Post(':id/approve')
  @ApiRoute({ ...DECISION, id: 'adminApproveOperation', summary: 'Approve an operation, which executes it' })
  approve(
    @WriteBy() write: AdminWrite,
    @UuidParam('id', 'Operation') id: string,
    @ValidBody() { reason }: DecisionBody,
  ): Promise<Reply> {
    return this.decide('approve', id, write, reason);
  }

  @Post(':id/reject')
  @ApiRoute({
    ...DECISION,
    id: 'adminRejectOperation',
    summary: "Reject an operation; one's own is withdrawn",
  })
  reject(
    @WriteBy() write: AdminWrite,
    @UuidParam('id', 'Operation') id: string,
    @ValidBody() { reason }: DecisionBody,
  ): Promise<Reply> {
    return this.decide('reject', id, write, reason);
  }

  @Post(':id/confirm')
  @ApiRoute({
    ...DECISION,
    id: 'adminConfirmOperation',
    summary: 'Confirm an operation that was executed at once',
  })
  confirm(
    @WriteBy() write: AdminWrite,
    @UuidParam('id', 'Operation') id: string,
    @ValidBody() { reason }: DecisionBody,
  ): Promise<Reply> {
    return this.decide('confirm', id, write, reason);
  }

  /** Records a decision. Returns the operation, with a login link if the operation created an operator. */
  private async decide(
    decision: DecisionKind,
    id: string,
    { requester, idempotency }: AdminWrite,
    reason: string,
  ): Promise<Reply> {
    const { authenticatedAt } = requester;
    if (authenticatedAt !== null && this.clock.now().getTime() - Date.parse(authenticatedAt) > FRESH_LOGIN_MS)
      throw new Refusal(LOGIN_REQUIRED);
    const decisionId = idempotency.id(decision);
    const { operation, result } = await this.service.decide(decision, id, requester, reason, decisionId);
    const { login_url } = result as { readonly login_url?: string };
    return new Reply(200, JSON.stringify({ operation, operation_id: operation.id, login_url }));
  }
}

/** The operators' reads and changes of the merchant's data, for every portal session (admin-api.md 6). */
@PortalController('lookups')
export class PortalLookupsController {
  constructor(private readonly lookups: LookupsView) {}

  @Get()
  @PortalScopes()
  list(@MerchantId() merchantId: string, @ListQuery() query: ListParameters) {
    return this.lookups.page(merchantId, query);
  }
}
