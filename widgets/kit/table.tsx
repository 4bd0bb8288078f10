import { columnVisibilityFeature, tableFeatures, useTable, type ColumnDef } from '@tanstack/react-table';
import { useMemo, useState } from 'preact/hooks';
import type { Field, Row } from './fields.js';
import { Menu } from './menu.js';
import { Value } from './value.js';

const FEATURES = tableFeatures({ columnVisibilityFeature });

interface TableProps {
  readonly label: string;
  readonly fields: readonly Field[];
  readonly rows: readonly Row[];
  /** Where a row leads: its first column is the link. */
  readonly open?: (row: Row) => string | null;
  /** Above the table, next to the selection of columns. */
  readonly tools?: preact.ComponentChildren;
}

/** A table of what is loaded; on a phone each row is a card. */
export function DataTable({ label, fields, rows, open, tools }: TableProps) {
  const columns = useMemo(
    () => fields.map((field, index): ColumnDef<typeof FEATURES, Row> => columnOf(field, index > 0)),
    [fields],
  );
  const [columnVisibility, onColumnVisibilityChange] = useState(() =>
    Object.fromEntries(fields.filter(({ hidden }) => hidden).map((field) => [field.label, false])),
  );
  const state = { columnVisibility };
  const table = useTable({ features: FEATURES, columns, data: rows, state, onColumnVisibilityChange });
  const visibleFields = fields.filter(({ label }) => table.getColumn(label)?.getIsVisible());
  const hides = fields.some(({ hidden }) => hidden);
  return (
    <>
      {(hides || tools !== undefined) && (
        <div class="tools">
          {tools}
          {hides && (
            <Menu label="Columns">
              {table.getAllLeafColumns().map((column) => (
                <label class="tick">
                  <input
                    type="checkbox"
                    checked={column.getIsVisible()}
                    disabled={!column.getCanHide()}
                    onClick={() => column.toggleVisibility()}
                  />
                  {column.id}
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
            {table.getRowModel().rows.map(({ id, original }) => (
              <tr role="row" key={id}>
                {visibleFields.map((field, index) => (
                  <td role="cell" data-label={field.label} class={sideOf(field)}>
                    <Value
                      field={field}
                      row={original}
                      opens={index === 0 ? (open?.(original) ?? null) : null}
                    />
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

function columnOf({ label }: Field, enableHiding: boolean): ColumnDef<typeof FEATURES, Row> {
  return { id: label, header: label, enableHiding };
}

/** Numbers are compared by their last digits. */
function sideOf({ as }: Field): string {
  return as === 'money' || as === 'number' || as === 'ms' ? 'right' : '';
}
