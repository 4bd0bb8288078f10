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
  approveOperation,
  confirmOperation,
  lapseOperation,
  rejectOperation,
  type DecisionFacts,
  type OperationEvent,
  type OperationState,
} from '../domain/operation.js';
import { Definitions } from './definitions.js';
import { Execution, OperationStreams } from './execution.js';
import { operationsConfig, type OperationsConfig } from '../settings.js';
import { OperatorDirectory } from '../../../platform/operations/operator-directory.js';
import { operationJson } from '../views/operations.js';

type Decide = (decision: DecisionFacts, state: OperationState) => readonly OperationEvent[];

/** Records and executes what operators request, and records what second persons decide (admin-api.md 4). */
@Injectable()
export class OperationsService extends Operations {
  constructor(
    private readonly definitions: Definitions,
    private readonly log: OperationStreams,
    private readonly execution: Execution,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(operationsConfig.KEY) private readonly config: OperationsConfig,
    private readonly clockCheck: ClockCheck,
    private readonly operators: OperatorDirectory,
  ) {
    super();
  }

  findRevision(streams: readonly string[]): Promise<number | null> {
    return this.log.findRevision(streams);
  }

  async request(command: AnyCommand, request: OperationRequest): Promise<OperationOutcome> {
    const { requester } = request;
    requireRecordable(command.parameters as JsonObject);
    const isOwn = await this.definitions.isOwn(command, requester);
    requireScopes(requester, await this.definitions.findScopes(command, isOwn));
    if (!isOwn) requireMerchant(requester, request.merchantId, this.definitions.of(command).subject);
    const id = request.idempotency?.id('operation') ?? newId();
    const { state } = await this.log.load(id);
    // A repeat continues where the first request ended.
    if (state.phase !== 'none') {
      requireIdempotent(state.facts.requested_at, timestamp(this.clock));
      return this.proceed(state);
    }
    const facts = await this.toFacts(id, command, request);
    // The end of the operation depends on the clock.
    if (facts.expires_at !== null) await this.clockCheck.require();
    const recorded = await this.log.record(id, (current) => requestOperation(facts, current));
    failpoint('operation.requested');
    return this.proceed(existingOperation(recorded.state)).catch((error: unknown) => {
      // The client gets one response for a change before or after the operation was recorded.
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
  private async toFacts(
    id: string,
    command: AnyCommand,
    { requester, revision: read, ...request }: OperationRequest,
  ): Promise<Requested> {
    const definition = this.definitions.of(command);
    const { name, subject, secondPerson = null, handler } = definition;
    const revision = await this.log.findRevision(this.definitions.streams(command));
    if (read !== null && revision === null) throw DomainError.notFound(toTitle(definition));
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
        requested_by: toPerson(requester),
        requested_at: timestamp(this.clock),
      },
      { approvals: this.config.operationsApprovals },
    );
  }

  /**
   * Executes the operation. Throws `unavailable` while this process's clock is off, `not_found`, `forbidden` for one's own or
   * without its scopes, `invalid_transition` for one that is decided or has lapsed, and for one that has failed: its subject
   * was changed, its requester may request it no more, or what its execution threw. A repeat after a crash, with the same
   * `decisionId`, has the same outcome.
   */
  async approve(
    id: string,
    caller: Requester,
    reason: string,
    decisionId: string = newId(),
  ): Promise<OperationOutcome> {
    await this.decide(id, caller, reason, approveOperation, decisionId);
    failpoint('operation.approved');
    return this.execution.run(id, 'approver').catch(async (error: unknown) => {
      // The approval was right, with any code of the failure.
      const { phase } = existingOperation((await this.log.load(id)).state);
      if (error instanceof DomainError && phase === 'failed')
        throw new DomainError('invalid_transition', `The operation failed: ${error.message}`);
      throw error;
    });
  }

  /** One's own is withdrawn. Throws as {@link approve} does for what is decided. */
  async reject(
    id: string,
    caller: Requester,
    reason: string,
    decisionId: string = newId(),
  ): Promise<OperationOutcome> {
    const state = await this.decide(id, caller, reason, rejectOperation, decisionId);
    return { operation: operationJson(state), result: {} };
  }

  /** Throws `not_found`, `forbidden`, or `invalid_transition` for one that needs no confirmation. */
  async confirm(
    id: string,
    caller: Requester,
    reason: string,
    decisionId: string = newId(),
  ): Promise<OperationOutcome> {
    const state = await this.decide(id, caller, reason, confirmOperation, decisionId);
    return { operation: operationJson(state), result: {} };
  }

  /**
   * Lapses an operation; does nothing to one that is decided or may still be approved. Throws `unavailable` as {@link
   * approve} does.
   */
  async lapse(id: string): Promise<ExistingOperation> {
    await this.clockCheck.require();
    const lapsed = { operation_id: id, at: timestamp(this.clock) };
    return this.execution.record(id, (current) => lapseOperation(lapsed, current));
  }

  /**
   * The scopes of the operation are those that it needs now, and those of its persons, too: a role may have changed. To
   * withdraw one's own needs none.
   */
  private async decide(
    id: string,
    caller: Requester,
    reason: string,
    decide: Decide,
    decisionId: string,
  ): Promise<ExistingOperation> {
    const { facts, phase } = existingOperation((await this.log.load(id)).state);
    requireReach(caller, facts.merchant_id, 'Operation');
    const { operator_id: requesterId } = facts.requested_by;
    const isOwn = requesterId !== null && requesterId === caller.operatorId;
    const scopes =
      isOwn && decide === rejectOperation
        ? []
        : await this.definitions.findScopes(this.definitions.commandOf(facts));
    requireScopes(caller, scopes);
    await this.clockCheck.require();
    const lost = await this.lostBy(caller.operatorId, scopes);
    if (lost !== null) throw new DomainError('forbidden', lost);
    if (decide === approveOperation && phase === 'pending' && !isOwn) await this.requireRequester(facts);
    const decision = {
      operation_id: id,
      decided_by: toPerson(caller),
      reason,
      decision_id: decisionId,
      at: timestamp(this.clock),
    };
    const state = await this.execution.record(id, (current) => decide(decision, current));
    if (state.phase === 'lapsed') throw new DomainError('invalid_transition', 'The operation has lapsed');
    return state;
  }

  /**
   * Returns the reason the person may no longer act, or null. Read from events, because the caches of keys and sessions
   * lag.
   */
  private async lostBy(operatorId: string | null, scopes: readonly string[]): Promise<string | null> {
    if (operatorId === null) return null;
    const now = await this.operators.findScopes(operatorId);
    if (now === null) return 'The operator is disabled';
    const missing = scopes.find((scope) => !now.has(scope));
    return missing === undefined ? null : `The scope ${missing} is missing`;
  }

  private async requireRequester(facts: Requested): Promise<void> {
    const { requested_by } = facts;
    const command = this.definitions.commandOf(facts);
    // The credential of the request was checked when the operation was requested.
    const requester = { operatorId: requested_by.operator_id, credentialId: null };
    const isOwn = await this.definitions.isOwn(command, requester);
    const scopes = await this.definitions.findScopes(command, isOwn);
    const lost = await this.lostBy(requested_by.operator_id, scopes);
    if (lost === null) return;
    const why = `Who requested it may not do so now: ${lost}`;
    await this.execution.failed(facts, 'forbidden', why);
    throw new DomainError('invalid_transition', `The operation failed: ${why}`);
  }
}

/** Names and other texts of programs too. Throws `validation_failed`. */
function requireRecordable(parameters: JsonObject): void {
  for (const [name, value] of Object.entries(parameters)) {
    const fault = findUnrecordable(JSON.stringify(value) ?? '');
    if (fault !== null) throw DomainError.invalid({ [name]: [fault] });
  }
}

function toPerson({ operatorId, name, role, credentialId, address, sessionId }: Requester): PersonFacts {
  const person = { operator_id: operatorId, name, role, credential_id: credentialId, address };
  return sessionId ? { ...person, session_id: sessionId } : person;
}

/** Throws `not_found` for what belongs to another merchant, `forbidden` for what belongs to none (admin-api.md 1). */
function requireMerchant(
  { merchants }: Pick<Requester, 'merchants'>,
  merchantId: string | null,
  subject: string,
): void {
  if (merchantId !== null) requireReach({ merchants }, merchantId, toTitle({ subject }));
  else if (merchants !== null)
    throw new DomainError('forbidden', 'The credential is confined to some merchants');
}

/** `api_key` is `Api key` in a sentence. */
function toTitle({ subject }: { readonly subject: string }): string {
  const words = subject.replaceAll('_', ' ');
  return words[0]!.toUpperCase() + words.slice(1);
}

function otherRevision(definition: { readonly subject: string }): DomainError {
  return new DomainError(
    'precondition_failed',
    `${toTitle(definition)} was changed since it was read: read it again`,
  );
}
