import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { DomainError } from '../../../kernel/domain-error.js';
import { type Manifest, MANIFEST_FILE, type Part, readManifest, type Signed } from '../domain/manifest.js';

const UNFINISHED_FILE = 'unfinished.json';
/** What runs that were killed had begun to write. */
const OF_KILLED = /^\.(events-\d+\.ndjson|unfinished\.json|manifest\.json)\.\d+$/;
const BUFFER_BYTES = 1 << 20;

/** The state of an unfinished export after its last whole part. */
export interface Unfinished extends Omit<Manifest, 'merkle_root' | keyof Signed> {
  /** The tree over the leaves of these parts: its size, and its peaks in hex. */
  readonly tree: { readonly size: number; readonly peaks: string } | null;
}

/**
 * The folder of an export. A file has its name once all of it is on the disk: parts first, then what is said of them, so
 * that a killed run leaves no wrong file.
 */
export class ExportFolder {
  private constructor(readonly path: string) {}

  static async at(path: string): Promise<ExportFolder> {
    return withReason(path, async () => {
      await mkdir(path, { recursive: true });
      return new ExportFolder(path);
    });
  }

  /** Null when the export is not complete. */
  async manifest(): Promise<Manifest | null> {
    const text = await this.read(MANIFEST_FILE);
    if (text === null) return null;
    const manifest = readManifest(text);
    if (typeof manifest !== 'string') return manifest;
    throw new DomainError('invalid_transition', `${join(this.path, MANIFEST_FILE)} ${manifest}`);
  }

  /** Null when nothing has begun. */
  async unfinished(): Promise<Unfinished | null> {
    const text = await this.read(UNFINISHED_FILE);
    return text === null ? null : (JSON.parse(text) as Unfinished);
  }

  async keep(unfinished: Unfinished): Promise<void> {
    await this.write(UNFINISHED_FILE, unfinished);
  }

  async finish(manifest: Manifest): Promise<void> {
    await this.write(MANIFEST_FILE, manifest);
    await withReason(this.path, async () => {
      for (const name of await readdir(this.path))
        if (name === UNFINISHED_FILE || OF_KILLED.test(name)) await rm(join(this.path, name));
    });
  }

  part(number: number): Promise<PartWriter> {
    return PartWriter.begin(this.path, `events-${String(number).padStart(6, '0')}.ndjson`);
  }

  private async read(name: string): Promise<string | null> {
    try {
      return await readFile(join(this.path, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw inWords(error, this.path);
    }
  }

  private async write(name: string, value: object): Promise<void> {
    const file = await PartWriter.begin(this.path, name);
    await file.line(JSON.stringify(value, null, 2));
    await file.end();
  }
}

/** A file that is being written under another name. */
export class PartWriter {
  private readonly hash: Hash = createHash('sha256');
  private gathered = '';
  private bytes = 0;

  private constructor(
    private readonly folder: string,
    readonly name: string,
    private readonly file: FileHandle,
  ) {}

  static async begin(folder: string, name: string): Promise<PartWriter> {
    return withReason(
      folder,
      async () => new PartWriter(folder, name, await open(join(folder, `.${name}.${process.pid}`), 'w')),
    );
  }

  /** A promise to wait for when enough is gathered to be written. */
  line(text: string): Promise<void> | undefined {
    this.gathered += `${text}\n`;
    return this.gathered.length >= BUFFER_BYTES ? this.flush() : undefined;
  }

  /** Gives the file its name. */
  async end(): Promise<Pick<Part, 'file' | 'bytes' | 'sha256'>> {
    await this.flush();
    await withReason(this.folder, async () => {
      await this.file.sync();
      await this.file.close();
      await rename(join(this.folder, `.${this.name}.${process.pid}`), join(this.folder, this.name));
    });
    return { file: this.name, bytes: this.bytes, sha256: this.hash.digest('hex') };
  }

  /** Lets go of it; nothing is left. */
  async drop(): Promise<void> {
    await this.file.close().catch(() => undefined);
    await rm(join(this.folder, `.${this.name}.${process.pid}`), { force: true }).catch(() => undefined);
  }

  private async flush(): Promise<void> {
    const chunk = Buffer.from(this.gathered, 'utf8');
    this.gathered = '';
    this.bytes += chunk.length;
    this.hash.update(chunk);
    await withReason(this.folder, () => this.file.writeFile(chunk));
  }
}

async function withReason<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw inWords(error, path);
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EACCES: 'it may not be written to',
  EROFS: 'it is on a disk that may only be read',
  ENOTDIR: 'it is no folder',
  EEXIST: 'it is no folder',
  EPIPE: 'its reader is gone',
  EIO: 'the disk does not respond',
};

/** Complete parts stay: the same command continues with them. */
function inWords(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const words = code === undefined ? undefined : WORDS[code];
  if (words === undefined) return error;
  return new DomainError('unavailable', `${path}: ${words} (${code})`);
}

const GATHERED = 1 << 18;

/** Writes lines to a stream no faster than its reader reads. Rejects with the reason once the reader is gone. */
export class LineStream {
  private gathered = '';
  private failure: Error | null = null;

  constructor(
    private readonly stream: Writable,
    private readonly name: string,
  ) {
    stream.on('error', (error) => (this.failure = error));
  }

  async line(text: string): Promise<void> {
    this.gathered += `${text}\n`;
    if (this.gathered.length >= GATHERED) await this.flush();
  }

  async end(): Promise<void> {
    await this.flush();
    // What is written last has to arrive too.
    await new Promise<void>((resolve) => this.stream.write('', () => resolve()));
    if (this.failure !== null) throw inWords(this.failure, this.name);
  }

  private async flush(): Promise<void> {
    const text = this.gathered;
    this.gathered = '';
    if (this.failure === null && !this.stream.write(text)) {
      await Promise.race([once(this.stream, 'drain'), once(this.stream, 'close')]).catch(() => undefined);
    }
    if (this.failure !== null) throw inWords(this.failure, this.name);
  }
}
