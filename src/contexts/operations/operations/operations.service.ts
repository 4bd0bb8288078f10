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
  OperatorDirectory,
} from '../../../platform/operations/operations.js';
import {
  requestedFacts,
  requestOperation,
  type PersonFacts,
  type Requested,
  existingOperation,
  isUnfinished,
  type ExistingOperation,
  approveOperation,
  confirmOperation,
  lapseOperation,
  rejectOperation,
} from './operation.js';
import { Definitions } from './definitions.service.js';
import { Execution } from './execution.service.js';
import { operationsConfig, type OperationsConfig } from '../operations.config.js';
import { operationJson } from './operations.view.js';

const DECISIONS = { approve: approveOperation, reject: rejectOperation, confirm: confirmOperation };
export type DecisionKind = keyof typeof DECISIONS;

/** Records and executes operations, and records the decisions of second persons (admin-api.md 4). */
@Injectable()
export class OperationsService extends Operations {
  constructor(
    private readonly definitions: Definitions,
    private readonly execution: Execution,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(operationsConfig.KEY) private readonly config: OperationsConfig,
    private readonly clockCheck: ClockCheck,
    private readonly operators: OperatorDirectory,
  ) {
    super();
  }

  findRevision(streams: readonly string[]): Promise<number | null> {
    return this.execution.findRevision(streams);
  }

  async request(command: AnyCommand, request: OperationRequest): Promise<OperationOutcome> {
    const { requester } = request;
    requireRecordable(command.parameters as JsonObject);
    const isOwn = await this.definitions.isOwn(command, requester);
    requireScopes(requester, await this.definitions.findScopes(command, isOwn));
    if (!isOwn) requireMerchant(requester, request.merchantId, this.definitions.of(command).subject);
    const id = request.idempotency?.id('operation') ?? newId();
    const { state } = await this.execution.load(id);
    // A repeat continues from the present phase.
    if (state.phase !== 'none') {
      requireIdempotent(state.facts.requested_at, timestamp(this.clock));
      return this.proceed(state);
    }
    const facts = await this.toFacts(id, command, request);
    // The deadline depends on this process's clock.
    if (facts.expires_at !== null) await this.clockCheck.require();
    const recorded = await this.execution.record(id, (current) => requestOperation(facts, current));
    failpoint('operation.requested');
    return this.proceed(recorded).catch((error: unknown) => {
      // A changed subject gets the same response whether or not the operation was recorded.
      if (error instanceof SubjectChanged && request.revision !== null)
        throw otherRevision(this.definitions.of(command));
      throw error;
    });
  }

  private async proceed(state: ExistingOperation): Promise<OperationOutcome> {
    const { phase, facts } = state;
    if (phase === 'pending') return this.execution.follow(state);
    if (isUnfinished(state) || phase === 'executed') return this.execution.run(facts.operation_id);
    throw new IdempotencyKeyExpired(`the Idempotency-Key belongs to an operation that is ${phase}`);
  }

