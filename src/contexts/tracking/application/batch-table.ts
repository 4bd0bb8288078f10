import { Injectable } from '@nestjs/common';
import { runWithBytes } from '../../../platform/postgres/bytes-statement.js';
import { Database } from '../../../platform/postgres/database.js';
import { GroupCall } from '../../../platform/background/group-call.js';
import { batchStoreDuration } from '../metrics.js';
import { Partitions } from './partitions.js';

/** A batch that was found valid. */
export interface ValidBatch {
  readonly merchantId: string;
  readonly batchId: string;
  /** Whether the id belongs to an Idempotency-Key: then an earlier request may have stored the batch and died. */
  readonly repeatable: boolean;
  readonly itemCount: number;
  /** The request's body exactly as it was sent. */
  readonly body: Buffer;
}

export interface NewBatch extends ValidBatch {
  readonly receivedAt: Date;
}

const COLUMNS = {
  batch_id: 'uuid',
  merchant_id: 'uuid',
  received_at: 'timestamptz',
  item_count: 'int',
  body: 'bytea',
};
const NAMES = Object.keys(COLUMNS);
const TYPES = Object.values(COLUMNS);

/** Batches of this many bytes or more are worth a statement, and a server process, of their own. */
const LARGE_BYTES = 65_536;
/** How many of these run at once, out of the pool that all requests share. */
const LARGE_LANES = 6;
/** Small batches share one statement, and its commit. */
const MOST_SMALL = 64;
/** A repeat comes within a day; what a later one stores is processed as a batch in which nothing is new. */
const REPEATS_WITHIN_MS = 86_400_000;

/** Writes accepted batches. */
@Injectable()
export class BatchTable {
  private readonly small = new GroupCall(this.insertAll.bind(this), { most: MOST_SMALL });
  private readonly large = Array.from(
    { length: LARGE_LANES },
    () => new GroupCall(([batch]: readonly NewBatch[]) => this.insertLarge(batch!), { most: 1 }),
  );
  private turn = 0;

  constructor(
    private readonly database: Database,
    private readonly partitions: Partitions,
  ) {}

  /** Resolves once the batch is durable. Rejects, with nothing written, when the database is away. */
  async insert(batch: NewBatch): Promise<void> {
    if (batch.body.length < LARGE_BYTES) await this.small.call(batch);
    else {
      this.turn = (this.turn + 1) % LARGE_LANES;
      await this.large[this.turn]!.call(batch);
    }
  }

  private async insertAll(batches: readonly NewBatch[]): Promise<null[]> {
    const { text, values } = batches.some((each) => each.repeatable) ? insertNew(batches) : insert(batches);
    await this.store(batches, () => this.database.query(text, values));
    return batches.map(() => null);
  }

  private async insertLarge(batch: NewBatch): Promise<null[]> {
    if (batch.repeatable) return this.insertAll([batch]);
    const { batchId, merchantId, receivedAt, itemCount, body } = batch;
    const params = [batchId, merchantId, receivedAt.toISOString(), String(itemCount)];
    await this.store([batch], () => runWithBytes(this.database.pool, INSERT_ONE, params, body));
    return [null];
  }

  private async store(batches: readonly NewBatch[], run: () => Promise<unknown>): Promise<void> {
    const stored = batchStoreDuration.startTimer();
    await this.partitions.having(
      run,
      batches.map((each) => each.receivedAt),
    );
    stored();
  }
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

function insert(batches: readonly NewBatch[]): Statement {
  return {
    text: `insert into tracking.batches (${NAMES.join()}) ${valuesClause(batches.length)}`,
    values: valuesOf(batches),
  };
}

const INSERT_ONE = {
  name: 'tracking.insert_batch',
  text: `insert into tracking.batches (${NAMES.join()}) ${valuesClause(1)}`,
};

/** Only what is not there yet. Looking for that costs the plan of a statement over several partitions. */
function insertNew(batches: readonly NewBatch[]): Statement {
  const times = batches.map((each) => each.receivedAt.getTime());
  const from = new Date(Math.min(...times) - REPEATS_WITHIN_MS);
  const to = new Date(Math.max(...times) + REPEATS_WITHIN_MS);
  const first = batches.length * NAMES.length + 1;
  return {
    text: `
      insert into tracking.batches (${NAMES.join()})
      select * from (${valuesClause(batches.length)}) as sent (${NAMES.join()})
      where not exists (
        select from tracking.batches as stored
        where stored.batch_id = sent.batch_id and stored.received_at between $${first} and $${first + 1})`,
    values: [...valuesOf(batches), from, to],
  };
}

function valuesClause(rows: number): string {
  const places = Array.from({ length: rows }, (_, row) => {
    const first = row * TYPES.length + 1;
    return `(${TYPES.map((type, column) => `$${first + column}::${type}`).join()})`;
  });
  return `values ${places.join()}`;
}

/** In the order of {@link COLUMNS}. */
function valuesOf(batches: readonly NewBatch[]): unknown[] {
  return batches.flatMap((each) => [
    each.batchId,
    each.merchantId,
    each.receivedAt,
    each.itemCount,
    each.body,
  ]);
}
