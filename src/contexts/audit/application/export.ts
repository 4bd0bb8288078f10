import { DomainError } from '../../../kernel/domain-error.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { exportLine, type ExportLine } from '../domain/event-leaf.js';
import {
  type ExportScope,
  isWhole,
  type Manifest,
  MANIFEST_FORMAT,
  type Part,
  type Signed,
} from '../domain/manifest.js';
import { MerkleTree } from '../domain/merkle-tree.js';
import type { ExportFolder, PartWriter, Unfinished } from '../store/export-folder.js';
import { type LogPoint, readPoint } from '../domain/log-point.js';

/** Receives how many events were read, and up to where. */
type Progress = (read: number, position: string) => void;

export interface Exported {
  readonly manifest: Manifest;
  /** Events that earlier runs had written; null: there was nothing left to do. */
  readonly resumed: number | null;
}

/** Passes every selected event up to `end` to `line`, as it is stored; at most one page is in memory. */
export async function exportLines(
  store: EventStore,
  scope: ExportScope,
  { end, after = null, progress }: { end: string | null; after?: string | null; progress: Progress },
  line: (line: ExportLine, event: RecordedEvent) => Promise<void> | undefined,
): Promise<void> {
  const selection = new Selection(scope);
  let read = 0;
  // Which streams are a merchant's is known from the beginning of the log alone.
  for await (const page of logPages(store, { after: scope.merchant === null ? after : null, end })) {
    for (const event of page) {
      if (selection.includes(event) && comparePositions(event.position, after) > 0) {
        const full = line(lineOf(event), event);
        if (full !== undefined) await full;
      }
      if (selection.isOver(event)) return;
    }
    read += page.length;
    progress(read, page.at(-1)!.position);
  }
}

function lineOf(event: RecordedEvent): ExportLine {
  try {
    return exportLine(event);
  } catch (error) {
    const text = `The event at position ${event.position} cannot be exported: ${(error as Error).message}`;
    throw new DomainError('unavailable', text);
  }
}

/** Writes the export to the folder, or continues where an earlier run of the same export ended. */
export async function exportTo(
  folder: ExportFolder,
  store: EventStore,
  scope: ExportScope,
  { progress, signed, now }: { progress: Progress; signed: (size: number) => Promise<Signed>; now: Date },
): Promise<Exported> {
  const done = await folder.manifest();
  const begun = await folder.unfinished();
  const logId = await store.identity();
  for (const found of [done, begun]) if (found !== null) requireSame(found, scope, logId, folder.path);
  if (done !== null) return { manifest: done, resumed: null };
  const writing = new Writing(folder, begun ?? beginning(scope, logId, await store.head(), now));
  const { log_end: end, last_position: after } = writing.begun;
  try {
    await exportLines(store, scope, { end, after, progress }, (line, event) => writing.add(line, event));
    await writing.endPart();
  } finally {
    await writing.drop();
  }
  const manifest: Manifest = {
    ...writing.said(),
    merkle_root: writing.root,
    ...(isWhole(scope) ? await signed(writing.said().events) : { signed_head: null, signing_keys: [] }),
  };
  await folder.finish(manifest);
  return { manifest, resumed: begun?.events ?? 0 };
}

function beginning(scope: ExportScope, log_id: string, log_end: string | null, now: Date): Unfinished {
  return {
    format: MANIFEST_FORMAT,
    log_id,
    asked: scope,
    log_end,
    exported_at: now.toISOString(),
    events: 0,
    first_position: null,
    last_position: null,
    parts: [],
    tree: isWhole(scope) ? { size: 0, peaks: '' } : null,
  };
}

function requireSame(found: Unfinished | Manifest, scope: ExportScope, logId: string, path: string): void {
  const same = (['merchant', 'from', 'to', 'part_events'] as const).every(
    (name) => found.asked[name] === scope[name],
  );
  if (same && found.log_id === logId) return;
  const what = same
    ? `of another log (${found.log_id})`
    : `of something else (${JSON.stringify(found.asked)})`;
  throw new DomainError('invalid_transition', `${path} holds an export ${what}: name another folder.`);
}

