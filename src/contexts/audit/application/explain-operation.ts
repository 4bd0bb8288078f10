import { DomainError } from '../../../kernel/domain-error.js';
import { fold } from '../../../kernel/aggregate.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { RowChange } from '../../../platform/postgres/row-changes.js';
import { operation, operationStatus, type OperationEvent } from '../../operations/contract.js';
import { hashOfEvent } from '../domain/event-leaf.js';
import { inclusionRanges, provesInclusion } from '../domain/merkle-proof.js';
import type { Heads } from '../store/heads.js';
import type { Ledger } from '../store/ledger.js';
import type { SigningKeys } from '../store/signing-keys.js';
import {
  eventsOfStream,
  inUtc,
  withCauses,
  type Explanation,
  type Row,
  type Section,
  type Sources,
} from './causes.js';
import { HeadVerifier } from './head-verifier.js';
import { pathOver } from './payout-proofs.js';
import { requireId } from './user-history.js';

/** The ledger as it is stored, and the id of its log. */
export interface ProvingSources extends Sources {
  readonly ledger: { readonly ledger: Ledger; readonly heads: Heads; readonly keys: SigningKeys };
  readonly logId: string;
  /** What an operation changed outside the log. */
  readonly rowChanges: (operationId: string) => Promise<readonly RowChange[]>;
}

/**
 * An operation of an operator, from the person to each event that it wrote, its leaf and a signed head, and to each row outside
 * the log. Throws `not_found`.
 */
export async function explainOperation(sources: ProvingSources, id: string): Promise<Explanation> {
  const operationId = requireId('operation', id);
  const own = await eventsOfStream(sources.log, `operation-${operationId}`);
  const state = fold(operation, own as readonly (RecordedEvent & OperationEvent)[]);
  if (state.phase === 'none')
    throw new DomainError('not_found', `The log knows no operation ${operationId}.`);
  const { facts, decision, executed, failure } = state;
  const changed = await changesOf(sources, executed?.changes ?? []);
  const missing = (executed?.changes ?? []).filter(
    ({ event_id }) => !changed.some((event) => event.id === event_id),
  );
  const by = (person: typeof facts.requested_by): string =>
    [
      person.name,
      person.role ?? 'no person',
      ...(person.operator_id === null ? [] : [`operator ${person.operator_id}`]),
      ...(person.credential_id === null ? [] : [`key ${person.credential_id}`]),
      ...(person.address === null ? [] : [`from ${person.address}`]),
    ].join(', ');
  return {
    what: `operation ${operationId}`,
    figure: [
      ['what', `${facts.name}, ${operationStatus(state)}`],
      [
        'subject',
        `${facts.subject.kind} ${facts.subject.id}, at revision ${facts.subject.revision ?? 'none'}`,
      ],
      ['requested', `${inUtc(facts.requested_at)}, by ${by(facts.requested_by)}`],
      ['because', facts.ticket === null ? facts.reason : `${facts.reason} (${facts.ticket})`],
      ['approval', facts.approval],
      ...(decision === null
        ? []
        : ([
            ['decided', `${inUtc(decision.at)}, by ${by(decision.decided_by)}: ${decision.reason}`],
          ] as const)),
      ...(failure === null ? [] : ([['failed', `${failure.code}: ${failure.message}`]] as const)),
    ],
    ...(await withCauses(sources, [...own, ...changed])),
    sections: [
      await proofs(sources, changed),
      ...rowSections(await sources.rowChanges(operationId)),
      ...(missing.length === 0
        ? []
        : [
            {
              title: 'NOT in the log, although the operation says that it wrote them',
              rows: missing.map(({ stream, event_id, type }): Row => [type, `${event_id} of ${stream}`]),
            },
          ]),
    ],
  };
}

function rowSections(changes: readonly RowChange[]): Section[] {
  if (changes.length === 0) return [];
  const rows = changes.map(({ what, id, at }): Row => [what, `${id}, ${inUtc(at.toISOString())}`]);
  return [{ title: 'what it changed outside the log', rows }];
}

async function changesOf(
  { log }: Sources,
  changes: readonly { readonly stream: string; readonly event_id: string }[],
): Promise<RecordedEvent[]> {
  const ids = new Set(changes.map(({ event_id }) => event_id));
  const streams = await Promise.all(
    [...new Set(changes.map(({ stream }) => stream))].map((stream) => eventsOfStream(log, stream)),
  );
  return streams.flat().filter(({ id }) => ids.has(id));
}

/** Of each event its place in the ledger, and whether it leads to the newest signed head. */
async function proofs(
  { ledger: stored, logId }: ProvingSources,
  events: readonly RecordedEvent[],
): Promise<Section> {
  const title = 'leaves of what it changed, under a signed head';
  if (events.length === 0) return { title, rows: [['none', 'it changed no event']] };
  const { ledger, heads, keys } = stored;
  const head = await heads.newest();
  if (head === null || head.size === 0) return { title, rows: [['none', 'no head is signed yet']] };
  const why = new HeadVerifier(logId, await keys.all(), null, null).verify(head);
  const indexes = await ledger.indexes(events.map(({ position }) => position));
  const rows: Row[] = [
    ['head', `over ${head.size} events, signed at ${inUtc(head.signed_at)} with the key ${head.key_id}`],
    ['', why === null ? `root ${head.root}` : `NOT to be trusted: ${why}`],
  ];
  for (const [place, event] of events.entries()) {
    const index = indexes[place] ?? null;
    const hash = hashOfEvent(event);
    rows.push(['position', `${event.position}, leaf ${hash.toString('hex')}`]);
    if (index === null || index >= head.size) {
      rows.push(['', 'not signed yet: later heads cover it']);
      continue;
    }
    const path = (await pathOver(ledger, inclusionRanges(index, head.size))).map((each) =>
      Buffer.from(each, 'hex'),
    );
    const root = { size: head.size, root: Buffer.from(head.root, 'hex') };
    const holds = provesInclusion({ hash, index }, root, path);
    rows.push([
      '',
      holds ? `leaf ${index} of the head, proven` : `NOT proven: leaf ${index} of the head is another one`,
    ]);
  }
  return { title, rows };
}
