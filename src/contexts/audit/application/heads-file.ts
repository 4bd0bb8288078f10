import { type FileHandle, open } from 'node:fs/promises';
import { hashOfHead, LedgerTampered, type SignedHead, type SigningKey } from '../domain/signed-head.js';
import type { Heads } from '../store/heads.js';
import { HeadVerifier } from './head-verifier.js';

/** Lines that are written at once. */
const MAX_LINES = 500;
/** Longer than any line. */
const TAIL_BYTES = 4096;

/** Heads as lines of JSON, for a log shipper. A half-written line is cut off. */
export class HeadsFile {
  constructor(private readonly path: string) {}

  /** The head of the last whole line; null without one. */
  async newest(): Promise<SignedHead | null> {
    const file = await open(this.path, 'a+', 0o644);
    try {
      return await lastOf(file);
    } finally {
      await file.close();
    }
  }

  /**
   * Adds every head that the file lacks, up to `newest`, which the service signed. Throws {@link LedgerTampered} at one
   * that no key of `keys` signed or that does not follow the head before it.
   */
  async append(
    heads: Pick<Heads, 'all'>,
    newest: SignedHead,
    keys: () => Promise<readonly SigningKey[]>,
  ): Promise<void> {
    const file = await open(this.path, 'a+', 0o644);
    try {
      const inFile = await lastOf(file);
      // What is in the file of another log stays, and this one follows it.
      let last = inFile?.log_id === newest.log_id ? inFile : null;
      if (last !== null && last.size >= newest.size) return;
      const trust = new HeadVerifier(newest.log_id, await keys(), null, null);
      const lines: string[] = [];
      const write = async (): Promise<void> => {
        await file.appendFile(lines.splice(0).join(''));
        await file.datasync();
      };
      for await (const head of heads.all({ after: last?.size ?? 0, upTo: newest.size })) {
        requireNext(head, last, trust);
        last = head;
        lines.push(`${JSON.stringify(head)}\n`);
        if (lines.length === MAX_LINES) await write();
      }
      if (last?.size !== newest.size)
        throw new LedgerTampered(`audit.heads lacks the head over ${newest.size} events`);
      await write();
    } finally {
      await file.close();
    }
  }
}

function requireNext(head: SignedHead, last: SignedHead | null, trust: HeadVerifier): void {
  const isNext = head.previous === (last === null ? null : hashOfHead(last));
  const why = isNext ? trust.verify(head) : 'it does not follow the head before it';
  if (why !== null) throw new LedgerTampered(`the head over ${head.size} events in audit.heads: ${why}`);
}

/** The head of the last whole line; null when there is none. */
async function lastOf(file: FileHandle): Promise<SignedHead | null> {
  const { size: bytes } = await file.stat();
  const from = Math.max(0, bytes - TAIL_BYTES);
  const tail = Buffer.alloc(bytes - from);
  await file.read(tail, 0, tail.length, from);
  const end = tail.lastIndexOf('\n') + 1;
  if (end < tail.length) await file.truncate(from + end);
  const last = tail.subarray(0, end).toString().trimEnd().split('\n').at(-1)!;
  return last === '' ? null : (JSON.parse(last) as SignedHead);
}
