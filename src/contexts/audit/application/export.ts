import { DomainError } from '../../../kernel/domain-error.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { exportLine, type ExportLine } from '../domain/export-line.js';
import {
  isWhole,
  MANIFEST_FORMAT,
  type Asked,
  type Manifest,
  type Part,
  type Signed,
} from '../domain/manifest.js';
import { MerkleTree } from '../domain/merkle-tree.js';
import type { ExportFolder, PartWriter, Unfinished } from '../store/export-folder.js';
import { Selection } from './selection.js';

/** Hears how many events were read, and up to where. */
export type Progress = (read: number, position: string) => void;

export interface Exported {
  readonly manifest: Manifest;
  /** Events that earlier runs had written; null: there was nothing left to do. */
  readonly resumed: number | null;
}

/** Hands `line` every selected event up to `end`, as it stands in the store; no more than a page is in memory. */
export async function exportLines(
  store: EventStore,
  asked: Asked,
  { end, after = null, progress }: { end: string | null; after?: string | null; progress: Progress },
  line: (line: ExportLine, event: RecordedEvent) => Promise<void> | undefined,
): Promise<void> {
  const selection = new Selection(asked);
  let read = 0;
  // Which streams are a merchant's is known from the beginning of the log alone.
  for await (const page of logPages(store, { after: asked.merchant === null ? after : null, end })) {
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

/** Writes the export to the folder, or goes on where an earlier run of the same was ended. */
export async function exportTo(
  folder: ExportFolder,
  store: EventStore,
  asked: Asked,
  { progress, signed, now }: { progress: Progress; signed: (size: number) => Promise<Signed>; now: Date },
): Promise<Exported> {
  const done = await folder.manifest();
  const begun = await folder.unfinished();
  const logId = await store.identity();
  for (const found of [done, begun]) if (found !== null) requireSame(found, asked, logId, folder.path);
  if (done !== null) return { manifest: done, resumed: null };
  const writing = new Writing(folder, begun ?? beginning(asked, logId, await store.head(), now));
  const { log_end: end, last_position: after } = writing.begun;
  try {
    await exportLines(store, asked, { end, after, progress }, (line, event) => writing.add(line, event));
    await writing.endPart();
  } finally {
    await writing.drop();
  }
  const manifest: Manifest = {
    ...writing.said(),
    merkle_root: writing.root,
    ...(isWhole(asked) ? await signed(writing.said().events) : { signed_head: null, signing_keys: [] }),
  };
  await folder.finish(manifest);
  return { manifest, resumed: begun?.events ?? 0 };
}

function beginning(asked: Asked, log_id: string, log_end: string | null, now: Date): Unfinished {
  return {
    ...{ format: MANIFEST_FORMAT, log_id, asked, log_end, exported_at: now.toISOString() },
    ...{ events: 0, first_position: null, last_position: null, parts: [] },
    tree: isWhole(asked) ? { size: 0, peaks: '' } : null,
  };
}

function requireSame(found: Unfinished | Manifest, asked: Asked, logId: string, path: string): void {
  const same = (['merchant', 'from', 'to', 'part_events'] as const).every(
    (name) => found.asked[name] === asked[name],
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
      ...{ format, log_id, asked, log_end, exported_at },
      events: this.parts.reduce((sum, { events }) => sum + events, 0),
      first_position: this.parts[0]?.first_position ?? null,
      last_position: this.parts.at(-1)?.last_position ?? null,
      parts: this.parts,
    };
  }
}
