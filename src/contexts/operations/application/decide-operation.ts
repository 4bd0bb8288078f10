import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { SubjectChanged } from '../../../platform/event-store/current-operation.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import type { OperationOutcome, Requester } from '../../../platform/operations/operations.js';
import { requireScopes } from '../../../platform/operations/scopes.js';
import { approveOperation, confirmOperation, lapseOperation, rejectOperation } from '../domain/decisions.js';
import type { DecisionFacts, OperationEvent } from '../domain/operation-events.js';
import { existingOperation, type ExistingOperation, type OperationState } from '../domain/operation.js';
import { operationJson } from '../views/operation-json.js';
import { Definitions } from './definitions.js';
import { Execution } from './execution.js';
import { OperationLog } from './operation-log.js';
import { personOf, requireMerchant } from './request-operation.js';

type Decide = (decision: DecisionFacts, state: OperationState) => readonly OperationEvent[];

/** Decisions of second persons (admin-api.md 4). */
@Injectable()
export class OperationDecisions {
  constructor(
    private readonly log: OperationLog,
    private readonly definitions: Definitions,
    private readonly execution: Execution,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly clockCheck: ClockCheck,
  ) {}

  /**
   * Executes the operation. Throws `unavailable` while this process's clock is off, `not_found`, `forbidden` for one's own or without its scopes, `invalid_transition` for
   * one that is decided or has lapsed, and for one whose subject was changed, which then has failed.
   */
  async approve(id: string, caller: Requester, reason: string): Promise<OperationOutcome> {
    await this.decide(id, caller, reason, approveOperation);
    failpoint('operation.approved');
    return this.execution.run(id).catch((error: unknown) => {
      if (error instanceof SubjectChanged)
        throw new DomainError('invalid_transition', `The operation failed: ${error.message}`);
      throw error;
    });
  }

  /** One's own is withdrawn. Throws as {@link approve} does for what is decided. */
  async reject(id: string, caller: Requester, reason: string): Promise<OperationOutcome> {
    const state = await this.decide(id, caller, reason, rejectOperation);
    await this.execution.discard(state.facts);
    return { operation: operationJson(state), result: {} };
  }

  /** Throws `not_found`, `forbidden`, or `invalid_transition` for one that needs no confirmation. */
  async confirm(id: string, caller: Requester, reason: string): Promise<OperationOutcome> {
    const state = await this.decide(id, caller, reason, confirmOperation);
    return { operation: operationJson(state), result: {} };
  }

  /** Without effect on an operation that is decided, or may still be approved. Throws `unavailable` as {@link approve} does. */
  async lapse(id: string): Promise<ExistingOperation> {
    await this.clockCheck.require();
    const lapsed = { operation_id: id, at: timestamp(this.clock) };
    const { state } = await this.log.record(id, (current) => lapseOperation(lapsed, current));
    if (existingOperation(state).phase === 'lapsed')
      await this.execution.discard(existingOperation(state).facts);
    return existingOperation(state);
  }

  /** The scopes of the operation are those that it needs now, and those of the caller, too: a role may have changed. */
  private async decide(
    id: string,
    caller: Requester,
    reason: string,
    decide: Decide,
  ): Promise<ExistingOperation> {
    const { facts } = existingOperation((await this.log.load(id)).state);
    requireMerchant(caller, facts.merchant_id, 'operation');
    const definition = this.definitions.find(facts.name);
    requireScopes(caller, await this.definitions.scopesOf(definition, facts.parameters, facts.subject.id));
    await this.clockCheck.require();
    const decision = { operation_id: id, decided_by: personOf(caller), reason, at: timestamp(this.clock) };
    const { state, events } = await this.log.record(id, (current) => decide(decision, current));
    if (events.some(({ type }) => type === 'operation.lapsed.v1')) {
      await this.execution.discard(facts);
      throw new DomainError('invalid_transition', 'The operation has lapsed');
    }
    return existingOperation(state);
  }
}
