import { Injectable, Logger } from '@nestjs/common';
import { Periodic } from '../jobs/background-work.js';
import { Database } from '../postgres/database.js';
import { KeyRing } from './key-ring.js';
import { associatedDataOfPersonalKey } from './personal-keys.js';

const POLL_MS = 5000;
const CHUNK = 500;
const RESEALING_LOCK = 7_331_121;
/** The time after which every process seals with a new key. */
const SETTLED_SECONDS = 60;

interface Row {
  readonly subject: string;
  readonly wrapped_key: string;
}

/** Wraps the personal keys with a new key of the ring, so that they no longer depend on earlier keys. */
@Injectable()
export class Resealing {
  private readonly logger = new Logger(Resealing.name);
  /** The id of the key with which all personal keys are wrapped; null until they are. */
  private doneFor: string | null = null;

  constructor(
    private readonly database: Database,
    private readonly ring: KeyRing,
  ) {}

  @Periodic({ name: 'resealing of personal keys', everyMs: POLL_MS })
  async run(signal: AbortSignal): Promise<void> {
    const id = this.ring.sealer.sealsWith;
    if (id === this.doneFor) return;
    const [key] = await this.database.query<{ settled: boolean; done: boolean }>(
      `select seals_from < now() - make_interval(secs => $2) as settled, resealed_at is not null as done
       from platform.key_ring where key_id = $1 limit 1`,
      [id, SETTLED_SECONDS],
    );
    if (key?.settled !== true) return;
    if (key.done || (await this.wrapAll(id, signal))) this.doneFor = id;
  }

  /** Wraps all personal keys again. Returns false if another process wraps them, or this one stops. */
  private async wrapAll(id: string, signal: AbortSignal): Promise<boolean> {
    for (let after = ''; ;) {
      if (signal.aborted) return false;
      const last = await this.wrapSome(id, after);
      if (last === null) return false;
      if (last === '') break;
      after = last;
    }
    await this.database.query('update platform.key_ring set resealed_at = now() where key_id = $1', [id]);
    return true;
  }

  /** Wraps some keys. Returns the last person id: empty at the end, null if another process wraps keys. */
  private async wrapSome(id: string, after: string): Promise<string | null> {
    return this.database.transaction(async (tx) => {
      const locked = await tx.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [
        RESEALING_LOCK,
      ]);
      if (locked.rows[0]?.mine !== true) return null;
      const { rows } = await tx.query<Row>(
        `select subject, wrapped_key from platform.personal_keys
         where subject > $1 and split_part(wrapped_key, '.', 2) <> $2 order by subject limit $3`,
        [after, id, CHUNK],
      );
      const wrapped = rows.map((row) => this.rewrap(row));
      // A person who was erased meanwhile remains erased.
      await tx.query(
        `update platform.personal_keys k set wrapped_key = n.fresh
         from unnest($1::text[], $2::text[], $3::text[]) n(subject, old, fresh)
         where k.subject = n.subject and k.wrapped_key = n.old`,
        [rows.map((row) => row.subject), rows.map((row) => row.wrapped_key), wrapped],
      );
      return rows.at(-1)?.subject ?? '';
    });
  }

  /** Wraps a personal key again, or returns it unchanged if no key of the ring opens it. */
  private rewrap({ subject, wrapped_key: old }: Row): string {
    const { sealer } = this.ring;
    const data = associatedDataOfPersonalKey(subject);
    try {
      return sealer.seal(sealer.openBytes(old, data), data);
    } catch (error) {
      this.logger.warn({ msg: 'a personal key does not open', subject, err: error });
      return old;
    }
  }
}
