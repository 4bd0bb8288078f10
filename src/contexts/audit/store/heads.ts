import { Inject, Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { SignedHead } from '../domain/signed-head.js';

interface Row {
  readonly log_id: string;
  readonly size: string;
  readonly root: Buffer;
  readonly position: string;
  readonly signed_at: Date;
  readonly key_id: string;
  readonly signature: Buffer;
  readonly [column: string]: unknown;
}

const HEADS = `select l.log_id, h.size, h.root, h.position, h.signed_at, h.key_id, h.signature
  from audit.heads h cross join audit.ledger l`;

/** Signed heads, in `audit.heads`. */
@Injectable()
export class Heads {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query'>) {}

  /** Null before the first. */
  async newest(): Promise<SignedHead | null> {
    const [row] = await this.database.query<Row>(`${HEADS} order by h.size desc limit 1`);
    return row === undefined ? null : headOf(row);
  }

  /** Heads of more than `size` events, in order, at most `limit`. */
  async after(size: number, limit: number): Promise<readonly SignedHead[]> {
    const rows = await this.database.query<Row>(`${HEADS} where h.size > $1 order by h.size limit $2`, [
      size,
      limit,
    ]);
    return rows.map(headOf);
  }

  /** One of the same size that is there stays. */
  async add({ size, root, position, signed_at, key_id, signature }: SignedHead): Promise<void> {
    await this.database.query(
      `insert into audit.heads (size, root, position, signed_at, key_id, signature)
       values ($1, decode($2, 'hex'), $3, $4, $5, decode($6, 'hex')) on conflict do nothing`,
      [size, root, position, signed_at, key_id, signature],
    );
  }
}

function headOf(row: Row): SignedHead {
  return {
    log_id: row.log_id,
    size: Number(row.size),
    root: row.root.toString('hex'),
    position: row.position,
    signed_at: row.signed_at.toISOString(),
    key_id: row.key_id,
    signature: row.signature.toString('hex'),
  };
}
