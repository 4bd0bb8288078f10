import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { failpoint } from '../../../platform/failpoints.js';
import { OperatorDirectory } from '../../../platform/operations/operator-directory.js';
import type { OperationOutcome, Requester } from '../../../platform/operations/operations.js';
import { requireReach, requireScopes } from '../../../platform/operations/scopes.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import {
  approveOperation,
  confirmOperation,
  lapseOperation,
  rejectOperation,
  type DecisionFacts,
  type OperationEvent,
  type Requested,
  existingOperation,
  type ExistingOperation,
  type OperationState,
} from '../domain/operation.js';
import { operationJson } from '../views/operations.js';
import { Definitions } from './definitions.js';
import { Execution, OperationStreams } from './execution.js';
import { personOf } from './request-operation.js';

type Decide = (decision: DecisionFacts, state: OperationState) => readonly OperationEvent[];

/** Decisions of second persons (admin-api.md 4). */
@Injectable()
export class OperationDecisions {
  constructor(
    private readonly log: OperationStreams,
    private readonly definitions: Definitions,
    private readonly execution: Execution,
    private readonly operators: OperatorDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly clockCheck: ClockCheck,
  ) {}

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

  /** Without effect on an operation that is decided, or may still be approved. Throws `unavailable` as {@link approve} does. */
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
        : await this.definitions.scopesOf(this.definitions.commandOf(facts));
    requireScopes(caller, scopes);
    await this.clockCheck.require();
    const lost = await this.lostBy(caller.operatorId, scopes);
    if (lost !== null) throw new DomainError('forbidden', lost);
    if (decide === approveOperation && phase === 'pending' && !isOwn) await this.requireRequester(facts);
    const decision = {
      operation_id: id,
      decided_by: personOf(caller),
      reason,
      decision_id: decisionId,
      at: timestamp(this.clock),
    };
    const state = await this.execution.record(id, (current) => decide(decision, current));
    if (state.phase === 'lapsed') throw new DomainError('invalid_transition', 'The operation has lapsed');
    return state;
  }

  /** Why the person may not do what needs these scopes; null where they may. By the events: keys and sessions are read late. */
  private async lostBy(operatorId: string | null, scopes: readonly string[]): Promise<string | null> {
    if (operatorId === null) return null;
    const now = await this.operators.scopesOf(operatorId);
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
    const scopes = await this.definitions.scopesOf(command, isOwn);
    const lost = await this.lostBy(requested_by.operator_id, scopes);
    if (lost === null) return;
    const why = `Who requested it may not do so now: ${lost}`;
    await this.execution.failed(facts, 'forbidden', why);
    throw new DomainError('invalid_transition', `The operation failed: ${why}`);
  }
}
