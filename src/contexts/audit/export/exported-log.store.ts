import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DomainError } from '../../../kernel/domain-error.js';
import { type ExportedEvent, readLine } from '../ledger/event-leaf.js';
import { readManifestIn } from './export-folder.store.js';
import { isWhole, type Manifest, MANIFEST_FILE, type Part } from './manifest.js';
import { MerkleTree } from '../ledger/merkle-tree.js';
import { FindingList } from '../../../kernel/finding-list.js';

const LINES_PER_PAGE = 2000;
const PART_FILE = /^events-\d+\.ndjson$/;

export class ExportedLog {
  readonly faults = new FindingList<string>();
  readonly tree = new MerkleTree();

  private constructor(
    private readonly folder: string,
    private readonly files: readonly string[],
    readonly manifest: Manifest | null,
  ) {}

  /** Opens an export folder with a manifest, or one file of lines. Throws `bad_request` for other folders. */
  static async open(path: string): Promise<ExportedLog> {
    const isFolder = (await stat(path)).isDirectory();
    if (!isFolder) return new ExportedLog(dirname(resolve(path)), [basename(path)], null);
    const manifest = await readManifestIn(path);
    const missing = `${path} has no ${MANIFEST_FILE}: the export was not finished, or a file is missing`;
    if (manifest === null) throw new DomainError('bad_request', missing);
    const files = manifest.parts.map(({ file }) => file);
    const log = new ExportedLog(path, files, manifest);
    await log.checkFolder(manifest);
    return log;
  }

  /** Yields the events of unchanged lines. {@link faults} is complete after the last page. */
  async *pages(): AsyncGenerator<readonly ExportedEvent[], void, undefined> {
    for (const [n, file] of this.files.entries()) yield* this.part(file, this.manifest?.parts[n] ?? null);
    const { manifest, tree } = this;
    if (manifest === null || !isWhole(manifest.scope)) return;
    const root = tree.root.toString('hex');
    if (root !== manifest.merkle_root)
      this.faults.add(`the Merkle root is ${root}, and ${MANIFEST_FILE} says ${manifest.merkle_root}`);
  }

  private async checkFolder(manifest: Manifest): Promise<void> {
    for (const file of await readdir(this.folder))
      if (PART_FILE.test(file) && !this.files.includes(file))
        this.faults.add(`${file} is no part that ${MANIFEST_FILE} names`);
    const events = manifest.parts.reduce((sum, part) => sum + part.events, 0);
    if (events !== manifest.events)
      this.faults.add(`${MANIFEST_FILE} says ${manifest.events} events, and its parts have ${events}`);
    // Another name could be a path out of the folder.
    const strange = this.files.find((file) => !PART_FILE.test(file));
    if (strange !== undefined)
      throw new DomainError('bad_request', `${MANIFEST_FILE} lists ${strange}, which is no name of a part`);
  }

  private async *part(file: string, part: Part | null): AsyncGenerator<readonly ExportedEvent[]> {
    const hash = createHash('sha256');
    const before = this.tree.size;
    let [bytes, first, last] = [0, '', ''];
    let page: ExportedEvent[] = [];
    let rest: Buffer = Buffer.alloc(0);
    let number = 0;
    try {
      for await (const chunk of createReadStream(join(this.folder, file), { highWaterMark: 1 << 20 })) {
        hash.update(chunk as Buffer);
        bytes += (chunk as Buffer).length;
        const all = Buffer.concat([rest, chunk as Buffer]);
        const end = all.lastIndexOf(10) + 1;
        rest = all.subarray(end);
        if (end === 0) continue;
        for (const line of all.toString('utf8', 0, end - 1).split('\n')) {
          number += 1;
          const event = readLine(line);
          if (typeof event === 'string') {
            this.faults.add(`${file}, line ${number}: ${event}`);
            continue;
          }
          this.tree.append(event.leaf);
          first ||= event.position;
          last = event.position;
          if (page.push(event) < LINES_PER_PAGE) continue;
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
    const events = this.tree.size - before;
    const found = { sha256: hash.digest('hex'), bytes, events, first_position: first, last_position: last };
    for (const [name, value] of Object.entries(found)) {
      const given = part?.[name as keyof typeof found];
      if (part !== null && value !== given)
        this.faults.add(`${file} has the ${name} ${value}, and ${MANIFEST_FILE} says ${given}`);
    }
  }
}
