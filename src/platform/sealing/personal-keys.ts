import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../cache-size.js';
import { Database } from '../postgres/database.js';
import { Sealer } from './sealer.js';

export type PersonalKey = Pick<Sealer, 'seal' | 'open' | 'openBytes'>;

const CACHED_KEYS = 10_000;
/** The cache time of keys. For so long, other processes may still open the data of an erased person. */
const CACHED_MS = 60_000;

interface KeyRow {
  readonly subject: string;
  readonly wrapped_key: string | null;
}

/** The data keys of persons, wrapped by the key ring. An erasure drops the key. */
@Injectable()
export class PersonalKeys {
  private readonly cache = new LRUCache<string, Sealer>({ ...upTo(CACHED_KEYS), ttl: CACHED_MS });

  constructor(
    private readonly database: Database,
    private readonly master: Sealer,
  ) {}

  /** Returns the key of a person, created on first use, or null for an erased person. */
  async obtain(subject: string): Promise<PersonalKey | null> {
    const cached = this.cache.get(subject);
    if (cached) return cached;
    const known = await this.rows([subject]);
    if (known.length > 0) return this.unwrap(known[0]!);
    const wrapped = this.master.seal(randomBytes(32), associatedDataOfPersonalKey(subject));
    await this.database.query(
      `insert into platform.personal_keys (subject, wrapped_key) values ($1, $2) on conflict do nothing`,
      [subject, wrapped],
    );
    // Another process may have inserted a key first.
    const [row] = await this.rows([subject]);
    return row ? this.unwrap(row) : null;
  }

  async find(subjects: readonly string[]): Promise<ReadonlyMap<string, PersonalKey>> {
    const found = new Map<string, PersonalKey>();
    const missing = new Set<string>();
    for (const subject of subjects) {
      const cached = this.cache.get(subject);
      if (cached) found.set(subject, cached);
      else missing.add(subject);
    }
    if (missing.size === 0) return found;
    for (const row of await this.rows([...missing])) {
      const key = this.unwrap(row);
      if (key) found.set(row.subject, key);
    }
    return found;
  }

  /** Drops the keys of these persons for good, so that their personal fields open as null. */
  async forget(...subjects: readonly string[]): Promise<void> {
    await this.database.query(
      `insert into platform.personal_keys (subject, wrapped_key, forgotten_at)
       select distinct subject, null, now() from unnest($1::text[]) subject
       on conflict (subject) do update set wrapped_key = null, forgotten_at = coalesce(personal_keys.forgotten_at, now())`,
      [subjects],
    );
    for (const subject of subjects) this.cache.delete(subject);
  }

  private async rows(subjects: readonly string[]): Promise<KeyRow[]> {
    return this.database.query<KeyRow>(
      'select subject, wrapped_key from platform.personal_keys where subject = any($1)',
      [subjects],
    );
  }

  private unwrap({ subject, wrapped_key: wrapped }: KeyRow): Sealer | null {
    if (wrapped === null) return null;
    const key = new Sealer(this.master.openBytes(wrapped, associatedDataOfPersonalKey(subject)));
    this.cache.set(subject, key);
    return key;
  }
}

export function associatedDataOfPersonalKey(subject: string): string {
  return `personal-key/${subject}`;
}
