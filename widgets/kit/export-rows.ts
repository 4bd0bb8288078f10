import { theRows, type Client, type Query } from './client.js';
import { textAt, type Row } from './fields.js';

/** The maximum number of rows in a file. */
export const MAX_EXPORTED = 10_000;
const PAGE_SIZE = '1000';

interface Exported {
  readonly rows: readonly Row[];
  /** True where there are more rows. */
  readonly isCut: boolean;
}

/** Reads all pages of a list. `progress` receives the number of rows read. */
export async function allRows(
  client: Pick<Client, 'get'>,
  path: string,
  query: Query,
  progress: (count: number) => void = () => undefined,
): Promise<Exported> {
  const rows: Row[] = [];
  for (let next: string | null = null; ;) {
    const { body } = await client.get(path, { page_size: PAGE_SIZE, ...query, page_cursor: next });
    rows.push(...theRows(body));
    progress(rows.length);
    next = textAt(body, 'next_cursor') || null;
    const isCut = rows.length > MAX_EXPORTED || (rows.length === MAX_EXPORTED && next !== null);
    if (isCut || next === null) return { rows: rows.slice(0, MAX_EXPORTED), isCut };
  }
}
