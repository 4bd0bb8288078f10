import { useState } from 'preact/hooks';
import type { Query } from './client.js';
import { useKit } from './data.js';
import { allRows } from './export-rows.js';
import type { Field, Row } from './fields.js';
import { saveCsv } from './save.js';
import { remedyOf } from './states.js';
import { grouped } from './text.js';

interface ExportProps {
  /** The name of the file. */
  readonly name: string;
  readonly fields: readonly Field[];
  readonly path: string;
  readonly query: Query;
  readonly includes: (row: Row) => boolean;
}

/** Saves all rows that match the filters, including those not loaded, and displays their number. */
export function ExportButton({ name, fields, path, query, includes }: ExportProps) {
  const { client, say } = useKit();
  const [count, setCount] = useState<number | null>(null);
  const run = async (): Promise<void> => {
    setCount(0);
    try {
      const { rows, isCut } = await allRows(client, path, query, setCount);
      const matching = rows.filter(includes);
      saveCsv(name, fields, matching);
      const number = grouped(String(matching.length));
      say(
        isCut
          ? `The file has the newest ${number} rows, and there are more: filter by date or merchant for the rest.`
          : `The file has all ${number} ${matching.length === 1 ? 'row' : 'rows'}.`,
      );
    } catch (error) {
      const { title, text } = remedyOf(error);
      say(`Not exported. ${title}${text === '' ? '' : `: ${text}`}`);
    } finally {
      setCount(null);
    }
  };
  return (
    <button type="button" disabled={count !== null} onClick={() => void run()}>
      {count === null ? 'Export CSV' : `Exporting: ${grouped(String(count))}`}
    </button>
  );
}
