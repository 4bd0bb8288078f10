import { Readable } from 'node:stream';
import { Injectable, StreamableFile } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { PayoutsView, type PayoutFilter, type PayoutTotals } from './payouts.view.js';

/** The limit of rows per query, which bounds the memory of an export. */
const ROWS = 200;
const RETRY_SECONDS = 5;

const COLUMNS = ['id', 'user_id', 'amount', 'currency_code', 'status', 'transaction_hash', 'reason'] as const;

const FORMATS: Readonly<Record<string, { readonly head: string; readonly line: (body: string) => string }>> =
  {
    'application/x-ndjson': { head: '', line: (body) => `${oneLine(body)}\n` },
    'text/csv': { head: `${[...COLUMNS, 'custom_metadata', 'created_at'].join()}\r\n`, line: csvLine },
  };

export const EXPORT_TYPES = Object.keys(FORMATS);

/** Exports and totals (contract.md 9.7). Each reads all rows, so a merchant can run only one at a time. */
@Injectable()
export class PayoutExport {
  private readonly running = new Set<string>();

  constructor(private readonly payouts: PayoutsView) {}

  /** Streams an export as fast as the client reads. Throws `rate_limited` during another export or total. */
  start(type: string, merchantId: string, filter: PayoutFilter): StreamableFile {
    this.reserve(merchantId);
    const pages = { ...filter, page_size: Math.min(ROWS, filter.page_size) };
    const body = Readable.from(this.lines(type, merchantId, pages), { objectMode: false });
    body.once('close', () => this.running.delete(merchantId));
    return new StreamableFile(body, { type: `${type}; charset=utf-8` });
  }

  async totals(merchantId: string, filter: PayoutFilter): Promise<PayoutTotals> {
    this.reserve(merchantId);
    return this.payouts.totals(merchantId, filter).finally(() => this.running.delete(merchantId));
  }

  private reserve(merchantId: string): void {
    if (this.running.has(merchantId))
      throw new DomainError('rate_limited', 'Another export or total is in progress', {}, RETRY_SECONDS);
    this.running.add(merchantId);
  }

  private async *lines(type: string, merchantId: string, filter: PayoutFilter): AsyncGenerator<string> {
    const { head, line } = FORMATS[type]!;
    let first = head;
    // The head is sent with the first rows, so that a failed first read is an error response.
    for await (const bodies of this.payouts.bodies(merchantId, filter)) {
      yield first + bodies.map(line).join('');
      first = '';
    }
  }
}

/** Replaces line breaks by spaces. JSON has line breaks only between tokens. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}

/** Formats a payout as a line of CSV (RFC 4180). `custom_metadata` is the reported text. */
function csvLine(body: string): string {
  // Texts before this member cannot match: their quotes are escaped.
  const from = body.indexOf(',"custom_metadata":');
  const to = body.lastIndexOf(',"created_at":');
  const metadata = body.slice(from + ',"custom_metadata":'.length, to);
  const { created_at, ...payout } = JSON.parse(body.slice(0, from) + body.slice(to)) as Readonly<
    Record<(typeof COLUMNS)[number] | 'created_at', string | null>
  >;
  const values = [...COLUMNS.map((name) => payout[name]), oneLine(metadata), created_at];
  return `${values.map((value) => csvValue(value ?? '')).join()}\r\n`;
}

function csvValue(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
