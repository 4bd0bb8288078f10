import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { GroupCall } from '../../platform/group-call.js';

/** A batch as it was accepted. */
export interface NewBatch {
  readonly batchId: string;
  readonly merchantId: string;
  readonly receivedAt: Date;
  readonly itemCount: number;
  /** The request's body exactly as it was sent. */
  readonly body: Buffer;
}

/** Batches of one statement: bodies of 1 MB each. */
const MOST = 16;
const COLUMNS = 5;

/** Writes batches; those that arrive while a statement is under way go together in the next. */
@Injectable()
export class BatchTable {
  private readonly inserts = new GroupCall<NewBatch, null>((batches) => this.insertAll(batches), {
    most: MOST,
  });

  constructor(private readonly database: Database) {}

  /** Resolves once the batch is durable. Rejects, with nothing written, when the database is away. */
  async insert(batch: NewBatch): Promise<void> {
    await this.inserts.call(batch);
  }

  private async insertAll(batches: readonly NewBatch[]): Promise<null[]> {
    const rows = batches.map(
      (_, i) => `(${Array.from({ length: COLUMNS }, (__, c) => `$${i * COLUMNS + c + 1}`).join()})`,
    );
    await this.database.query(
      `insert into tracking.batches (batch_id, merchant_id, received_at, item_count, body) values ${rows.join()}`,
      batches.flatMap((each) => [each.batchId, each.merchantId, each.receivedAt, each.itemCount, each.body]),
    );
    return batches.map(() => null);
  }
}