  private async toFacts(id: string, command: AnyCommand, request: OperationRequest): Promise<Requested> {
    const { requester, revision: read } = request;
    const definition = this.definitions.of(command);
    const { name, subject, secondPerson = null, handler } = definition;
    const revision = await this.execution.findRevision(this.definitions.streams(command));
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
   * Records the decision, and executes an approved operation. A repeat of a `decisionId` has the same
   * outcome. Throws `forbidden` if the caller lacks a scope, or approves or confirms an own operation. Throws
   * `invalid_transition` for a decided or lapsed operation, and if the execution fails. Throws `unavailable`
   * while this process's clock is wrong, and `not_found` for an operation out of reach.
   */
  async decide(
    decision: DecisionKind,
    id: string,
    caller: Requester,
    reason: string,
    decisionId = newId(),
  ): Promise<OperationOutcome> {
    const decided = await this.record(decision, id, caller, reason, decisionId);
    if (decision !== 'approve') return { operation: operationJson(decided), result: {} };
    failpoint('operation.approved');
    return this.execution.run(id, 'approver').catch(async (error: unknown) => {
      // The approval was valid, so every failure of the execution gets one code.
      const { phase } = existingOperation((await this.execution.load(id)).state);
      if (error instanceof DomainError && phase === 'failed')
        throw new DomainError('invalid_transition', `The operation failed: ${error.message}`);
      throw error;
    });
  }

  /** Lapses a pending operation past its deadline. Throws `unavailable` if this process's clock is wrong. */
  async lapse(id: string): Promise<ExistingOperation> {
    await this.clockCheck.require();
    const lapsed = { operation_id: id, at: timestamp(this.clock) };
    return this.execution.record(id, (current) => lapseOperation(lapsed, current));
  }

  /** Records a decision after a check of the present scopes of caller and requester, because roles change. */
  private async record(
    decision: DecisionKind,
    id: string,
    caller: Requester,
    reason: string,
    decision_id: string,
  ): Promise<ExistingOperation> {
    const { facts, phase } = existingOperation((await this.execution.load(id)).state);
    requireReach(caller, facts.merchant_id, 'Operation');
    const { operator_id: requesterId } = facts.requested_by;
    const isOwn = requesterId !== null && requesterId === caller.operatorId;
    const scopes =
      isOwn && decision === 'reject'
        ? []
        : await this.definitions.findScopes(this.definitions.commandOf(facts));
    requireScopes(caller, scopes);
    await this.clockCheck.require();
    const lost = await this.lostBy(caller.operatorId, scopes);
    if (lost !== null) throw new DomainError('forbidden', lost);
    if (decision === 'approve' && phase === 'pending' && !isOwn) await this.requireRequester(facts);
    const at = timestamp(this.clock);
    const decided = { operation_id: id, decided_by: toPerson(caller), reason, decision_id, at };
    const state = await this.execution.record(id, (current) => DECISIONS[decision](decided, current));
    if (state.phase === 'lapsed') throw new DomainError('invalid_transition', 'The operation has lapsed');
    return state;
  }

  /** Returns the reason the person may no longer act, or null. Reads events, because caches lag. */
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
    // The requester's credential was checked with the request.
    const requester = { operatorId: requested_by.operator_id, credentialId: null };
    const isOwn = await this.definitions.isOwn(command, requester);
    const scopes = await this.definitions.findScopes(command, isOwn);
    const lost = await this.lostBy(requested_by.operator_id, scopes);
    if (lost === null) return;
    const why = `The requester may no longer do this: ${lost}`;
    await this.execution.failed(facts, 'forbidden', why);
    throw new DomainError('invalid_transition', `The operation failed: ${why}`);
  }
}

/** Throws `validation_failed` for text that events cannot store, also for parameters from programs. */
function requireRecordable(parameters: JsonObject): void {
  for (const [name, value] of Object.entries(parameters)) {
    const fault = findUnrecordable(JSON.stringify(value));
    if (fault !== null) throw DomainError.invalid({ [name]: [fault] });
  }
}

function toPerson({ operatorId, name, role, credentialId, address, sessionId }: Requester): PersonFacts {
  const person = { operator_id: operatorId, name, role, credential_id: credentialId, address };
  return sessionId ? { ...person, session_id: sessionId } : person;
}

/** Confines a caller. Throws `not_found` for another merchant, `forbidden` for none (admin-api.md 1). */
function requireMerchant({ merchants }: Requester, merchantId: string | null, subject: string): void {
  if (merchantId !== null) requireReach({ merchants }, merchantId, toTitle({ subject }));
  else if (merchants !== null)
    throw new DomainError('forbidden', 'The credential may only access subjects of its merchants');
}

/** Returns `Api key` for `api_key`. */
function toTitle({ subject }: { readonly subject: string }): string {
  const words = subject.replaceAll('_', ' ');
  return words[0]!.toUpperCase() + words.slice(1);
}

function otherRevision(definition: { readonly subject: string }): DomainError {
  const message = `${toTitle(definition)} was changed since it was read: read it again`;
  return new DomainError('precondition_failed', message);
}
