import type { PoolClient } from 'pg';
import { fold } from '../../../kernel/aggregate.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { operationHistory } from '../domain/history.js';
import type { OperationEvent } from '../domain/operation-events.js';
import { existingOperation, operation, statusOf } from '../domain/operation.js';
import { operationJson } from './operation-json.js';

/** Name of the checkpoint that a list waits for. */
export const OPERATION_VIEWS = subscriptionName('operations.views');

export const operationViews: SubscriptionDefinition = {
  name: OPERATION_VIEWS,
  events: operationHistory.events,
  apply: applyOperationEvents,
  tables: { schema: 'operations', names: ['operations'], json: ['events', 'body'] },
};

interface KnownOperation {
  /** Of the last event. */
  readonly revision: number;
  readonly events: readonly OperationEvent[];
}

/** Keeps the events and not the state, whose shape may differ in the next version. */
async function applyOperationEvents(
  events: readonly RecordedEvent[],
  tx: PoolClient,
  schema = 'operations',
): Promise<void> {
  const known = await knownOperations(events, tx, schema);
  const changed = new Set<string>();
  for (const { revision, type, data } of events) {
    const id = data['operation_id'] as string;
    const { revision: last, events: before } = known.get(id) ?? { revision: -1, events: [] };
    if (revision <= last) continue;
    known.set(id, { revision, events: [...before, { type, data } as unknown as OperationEvent] });
    changed.add(id);
  }
  await write(
    [...changed].map((id) => known.get(id)!),
    tx,
    schema,
  );
}

async function knownOperations(
  events: readonly RecordedEvent[],
  tx: PoolClient,
  schema: string,
): Promise<Map<string, KnownOperation>> {
  const { rows } = await tx.query<{ id: string; revision: string; events: string }>(
    `select id, revision, events from ${schema}.operations where id = any($1::uuid[])`,
    [[...new Set(events.map(({ data }) => data['operation_id']))]],
  );
  return new Map(
    rows.map(({ id, revision, events: text }) => [
      id,
      { revision: Number(revision), events: JSON.parse(text) as OperationEvent[] },
    ]),
  );
}

async function write(changed: readonly KnownOperation[], tx: PoolClient, schema: string): Promise<void> {
  const rows = changed.flatMap(({ revision, events }) => {
    const state = fold(operation, events);
    return state.phase === 'none' ? [] : [{ revision, events: JSON.stringify(events), ...rowOf(state) }];
  });
  if (rows.length === 0) return;
  await tx.query(
    `insert into ${schema}.operations (id, name, status, operator_id, operator_name, subject_kind, subject_id,
       merchant_id, reason, requested_at, expires_at, executed_at, revision, events, body)
     select * from json_to_recordset($1) as changed (id uuid, name text, status text, operator_id text,
       operator_name text, subject_kind text, subject_id text, merchant_id uuid, reason text,
       requested_at timestamptz, expires_at timestamptz, executed_at timestamptz, revision bigint, events text, body text)
     on conflict (id) do update set status = excluded.status, executed_at = excluded.executed_at,
       revision = excluded.revision, events = excluded.events, body = excluded.body`,
    [JSON.stringify(rows)],
  );
}

function rowOf(state: ReturnType<typeof existingOperation>) {
  const { facts, executed } = state;
  return {
    id: facts.operation_id,
    name: facts.name,
    status: statusOf(state),
    operator_id: facts.requested_by.operator_id,
    operator_name: facts.requested_by.name,
    subject_kind: facts.subject.kind,
    subject_id: facts.subject.id,
    merchant_id: facts.merchant_id,
    reason: facts.reason,
    requested_at: facts.requested_at,
    expires_at: facts.expires_at,
    executed_at: executed?.at ?? null,
    body: JSON.stringify(operationJson(state)),
  };
}
