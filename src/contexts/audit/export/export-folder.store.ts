import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ExportLine } from '../ledger/event-leaf.js';
import { type Manifest, MANIFEST_FILE, type Part, readManifest, type Signed } from './manifest.js';

const UNFINISHED_FILE = 'unfinished.json';
/** The names of temporary files that a killed run did not rename. */
const OF_KILLED = /^\.(events-\d+\.ndjson|unfinished\.json|manifest\.json)\.\d+$/;

/** The state of an unfinished export after its last complete part. */
export interface Unfinished extends Omit<Manifest, 'merkle_root' | keyof Signed> {
  /** The Merkle tree over the events of all complete parts: its size, and its peaks in hex. */
  readonly tree: { readonly size: number; readonly peaks: string };
}

/** The folder of an export. Each file gets its final name when complete, so no named file is partial. */
export class ExportFolder {
  private constructor(readonly path: string) {}

  static async at(path: string): Promise<ExportFolder> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return new ExportFolder(path);
  }

  /** Reads the state after the last complete part; null before the first part and after the whole export. */
  async unfinished(): Promise<Unfinished | null> {
    const text = await read(join(this.path, UNFINISHED_FILE));
    return text === null ? null : (JSON.parse(text) as Unfinished);
  }

  async keep(unfinished: Unfinished): Promise<void> {
    await this.write(UNFINISHED_FILE, unfinished);
  }

  async finish(manifest: Manifest): Promise<void> {
    await this.write(MANIFEST_FILE, manifest);
    for (const name of await readdir(this.path))
      if (name === UNFINISHED_FILE || OF_KILLED.test(name)) await rm(join(this.path, name));
  }

  part(number: number): Promise<PartWriter> {
    const name = `events-${String(number).padStart(6, '0')}.ndjson`;
    return PartWriter.begin(this.path, name);
  }

  private async write(name: string, value: object): Promise<void> {
    const file = await PartWriter.begin(this.path, name);
    await file.write(`${JSON.stringify(value, null, 2)}\n`);
    await file.end();
  }
}

/** Reads the manifest; null while the export is incomplete. Throws `bad_request` for an invalid manifest. */
export async function readManifestIn(folder: string): Promise<Manifest | null> {
  const path = join(folder, MANIFEST_FILE);
  const text = await read(path);
  return text === null ? null : readManifest(path, text);
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Writes a file under a temporary name. `end` renames the file to its final name. */
export class PartWriter {
  events = 0;
  private first = '';
  private last = '';
  private bytes = 0;
  private readonly hash = createHash('sha256');

  private constructor(
    private readonly folder: string,
    private readonly name: string,
    private readonly file: FileHandle,
  ) {}

  static async begin(folder: string, name: string): Promise<PartWriter> {
    return new PartWriter(folder, name, await open(join(folder, `.${name}.${process.pid}`), 'w', 0o600));
  }

  async add(lines: readonly ExportLine[]): Promise<void> {
    if (this.events === 0) this.first = lines[0]!.position;
    this.last = lines.at(-1)!.position;
    this.events += lines.length;
    await this.write(toText(lines));
  }

  async write(text: string): Promise<void> {
    const chunk = Buffer.from(text, 'utf8');
    this.bytes += chunk.length;
    this.hash.update(chunk);
    await this.file.writeFile(chunk);
  }

  async end(): Promise<Part> {
    const { name: file, bytes, events, first: first_position, last: last_position } = this;
    await this.file.sync();
    await this.file.close();
    await rename(join(this.folder, `.${file}.${process.pid}`), join(this.folder, file));
    return { file, bytes, sha256: this.hash.digest('hex'), events, first_position, last_position };
  }
}

export async function printLines(pages: AsyncIterable<readonly ExportLine[]>): Promise<void> {
  const texts = async function* (): AsyncGenerator<string> {
    for await (const lines of pages) yield toText(lines);
  };
  await pipeline(texts(), process.stdout, { end: false });
}

function toText(lines: readonly ExportLine[]): string {
  return lines.map(({ text }) => `${text}\n`).join('');
}