/** Parts one after the other, and what is said of them. */
class Writing {
  private readonly tree: MerkleTree | null;
  private readonly parts: Part[];
  private current: PartWriter | null = null;
  private events = 0;
  private first = '';
  private last = '';

  constructor(
    private readonly folder: ExportFolder,
    readonly begun: Unfinished,
  ) {
    const { tree } = begun;
    this.parts = [...begun.parts];
    this.tree = tree === null ? null : new MerkleTree(tree.size, Buffer.from(tree.peaks, 'hex'));
  }

  /** A promise to wait for, now and then: most lines are only gathered. */
  add(line: ExportLine, event: RecordedEvent): Promise<void> | undefined {
    if (this.current === null) return this.beginPart(line, event);
    this.tree?.append(line.leaf);
    this.last = event.position;
    this.events += 1;
    const full = this.current.line(line.text);
    return this.events < this.begun.asked.part_events ? full : this.fullPart(full);
  }

  private async beginPart(line: ExportLine, event: RecordedEvent): Promise<void> {
    this.current = await this.folder.part(this.parts.length + 1);
    this.first = event.position;
    await this.add(line, event);
  }

  private async fullPart(written: Promise<void> | undefined): Promise<void> {
    await written;
    await this.endPart();
  }

  async endPart(): Promise<void> {
    if (this.current === null) return;
    const ended = await this.current.end();
    const { events, first: first_position, last: last_position } = this;
    this.parts.push({ ...ended, events, first_position, last_position });
    this.current = null;
    this.events = 0;
    const { tree } = this;
    const kept = tree === null ? null : { size: tree.size, peaks: tree.peakBytes.toString('hex') };
    await this.folder.keep({ ...this.said(), tree: kept });
  }

  async drop(): Promise<void> {
    await this.current?.drop();
  }

  get root(): string | null {
    return this.tree?.root.toString('hex') ?? null;
  }

  said(): Omit<Manifest, 'merkle_root' | keyof Signed> {
    const { format, log_id, asked, log_end, exported_at } = this.begun;
    return {
      format,
      log_id,
      asked,
      log_end,
      exported_at,
      events: this.parts.reduce((sum, { events }) => sum + events, 0),
      first_position: this.parts[0]?.first_position ?? null,
      last_position: this.parts.at(-1)?.last_position ?? null,
      parts: this.parts,
    };
  }
}

/** Decides event by event, in the order of the log, what belongs to an export. */
export class Selection {
  /** Streams that are known to be of the merchant. */
  private readonly streams = new Set<string>();

  private readonly merchant: string | null;
  private readonly from: LogPoint;
  private readonly to: LogPoint;

  constructor({ merchant, from, to }: Pick<ExportScope, 'merchant' | 'from' | 'to'>) {
    this.merchant = merchant;
    this.from = from === null ? null : readPoint(from);
    this.to = to === null ? null : readPoint(to);
  }

  includes(event: RecordedEvent): boolean {
    const { merchant, from, to } = this;
    // Also outside of the range: a stream is known by its first event.
    if (merchant !== null && !this.isOf(merchant, event)) return false;
    return (from === null || isFrom(from, event)) && (to === null || isUpTo(to, event));
  }

  /** Nothing after this event can belong to it. Times of a log need not grow. */
  isOver({ position }: RecordedEvent): boolean {
    return this.to?.kind === 'position' && comparePositions(position, this.to.position) >= 0;
  }

  /** By what the event says of itself, by its stream, or by the stream that it is a claim of. */
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

function isFrom(from: Exclude<LogPoint, null>, { position, recordedAt }: RecordedEvent): boolean {
  return from.kind === 'position' ? comparePositions(position, from.position) > 0 : recordedAt >= from.time;
}

function isUpTo(to: Exclude<LogPoint, null>, { position, recordedAt }: RecordedEvent): boolean {
  return to.kind === 'position' ? comparePositions(position, to.position) <= 0 : recordedAt < to.time;
}
