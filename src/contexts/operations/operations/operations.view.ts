import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { registers } from '../../../platform/telemetry/metrics.js';
import type { JsonObject } from '../../../platform/event-store/port.js';
import type { OperationJson } from '../../../platform/operations/operations.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage } from '../../../platform/postgres/list-page.js';
import { oneOf, text, uuid } from '../../../platform/dto/rules.js';
import { Filter, ListParameters } from '../../../platform/http/list-query.js';
import { OPERATION_STATUSES } from '../../../platform/operations/displayed-operation.js';
import { foldedRows } from '../../../platform/projections/folded-rows.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import {
  operationHistory,
  type PersonFacts,
  operation,
  toStatus,
  type ExistingOperation,
} from './operation.js';
import { Periodic } from '../../../platform/jobs/background-work.js';

const pendingApprovals = new Gauge({
  name: 'disburse_operations_pending_approval',
  help: 'Operations of operators that wait for the approval of a second person.',
  registers,
});

const overdueConfirmations = new Gauge({
  name: 'disburse_operations_unconfirmed_overdue',
  help: 'Operations that were executed at once and have not been confirmed by a second person within 24 hours.',
  registers,
});

export const OPERATION_VIEWS = subscriptionName('operations.views');

export const operationViews: SubscriptionDefinition = {
  name: OPERATION_VIEWS,
  events: operationHistory.events,
  apply: foldedRows({
    schema: 'operations',
    table: 'operations',
    aggregate: operation,
    id: 'operation_id',
    toRow: (state) => (state.phase === 'none' ? null : toRow(state)),
  }),
  tables: { schema: 'operations', names: ['operations'], json: ['events', 'body'] },
};

function toRow(state: ExistingOperation) {
  const { merchant_id, subject, requested_by } = state.facts;
  const json = operationJson(state);
  const { name, status, reason, requested_at, expires_at, executed_at } = json;
  return {
    ...{ name, status, reason, requested_at, expires_at, executed_at, merchant_id },
    ...{ operator_id: requested_by.operator_id, operator_name: requested_by.name },
    ...{ subject_kind: subject.kind, subject_id: subject.id },
    body: JSON.stringify(json),
  };
}

export function operationJson(state: ExistingOperation): OperationJson {
  const { facts, decision, executed, failure } = state;
  const { operation_id: id, name, subject, reason, ticket, approval, requested_at, expires_at } = facts;
  const parameters = facts.parameters as JsonObject;
  return {
    ...{ id, name, status: toStatus(state), subject, parameters, reason, ticket, approval },
    ...{ requested_by: personJson(facts.requested_by), requested_at, expires_at },
    decided_by: decision && personJson(decision.decided_by),
    decided_at: decision?.at ?? null,
    decision_reason: decision?.reason ?? null,
    executed_at: executed?.at ?? null,
    failure: failure && { code: failure.code, message: failure.message },
  };
}

function personJson({ session_id: _, ...person }: PersonFacts): Omit<PersonFacts, 'session_id'> {
  return person;
}

export class OperationsQuery extends ListParameters {
  @Filter(oneOf(OPERATION_STATUSES), 'Only those of this status.') status?: string;
  @Filter(text(), 'Only those of this name, such as `users.erase`.') name?: string;
  @Filter(uuid, 'Only those that this operator requested.') operator_id?: string;
  @Filter(text(), 'Only those on this subject.') subject_id?: string;
}

@Injectable()
export class OperationsView {
  constructor(private readonly database: Database) {}

  /** Returns a page, newest first. `merchants` are the owners of the subjects; null means all. */
  async page(merchants: readonly string[] | null, filter: OperationsQuery) {
    const where = {
      'status = ?': filter.status,
      'name = ?': filter.name,
      'operator_id = ?': filter.operator_id,
      'subject_id = ?': filter.subject_id,
      'merchant_id = any(?)': merchants,
    };
    const list = { columns: 'body', from: 'operations.operations', time: 'requested_at', where };
    const { rows, next_cursor } = await listPage<{ body: string }>(this.database, list, filter);
    return { operations: rows.map(({ body }) => JSON.parse(body) as OperationJson), next_cursor };
  }

  @Searches('operations:read')
  async search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    if (uuid === null) return [];
    return this.database.query<Found>(
      `select 'operation' as kind, id::text as id, merchant_id, name || ', ' || status as title
       from operations.operations where id = $1`,
      [uuid],
    );
  }

  @Periodic({ name: 'gauge of operations', everyMs: 10_000 })
  async measure(): Promise<void> {
    const [row] = await this.database.query<{ pending: number; overdue: number }>(
      `select (count(*) filter (where status = 'pending_approval'))::int as pending,
         (count(*) filter (where status = 'unconfirmed' and expires_at <= now()))::int as overdue
       from operations.operations where status in ('pending_approval', 'unconfirmed')`,
    );
    pendingApprovals.set(row!.pending);
    overdueConfirmations.set(row!.overdue);
  }
}
