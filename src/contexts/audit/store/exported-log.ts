import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DomainError } from '../../../kernel/domain-error.js';
import { type ExportedEvent, readLine } from '../domain/event-leaf.js';
import { isWhole, type Manifest, MANIFEST_FILE, type Part, readManifest } from '../domain/manifest.js';
import { MerkleTree } from '../domain/merkle-tree.js';
import { Differences } from '../domain/findings.js';

const LINES_PER_PAGE = 2000;
const PART_FILE = /^events-\d+\.ndjson$/;

/** What a part is found to be. */
interface Found {
  bytes: number;
  events: number;
  first: string | null;
  last: string | null;
}

/** Reads an export line by line, and verifies it against its own hashes. */
export class ExportedLog {
  /** What is not as it was written. */
  readonly faults = new Differences();
  /** Over the leaves of all lines that were read. */
  readonly tree = new MerkleTree();

  private constructor(
    private readonly folder: string,
    private readonly files: readonly string[],
    /** Null for a file of lines alone. */
    readonly manifest: Manifest | null,
  ) {}

  /** A folder with its manifest, or one file of lines. Throws `bad_request` when there is nothing to check. */
  static async open(path: string): Promise<ExportedLog> {
    const found = await stat(path).catch(() => null);
    if (found === null) throw new DomainError('bad_request', `${path} is not there`);
    if (!found.isDirectory()) return new ExportedLog(dirname(resolve(path)), [basename(path)], null);
    const text = await readFile(join(path, MANIFEST_FILE), 'utf8').catch(() => null);
    if (text === null)
      throw new DomainError(
        'bad_request',
        `${path} has no ${MANIFEST_FILE}: the export was not finished, or a file is missing`,
      );
    const manifest = readManifest(text);
    if (typeof manifest === 'string')
      throw new DomainError('bad_request', `${join(path, MANIFEST_FILE)} ${manifest}`);
    const log = new ExportedLog(
      path,
      manifest.parts.map(({ file }) => file),
      manifest,
    );
    await log.checkFolder(manifest);
    return log;
  }

  /** Every event whose line is as it was written. After the last one, all {@link faults} are found. */
  async *pages(): AsyncGenerator<readonly ExportedEvent[], void, undefined> {
    for (const [n, file] of this.files.entries()) yield* this.part(file, this.manifest?.parts[n] ?? null);
    const { manifest, tree } = this;
    if (manifest === null || !isWhole(manifest.scope)) return;
    const root = tree.root.toString('hex');
    if (root !== manifest.merkle_root)
      this.faults.add(`the Merkle root is ${root}, and ${MANIFEST_FILE} says ${manifest.merkle_root}`);
    const size = manifest.signed_head?.size ?? 0;
    if (size > tree.size)
      this.faults.add(
        `the signed head in ${MANIFEST_FILE} covers ${size} events, and there are ${tree.size}`,
      );
  }

  private async checkFolder(manifest: Manifest): Promise<void> {
    for (const file of await readdir(this.folder))
      if (PART_FILE.test(file) && !this.files.includes(file))
        this.faults.add(`${file} is no part that ${MANIFEST_FILE} names`);
    const events = manifest.parts.reduce((sum, part) => sum + part.events, 0);
    if (events !== manifest.events)
      this.faults.add(`${MANIFEST_FILE} says ${manifest.events} events, and its parts have ${events}`);
    for (const { file } of manifest.parts)
      if (!PART_FILE.test(file))
        throw new DomainError('bad_request', `${MANIFEST_FILE} names ${file}, which is no part`);
  }

  private async *part(file: string, part: Part | null): AsyncGenerator<readonly ExportedEvent[]> {
    const hash = createHash('sha256');
    const found: Found = { bytes: 0, events: 0, first: null, last: null };
    let page: ExportedEvent[] = [];
    let rest: Buffer = Buffer.alloc(0);
    let number = 0;
    try {
      for await (const chunk of createReadStream(join(this.folder, file), { highWaterMark: 1 << 20 })) {
        const bytes = chunk as Buffer;
        hash.update(bytes);
        found.bytes += bytes.length;
        const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
        const end = all.lastIndexOf(10) + 1;
        rest = all.subarray(end);
        if (end === 0) continue;
        for (const line of all.toString('utf8', 0, end - 1).split('\n')) {
          number += 1;
          const event = readLine(line);
          if (typeof event === 'string') this.faults.add(`${file}, line ${number}: ${event}`);
          else page.push(this.noted(event, found));
          if (page.length < LINES_PER_PAGE) continue;
          yield page;
          page = [];
        }
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      this.faults.add(code === 'ENOENT' ? `${file} is missing` : `${file} cannot be read (${code})`);
      return;
    }
    if (rest.length > 0) this.faults.add(`${file}, line ${number + 1}: is cut`);
    if (page.length > 0) yield page;
    if (part !== null) this.checkPart(part, found, hash.digest('hex'));
  }

  private noted(event: ExportedEvent, found: Found): ExportedEvent {
    this.tree.append(event.leaf);
    const head = this.manifest?.signed_head;
    if (head && this.tree.size === head.size && this.tree.root.toString('hex') !== head.root)
      this.faults.add(`the first ${head.size} events are not those of the signed head in ${MANIFEST_FILE}`);
    found.events += 1;
    found.first ??= event.position;
    found.last = event.position;
    return event;
  }

  private checkPart(part: Part, found: Found, sha256: string): void {
    const { file } = part;
    if (sha256 !== part.sha256)
      this.faults.add(`${file} has the SHA-256 ${sha256}, and ${MANIFEST_FILE} says ${part.sha256}`);
    if (found.bytes !== part.bytes)
      this.faults.add(`${file} has ${found.bytes} bytes, and ${MANIFEST_FILE} says ${part.bytes}`);
    if (found.events !== part.events)
      this.faults.add(`${file} has ${found.events} events, and ${MANIFEST_FILE} says ${part.events}`);
    if (found.events > 0 && (found.first !== part.first_position || found.last !== part.last_position))
      this.faults.add(
        `${file} has the positions ${found.first} to ${found.last}, and ${MANIFEST_FILE} says ${part.first_position} to ${part.last_position}`,
      );
  }
}
