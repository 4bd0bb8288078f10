import { useState } from 'preact/hooks';
import type { Field, Row } from './fields.js';
import { Menu } from './menu.js';
import { Value } from './value.js';

interface TableProps {
  readonly label: string;
  readonly fields: readonly Field[];
  readonly rows: readonly Row[];
  /** Returns the target of a row. The first column links to it. */
  readonly open?: (row: Row) => string | null;
  /** Content above the table, next to the selection of columns. */
  readonly tools?: preact.ComponentChildren;
}

/** A table of the loaded rows. On a phone each row is a card. */
export function DataTable({ label, fields, rows, open, tools }: TableProps) {
  const hidden = fields.filter((field) => field.hidden).map((field) => field.label);
  const [hiding, setHiding] = useState<readonly string[]>(hidden);
  const visibleFields = fields.filter((field) => !hiding.includes(field.label));
  const toggle = (name: string): void =>
    setHiding(hiding.includes(name) ? hiding.filter((each) => each !== name) : [...hiding, name]);
  const hides = hidden.length > 0;
  return (
    <>
      {(hides || tools !== undefined) && (
        <div class="tools">
          {tools}
          {hides && (
            <Menu label="Columns">
              {fields.map((field, index) => (
                <label class="tick">
                  <input
                    type="checkbox"
                    checked={!hiding.includes(field.label)}
                    disabled={index === 0}
                    onClick={() => toggle(field.label)}
                  />
                  {field.label}
                </label>
              ))}
            </Menu>
          )}
        </div>
      )}
      <div class="scroll" role="region" aria-label={`${label}, scrollable`} tabIndex={0}>
        <table role="table" aria-label={label}>
          <thead role="rowgroup">
            <tr role="row">
              {visibleFields.map((field) => (
                <th role="columnheader" scope="col" class={sideOf(field)}>
                  {field.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((row, place) => (
              <tr role="row" key={place}>
                {visibleFields.map((field, index) => (
                  <td role="cell" data-label={field.label} class={sideOf(field)}>
                    <Value field={field} row={row} opens={index === 0 ? (open?.(row) ?? null) : null} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Numbers are right-aligned. */
function sideOf({ as }: Field): string {
  return as === 'money' || as === 'number' || as === 'ms' ? 'right' : '';
}
