import type { Connection, Pool, Submittable } from 'pg';
import { bounded } from './bounded.js';

const BIND = 0x42;
const TEXT_FORMAT = 0;
const BINARY_FORMAT = 1;
/** The number of formats of results: all are text, and none comes. */
const END_OF_BIND = Buffer.alloc(2);

interface OpenConnection extends Connection {
  /** The texts of the statements that the connection has prepared, by their names. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs a prepared statement without rows whose last parameter is `bytes`; the same `text` has the same `name`. For bodies of
 * hundreds of kilobytes: pg copies a Buffer twice into ever larger ones before it is sent, and what is allocated outside
 * of the heap drives the collector. Here the bytes go to the socket as they are; they must not change until then.
 * Waits and rejects as `Database.query` does.
 */
export async function runWithBytes(
  pool: Pool,
  { name, text }: { readonly name: string; readonly text: string },
  params: readonly string[],
  bytes: Buffer,
): Promise<void> {
  const statement = bounded(new BytesStatement(name, text, params, bytes));
  // The pool hands a query of one's own to a connection and waits for its callback, as for any other.
  await (pool.query(statement) as unknown as Promise<void>);
}

/** In pg's protocol of queries. */
class BytesStatement implements Submittable {
  /** Set by the connection that the query is handed to. */
  callback: ((error?: Error) => void) | undefined;

  constructor(
    readonly name: string,
    readonly text: string,
    private readonly params: readonly string[],
    private readonly bytes: Buffer,
  ) {}

  submit(connection: Connection): void {
    const { stream, parsedStatements } = connection as OpenConnection;
    // A connection that just ended says so itself.
    if (!stream.writable) return;
    stream.cork();
    if (parsedStatements[this.name] === undefined)
      connection.parse({ name: this.name, text: this.text, types: [] }, true);
    stream.write(this.bind());
    stream.write(this.bytes);
    stream.write(END_OF_BIND);
    connection.execute({ portal: '', rows: '' }, true);
    connection.sync();
    stream.uncork();
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback?.();
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }

  /** The Bind message up to the bytes. */
  private bind(): Buffer {
    const count = this.params.length + 1;
    const params = this.params.map((param) => Buffer.from(param));
    const length = params.reduce((sum, param) => sum + 4 + param.length, 0);
    const name = Buffer.from(this.name);
    const head = Buffer.alloc(1 + 4 + 1 + name.length + 1 + 2 + 2 * count + 2 + length + 4);
    let at = head.writeUInt8(BIND, 0);
    at = head.writeInt32BE(head.length - 1 + this.bytes.length + END_OF_BIND.length, at);
    // The portal without a name, the name of the statement.
    at = head.writeUInt8(0, at);
    at += name.copy(head, at);
    at = head.writeUInt8(0, at);
    at = head.writeInt16BE(count, at);
    for (let i = 1; i < count; i += 1) at = head.writeInt16BE(TEXT_FORMAT, at);
    at = head.writeInt16BE(BINARY_FORMAT, at);
    at = head.writeInt16BE(count, at);
    for (const param of params) {
      at = head.writeInt32BE(param.length, at);
      at += param.copy(head, at);
    }
    head.writeInt32BE(this.bytes.length, at);
    return head;
  }
}
