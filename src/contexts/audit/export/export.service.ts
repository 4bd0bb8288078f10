import { DomainError } from '../../../kernel/domain-error.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import type { EventStore } from '../../../platform/event-store/port.js';
import { exportLine, type ExportLine } from '../ledger/event-leaf.js';
import { type Manifest, MANIFEST_FORMAT, type Signed } from './manifest.js';
import { MerkleTree } from '../ledger/merkle-tree.js';
import {
  type ExportFolder,
  type PartWriter,
  readManifestIn,
  type Unfinished,
} from './export-folder.store.js';

/** Receives the number of events read and the last position. */
type Progress = (read: number, position: string) => void;

export interface Exported {
  readonly manifest: Manifest;
  /** The number of events of earlier runs; null for an export that was complete. */
  readonly resumed: number | null;
}

/** The stored events up to `end`, in pages. */
export async function* exportedLines(
  store: EventStore,
  { end, after = null, progress }: { end: string | null; after?: string | null; progress: Progress },
): AsyncGenerator<readonly ExportLine[], void, undefined> {
  let read = 0;
  for await (const page of logPages(store, { after, end })) {
    yield page.map((event) => exportLine(event));
    read += page.length;
    progress(read, page.at(-1)!.position);
  }
}

/** Writes the log to the folder, in parts of `partEvents`, or continues an earlier run. */
export async function exportTo(
  folder: ExportFolder,
  store: EventStore,
  partEvents: number,
  { progress, signed, now }: { progress: Progress; signed: (size: number) => Promise<Signed>; now: Date },
): Promise<Exported> {
  const done = await readManifestIn(folder.path);
  const begun = await folder.unfinished();
  const logId = await store.identity();
  for (const found of [done, begun]) if (found !== null) requireSame(found, partEvents, logId, folder.path);
  if (done !== null) return { manifest: done, resumed: null };
  const { tree: kept, ...before } = begun ?? {
    format: MANIFEST_FORMAT,
    log_id: logId,
    part_events: partEvents,
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
  for await (const page of exportedLines(store, { end, after, progress })) {
    for (let lines = page; lines.length > 0;) {
      part ??= await folder.part(written.parts.length + 1);
      const fitting = lines.slice(0, partEvents - part.events);
      lines = lines.slice(fitting.length);
      for (const { leaf } of fitting) tree.append(leaf);
      await part.add(fitting);
      if (part.events < partEvents) continue;
      await endPart(part);
      part = null;
    }
  }
  if (part !== null) await endPart(part);
  const merkle_root = tree.root.toString('hex');
  const manifest: Manifest = { ...written, merkle_root, ...(await signed(written.events)) };
  await folder.finish(manifest);
  return { manifest, resumed: begun?.events ?? 0 };
}

function requireSame(found: Unfinished | Manifest, partEvents: number, logId: string, path: string): void {
  const isOtherLog = found.log_id !== logId;
  if (!isOtherLog && found.part_events === partEvents) return;
  const what = isOtherLog
    ? `of another log (${found.log_id})`
    : `in parts of ${found.part_events} events, expected ${partEvents}`;
  throw new DomainError('invalid_transition', `${path} holds an export ${what}: name another folder.`);
}
