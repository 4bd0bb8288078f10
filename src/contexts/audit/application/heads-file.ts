import { open, type FileHandle } from 'node:fs/promises';
import type { SignedHead } from '../domain/signed-head.js';
import type { Heads } from '../store/heads.js';

const PAGE = 500;
/** Longer than any line. */
const TAIL_BYTES = 4096;

/** Heads as lines of JSON, one behind the other, for whatever ships them elsewhere. A line that is half written is cut off. */
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

  /** Adds every head that the file lacks. */
  async append(heads: Pick<Heads, 'newest' | 'after'>): Promise<void> {
    const newest = await heads.newest();
    if (newest === null) return;
    const file = await open(this.path, 'a+', 0o644);
    try {
      const last = await lastOf(file);
      // What stands there of another log stays, and this one follows it.
      let size = last?.log_id === newest.log_id ? last.size : 0;
      while (size < newest.size) {
        const page = await heads.after(size, PAGE);
        if (page.length === 0) return;
        await file.appendFile(page.map((head) => `${JSON.stringify(head)}\n`).join(''));
        await file.datasync();
        size = page.at(-1)!.size;
      }
    } finally {
      await file.close();
    }
  }
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
