import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { IdempotencyKeyExpired, requireIdempotent } from '../../../kernel/idempotency.js';
import { findUnrecordable } from '../../../kernel/text.js';
import { SubjectChanged } from '../../../platform/event-store/command-loop.js';
import type { JsonObject } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import { requireReach, requireScopes } from '../../../platform/operations/scopes.js';
import type { AnyCommand } from '../../../platform/operations/operation.js';
import {
  Operations,
  type OperationOutcome,
  type OperationRequest,
  type Requester,
} from '../../../platform/operations/operations.js';
import {
  requestedFacts,
  requestOperation,
  type PersonFacts,
  type Requested,
  existingOperation,
  type ExistingOperation,
} from '../domain/operation.js';
import { Definitions } from './definitions.js';
import { Execution, OperationStreams } from './execution.js';
import { operationsConfig, type OperationsConfig } from '../settings.js';

/** Records and executes what operators request (admin-api.md 4). */
@Injectable()
export class RequestedOperations extends Operations {
  constructor(
    private readonly definitions: Definitions,
    private readonly log: OperationStreams,
    private readonly execution: Execution,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(operationsConfig.KEY) private readonly config: OperationsConfig,
    private readonly clockCheck: ClockCheck,
  ) {
    super();
  }

  revisionOf(streams: readonly string[]): Promise<number | null> {
    return this.log.revisionOf(streams);
  }

  async request(command: AnyCommand, request: OperationRequest): Promise<OperationOutcome> {
    const { requester } = request;
    requireRecordable(command.parameters as JsonObject);
    const isOwn = await this.definitions.isOwn(command, requester);
    requireScopes(requester, await this.definitions.scopesOf(command, isOwn));
    if (!isOwn) requireMerchant(requester, request.merchantId, this.definitions.of(command).subject);
    const id = request.idempotency?.id('operation') ?? newId();
    const { state } = await this.log.load(id);
    // A repeat continues where the first request ended.
    if (state.phase !== 'none') {
      requireIdempotent(state.facts.requested_at, timestamp(this.clock));
      return this.proceed(state);
    }
    const facts = await this.factsOf(id, command, request);
    // Its end follows from when it is requested.
    if (facts.expires_at !== null) await this.clockCheck.require();
    const recorded = await this.log.record(id, (current) => requestOperation(facts, current));
    failpoint('operation.requested');
    return this.proceed(existingOperation(recorded.state)).catch((error: unknown) => {
      // What was read has changed, before or after the operation was recorded: to the client it is the same.
      if (error instanceof SubjectChanged && request.revision !== null)
        throw otherRevision(this.definitions.of(command));
      throw error;
    });
  }

  private async proceed(state: ExistingOperation): Promise<OperationOutcome> {
    const { phase, facts } = state;
    switch (phase) {
      case 'pending':
        return this.execution.follow(state);
      case 'requested':
      case 'approved':
      case 'executed':
        return this.execution.run(facts.operation_id);
      default:
        throw new IdempotencyKeyExpired(`the Idempotency-Key belongs to an operation that is ${phase}`);
    }
  }

  /** Throws `not_found`, `precondition_failed`, and what the handler's `check` throws. */
  private async factsOf(
    id: string,
    command: AnyCommand,
    { requester, revision: read, ...request }: OperationRequest,
  ): Promise<Requested> {
    const definition = this.definitions.of(command);
    const { name, subject, secondPerson = null, handler } = definition;
    const revision = await this.log.revisionOf(this.definitions.streams(command));
    if (read !== null && revision === null) throw DomainError.notFound(titleOf(definition));
    if (read !== null && revision !== read) throw otherRevision(definition);
    await handler.check?.(command);
    return requestedFacts(
      {
        operation_id: id,
        name,
        subject: { kind: subject, id: command.subjectId, revision },
        parameters: command.parameters as JsonObject,
        reason: request.reason,
        ticket: request.ticket,
        merchant_id: request.merchantId,
        second_person: secondPerson === 'depends' ? await handler.secondPerson!(command) : secondPerson,
        requested_by: personOf(requester),
        requested_at: timestamp(this.clock),
      },
      { approvals: this.config.operationsApprovals },
    );
  }
}

/** Names and other texts of programs too. Throws `validation_failed`. */
function requireRecordable(parameters: JsonObject): void {
  for (const [name, value] of Object.entries(parameters)) {
    const fault = findUnrecordable(JSON.stringify(value) ?? '');
    if (fault !== null) throw DomainError.invalid({ [name]: [fault] });
  }
}

export function personOf({
  operatorId,
  name,
  role,
  credentialId,
  address,
  sessionId,
}: Requester): PersonFacts {
  const person = { operator_id: operatorId, name, role, credential_id: credentialId, address };
  return sessionId ? { ...person, session_id: sessionId } : person;
}

/** Throws `not_found` for what belongs to another merchant, `forbidden` for what belongs to none (admin-api.md 1). */
function requireMerchant(
  { merchants }: Pick<Requester, 'merchants'>,
  merchantId: string | null,
  subject: string,
): void {
  if (merchantId !== null) requireReach({ merchants }, merchantId, titleOf({ subject }));
  else if (merchants !== null)
    throw new DomainError('forbidden', 'The credential is confined to some merchants');
}

/** `api_key` is `Api key` in a sentence. */
function titleOf({ subject }: { readonly subject: string }): string {
  const words = subject.replaceAll('_', ' ');
  return words[0]!.toUpperCase() + words.slice(1);
}

function otherRevision(definition: { readonly subject: string }): DomainError {
  return new DomainError(
    'precondition_failed',
    `${titleOf(definition)} was changed since it was read: read it again`,
  );
}
