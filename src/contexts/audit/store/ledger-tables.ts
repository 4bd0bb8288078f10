import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { beginHeads } from './heads.js';
import { beginLedger } from './ledger.js';

const EMPTY = `truncate audit.heads, audit.last_head, audit.leaves, audit.ledger;
  update event_store.checkpoints set position = null where name = 'audit.ledger'`;

/** The rows without which follower and signer do nothing. */
@Injectable()
export class LedgerTables {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** What is there already stays, unless the tables are to be emptied first. */
  async begin(logId: string, { emptied }: { readonly emptied: boolean }): Promise<void> {
    await this.database.transaction(async (tx) => {
      if (emptied) await tx.query(EMPTY);
      await beginLedger(tx, logId, this.sealer);
      await beginHeads(tx, this.sealer);
    });
  }
}
