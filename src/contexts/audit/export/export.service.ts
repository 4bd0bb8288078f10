import { DomainError } from '../../../kernel/domain-error.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { exportLine, type ExportLine } from '../ledger/event-leaf.js';
import {
  type ExportScope,
  isWhole,
  type LogPoint,
  type Manifest,
  MANIFEST_FORMAT,
  readPoint,
  type Signed,
} from './manifest.js';
import { MerkleTree } from '../ledger/merkle-tree.js';
import {
  type ExportFolder,
  type PartWriter,
  readManifestIn,
  type Unfinished,
} from './export-folder.store.js';

type Progress = (read: number, position: string) => void;

export interface Exported {
  readonly manifest: Manifest;
  /** The number of events from earlier runs; null if an earlier run completed the export. */
  readonly resumed: number | null;
}

export async function* exportedLines(
  store: EventStore,
  scope: ExportScope,
  { end, after = null, progress }: { end: string | null; after?: string | null; progress: Progress },
): AsyncGenerator<readonly ExportLine[], void, undefined> {
  const selection = new Selection(scope);
  let read = 0;
  // The first event of a stream names its merchant, so an export of a merchant reads from the beginning.
  for await (const page of logPages(store, { after: scope.merchant === null ? after : null, end })) {
    const over = page.findIndex((event) => selection.isOver(event));
    const within = over < 0 ? page : page.slice(0, over + 1);
    yield within
      .filter((event) => selection.includes(event) && comparePositions(event.position, after) > 0)
      .map((event) => exportLine(event));
    if (over >= 0) return;
    read += page.length;
    progress(read, page.at(-1)!.position);
  }
}

/** Writes or continues an export. Throws `invalid_transition` for a folder that has another export. */
export async function exportTo(
  folder: ExportFolder,
  store: EventStore,
  scope: ExportScope,
  { progress, signed, now }: { progress: Progress; signed: (size: number) => Promise<Signed>; now: Date },
): Promise<Exported> {
  const done = await readManifestIn(folder.path);
  const begun = await folder.unfinished();
  const logId = await store.identity();
  for (const found of [done, begun]) if (found !== null) requireSame(found, scope, logId, folder.path);
  if (done !== null) return { manifest: done, resumed: null };
  const { tree: kept, ...before } = begun ?? {
    format: MANIFEST_FORMAT,
    log_id: logId,
    scope,
    log_end: await store.head(),
    exported_at: now.toISOString(),
    events: 0,
    first_position: null,
    last_position: null,
    parts: [],
    tree: { size: 0, peaks: '' },
  };
  const { log_end: end, last_position: after } = before;
  let written = before;
  const tree = new MerkleTree(kept.size, Buffer.from(kept.peaks, 'hex'));
  const endPart = async (writer: PartWriter): Promise<void> => {
    const ended = await writer.end();
    written = {
      ...written,
      events: written.events + ended.events,
      first_position: written.first_position ?? ended.first_position,
      last_position: ended.last_position,
      parts: [...written.parts, ended],
    };
    await folder.keep({ ...written, tree: { size: tree.size, peaks: tree.peakBytes.toString('hex') } });
  };
  let part: PartWriter | null = null;
  for await (const page of exportedLines(store, scope, { end, after, progress })) {
    for (let lines = page; lines.length > 0;) {
      part ??= await folder.part(written.parts.length + 1);
      const fitting = lines.slice(0, scope.part_events - part.events);
      lines = lines.slice(fitting.length);
      for (const { leaf } of fitting) tree.append(leaf);
      await part.add(fitting);
      if (part.events < scope.part_events) continue;
      await endPart(part);
      part = null;
    }
  }
  if (part !== null) await endPart(part);
  const manifest: Manifest = isWhole(scope)
    ? { ...written, merkle_root: tree.root.toString('hex'), ...(await signed(written.events)) }
    : { ...written, merkle_root: null, signed_head: null, signing_keys: [], key_ring: [] };
  await folder.finish(manifest);
  return { manifest, resumed: begun?.events ?? 0 };
}

function requireSame(found: Unfinished | Manifest, scope: ExportScope, logId: string, path: string): void {
  const same = Object.entries(scope).every(
    ([name, value]) => found.scope[name as keyof ExportScope] === value,
  );
  if (same && found.log_id === logId) return;
  const what = same
    ? `of another log (${found.log_id})`
    : `of something else (${JSON.stringify(found.scope)})`;
  throw new DomainError('invalid_transition', `${path} holds an export ${what}: name another folder.`);
}

/** The filter of an export. Events must be passed in the order of the log. */
export class Selection {
  private readonly streams = new Set<string>();

  private readonly merchant: string | null;
  private readonly from: LogPoint | null;
  private readonly to: LogPoint | null;

  constructor({ merchant, from, to }: Pick<ExportScope, 'merchant' | 'from' | 'to'>) {
    this.merchant = merchant;
    this.from = from === null ? null : readPoint(from);
    this.to = to === null ? null : readPoint(to);
  }

  includes(event: RecordedEvent): boolean {
    const { merchant, from, to } = this;
    // Events before the range are checked too, because the first event of a stream names its merchant.
    if (merchant !== null && !this.isOf(merchant, event)) return false;
    return (from === null || isFrom(from, event)) && (to === null || isUpTo(to, event));
  }

  /** True if no later event can match. Always false with an end time, because event times may decrease. */
  isOver({ position }: RecordedEvent): boolean {
    return this.to?.kind === 'position' && comparePositions(position, this.to.position) >= 0;
  }

  /** Checks that the event, its stream or the owner of its claim belongs to the merchant. */
  private isOf(merchant: string, { stream, data, metadata }: RecordedEvent): boolean {
    const said = data['merchant_id'] ?? metadata.merchant_id;
    const owner = data['owner'];
    const isOf =
      said === undefined
        ? this.streams.has(stream) || (typeof owner === 'string' && this.streams.has(owner))
        : said === merchant;
    if (isOf) this.streams.add(stream);
    return isOf;
  }
}

function isFrom(from: LogPoint, { position, recordedAt }: RecordedEvent): boolean {
  return from.kind === 'position' ? comparePositions(position, from.position) > 0 : recordedAt >= from.time;
}

export function isUpTo(to: LogPoint, { position, recordedAt }: RecordedEvent): boolean {
  return to.kind === 'position' ? comparePositions(position, to.position) <= 0 : recordedAt < to.time;
}
