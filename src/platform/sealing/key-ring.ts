import { randomBytes } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { SealingConfig } from '../config/config.js';
import { ConfigError } from '../config/settings.js';
import type { Database } from '../postgres/database.js';
import {
  addCopies,
  changeRing,
  hasSealed,
  noteProcess,
  readCopies,
  ROOT_ID,
  type KeyCopy,
  type NewCopy,
} from './key-ring-store.js';
import { deriveKey, keyId, Sealer } from './sealer.js';

const SINCE_EVER = new Date(0);

/** A MASTER_KEY, which wraps the keys of the ring and seals nothing else. */
export class MasterKey {
  /** The id in the ring, which reveals nothing of the key. */
  readonly id: string;
  private readonly sealer: Sealer;

  constructor(readonly bytes: Buffer) {
    const wrapping = deriveKey(bytes, 'key-ring');
    this.id = keyId(wrapping);
    this.sealer = new Sealer(wrapping);
  }

  wrap(key_id: string, key: Buffer, seals_from: Date | null): NewCopy {
    const wrapped = this.sealer.seal(key, `key-ring/${key_id}`);
    return { key_id, master_id: this.id, wrapped, seals_from };
  }

  unwrap({ key_id, wrapped }: Pick<KeyCopy, 'key_id' | 'wrapped'>): Buffer {
    return this.sealer.openBytes(wrapped, `key-ring/${key_id}`);
  }
}

export interface MasterKeys {
  readonly current: MasterKey;
  /** The former MASTER_KEY, while it is being replaced. */
  readonly former: MasterKey | null;
}

export function toMasterKeys({ masterKey, masterKeyFormer }: SealingConfig): MasterKeys {
  if (masterKey === null) throw new ConfigError('MASTER_KEY must be set.');
  const of = (hex: string): MasterKey => new MasterKey(Buffer.from(hex, 'hex'));
  return { current: of(masterKey), former: masterKeyFormer === null ? null : of(masterKeyFormer) };
}

/**
 * The sealing keys in `platform.key_ring`, wrapped by the master key. A change of the master key wraps only
 * these rows again. Each key has one copy per master key in use, so that processes with either one work.
 */
export class KeyRing {
  /** True if the ring lacks copies for this process's master key. The process could not start again. */
  isLost = false;

  private constructor(
    private readonly database: Pick<Database, 'query'>,
    private readonly master: MasterKey,
    readonly root: Buffer,
    /** Seals with the newest key and opens with all keys. `refresh` updates the keys. */
    readonly sealer: Sealer,
  ) {}

  /** Opens, creates or completes the ring. Throws ConfigError for the MASTER_KEY of another database. */
  static async open(database: Database, masters: MasterKeys): Promise<KeyRing> {
    let copies = await readCopies(database);
    if (lacking(copies, masters.current).length > 0 || copies.length === 0) {
      await changeRing(database, (tx, present) => complete(tx, present, masters));
      copies = await readCopies(database);
    }
    const { root, current, others } = unwrapped(copies, masters.current);
    return new KeyRing(database, masters.current, root, new Sealer(current, others));
  }

  /** Reads keys that were added meanwhile, and records that a process uses this master key. */
  async refresh(): Promise<void> {
    const copies = await readCopies(this.database);
    // While the ring is incomplete, the keys in memory remain in use.
    this.isLost = lacking(copies, this.master).length > 0 || copies.length === 0;
    if (this.isLost) return;
    const { current, others } = unwrapped(copies, this.master);
    this.sealer.setKeys(current, others);
    await noteProcess(this.database, this.master.id);
  }
}

/** The keys that an export needs to check MACs, without the root, which hashes personal values. */
export function wrappedKeys(copies: readonly KeyCopy[]) {
  const keys = copies.filter(({ key_id }) => key_id !== ROOT_ID);
  return keys.map(({ key_id, master_id, wrapped }) => ({ key_id, master_id, wrapped }));
}

/** Returns a sealer with these keys; null if no master key matches. Throws SealError for a changed key. */
export function sealerOfWrapped(
  keys: Readonly<ReturnType<typeof wrappedKeys>>,
  { current, former }: MasterKeys,
): Sealer | null {
  const opened = [current, former].flatMap((master) =>
    keys.filter(({ master_id }) => master_id === master?.id).map((key) => master!.unwrap(key)),
  );
  return opened.length === 0 ? null : new Sealer(opened[0]!, opened);
}

/** The ids of the keys without a copy for this master key. */
export function lacking(copies: readonly KeyCopy[], master: MasterKey): readonly string[] {
  const own = new Set(copies.filter(({ master_id }) => master_id === master.id).map(({ key_id }) => key_id));
  return [...new Set(copies.map(({ key_id }) => key_id))].filter((id) => !own.has(id));
}

function unwrapped(
  copies: readonly KeyCopy[],
  master: MasterKey,
): { readonly root: Buffer; readonly current: Buffer; readonly others: readonly Buffer[] } {
  const own = copies.filter(({ master_id }) => master_id === master.id);
  const root = own.find(({ key_id }) => key_id === ROOT_ID);
  const newest = own
    .filter(({ key_id, seals_now }) => key_id !== ROOT_ID && seals_now)
    .toSorted((a, b) => a.seals_from!.getTime() - b.seals_from!.getTime())
    .at(-1);
  if (root === undefined || newest === undefined) throw new Error('the key ring is not complete');
  const others = own.filter((copy) => copy !== root && copy !== newest).map((copy) => master.unwrap(copy));
  return { root: master.unwrap(root), current: master.unwrap(newest), others };
}

async function complete(tx: PoolClient, copies: readonly KeyCopy[], masters: MasterKeys): Promise<void> {
  if (copies.length === 0) {
    await addCopies(tx, await firstKeys(tx, masters));
    return;
  }
  const { current, former } = masters;
  const missing = lacking(copies, current);
  const theirs = copies.filter(
    ({ key_id, master_id }) => master_id === former?.id && missing.includes(key_id),
  );
  const added = theirs.map((copy) => current.wrap(copy.key_id, former!.unwrap(copy), copy.seals_from));
  await addCopies(tx, added);
  if (added.length < missing.length) throw wrongKey(masters);
}

async function firstKeys(tx: PoolClient, { current }: MasterKeys): Promise<NewCopy[]> {
  if (await hasSealed(tx))
    throw new ConfigError(
      'The key ring of this database (platform.key_ring) is empty, although its keys were used: restore the database from a backup.',
    );
  const [root, seals] = [randomBytes(32), randomBytes(32)];
  return [current.wrap(ROOT_ID, root, null), current.wrap(keyId(seals), seals, SINCE_EVER)];
}

function wrongKey({ former }: MasterKeys): ConfigError {
  const said =
    former === null ? 'MASTER_KEY does not match' : 'Neither MASTER_KEY nor MASTER_KEY_FORMER matches';
  return new ConfigError(
    `${said} the key this database was sealed with. Set MASTER_KEY to that one; when it is being replaced, set MASTER_KEY_FORMER to it (docs/keys.md).`,
  );
}
