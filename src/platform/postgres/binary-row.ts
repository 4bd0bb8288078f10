import pg, { type Connection, type Pool, type Submittable } from 'pg';
import { bounded } from './session-settings.js';

/** Fields of a row in PostgreSQL's binary format; null for SQL null. */
export type BinaryFields = readonly (Buffer | null)[];

const { escapeLiteral } = pg;
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
/** Of the header: the signature, the flags, the length of the extension. */
const HEADER = SIGNATURE.length + 8;

export interface BinaryStatement {
  readonly params: readonly (string | Date)[];
  /** Those that the statement reads. */
  readonly tables: readonly string[];
}

/**
 * The one row of `sql`, read by `read`, which must not keep the buffers: they are where the connection receives.
 * For texts of hundreds of kilobytes: pg decodes every field of a usual result to a string, which would be encoded
 * again on its way out. COPY hands over bytes. It takes no parameters, so `params` become literals. Unlike a SELECT it
 * takes its snapshot before it waits for its tables: had a rebuild put others in their place meanwhile, it would find no
 * rows in them. So the lock comes first, in a separate statement, of the same message and transaction.
 */
export async function binaryRow<T>(
  pool: Pool,
  sql: string,
  { params, tables }: BinaryStatement,
  read: (fields: BinaryFields) => T,
  timeoutMs: number | null,
): Promise<T> {
  const text = sql.replace(/\$(\d+)/g, (_, number: string) => literal(params[Number(number) - 1]!));
  const lock = tables.length === 0 ? '' : `lock table ${tables.join(', ')} in access share mode; `;
  const query = new CopyOut(`${lock}copy (${text}) to stdout (format binary)`, (fields) => ({
    value: read(fields),
  }));
  // The pool hands a query of one's own to a connection and waits for its callback, as for any other.
  await (pool.query(timeoutMs === null ? query : bounded(query, timeoutMs)) as unknown as Promise<void>);
  const [row] = query.rows;
  if (row === undefined) throw new Error('a statement that gives one row gave none');
  return row.value;
}

function literal(value: string | Date): string {
  return escapeLiteral(typeof value === 'string' ? value : value.toISOString());
}

/** One COPY to the client in pg's protocol of queries. */
class CopyOut<T> implements Submittable {
  /** Set by the connection that the query is handed to. */
  callback: ((error?: Error) => void) | undefined;
  readonly rows: T[] = [];
  private failure: Error | undefined;

  constructor(
    readonly text: string,
    private readonly read: (fields: BinaryFields) => T,
  ) {}

  submit(connection: Connection): void {
    connection.query(this.text);
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    try {
      const fields = fieldsOf(chunk);
      if (fields !== null) this.rows.push(this.read(fields));
    } catch (error) {
      this.failure = error as Error;
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback?.(this.failure);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }
}

/** The header may precede the row in one message; null when the message holds no row. */
function fieldsOf(message: Buffer): BinaryFields | null {
  const headed = message.subarray(0, SIGNATURE.length).equals(SIGNATURE);
  let at = headed ? HEADER + message.readInt32BE(HEADER - 4) : 0;
  if (message.length < at + 2) return null;
  const count = message.readInt16BE(at);
  if (count < 0) return null;
  at += 2;
  return Array.from({ length: count }, () => {
    const length = message.readInt32BE(at);
    at += 4;
    if (length < 0) return null;
    at += length;
    return message.subarray(at - length, at);
  });
}
