import { csvOf, type Field, type Row } from './fields.js';

/** Saves rows as a CSV file on the person's device. */
export function saveCsv(name: string, fields: readonly Field[], rows: readonly Row[]): void {
  // Spreadsheets read UTF-8 only after this mark.
  const url = URL.createObjectURL(new Blob(['\ufeff', csvOf(fields, rows)], { type: 'text/csv' }));
  saveFrom(url, `${name}.csv`);
}

export function saveJson(name: string, value: unknown): void {
  const text = JSON.stringify(value, null, 2);
  saveFrom(URL.createObjectURL(new Blob([text], { type: 'application/json' })), `${name}.json`);
}

function saveFrom(url: string, file: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
