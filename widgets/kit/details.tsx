import type { ComponentChildren } from 'preact';
import { useId, useMemo } from 'preact/hooks';
import { useRows } from './data.js';
import type { Query } from './client.js';
import { useBehindDialogs } from './dialog.js';
import { isBlank, valueOf, type Field, type Row } from './fields.js';
import { Loading, Trouble } from './states.js';
import { DataTable } from './table.js';
import { Value } from './value.js';

const WIDE: readonly unknown[] = ['json', 'block'];

/** Labels and values of one object. Fields without a value are omitted. */
export function DetailList({ fields, row }: { fields: readonly Field[]; row: Row }) {
  const filled = fields.filter((field) => field.none !== undefined || !isBlank(valueOf(field, row)));
  return (
    <dl class="details">
      {filled.map((field) => (
        <div class={WIDE.includes(field.as) ? 'wide' : ''}>
          <dt>{field.label}</dt>
          <dd>
            <Value field={field} row={row} full />
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="part" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

interface RowsProps {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly rows: readonly Row[];
  readonly open?: (row: Row) => string | null;
  readonly empty: string;
}

/** Rows that are part of one object. */
export function RowsSection({ title, fields, rows, open, empty }: RowsProps) {
  const visible = useMemo(() => fields.filter(({ hidden }) => !hidden), [fields]);
  return (
    <Section title={title}>
      {rows.length === 0 ? (
        <p class="quiet">{empty}</p>
      ) : (
        <DataTable label={title} fields={visible} rows={rows} {...(open && { open })} />
      )}
    </Section>
  );
}

interface RelatedProps extends Omit<RowsProps, 'rows'> {
  readonly path: string;
  readonly query?: Query;
  /** The page with all rows. */
  readonly all?: string;
  /** The polling interval in ms. */
  readonly every?: number | undefined;
}

/** The newest rows of a list that belong to one object. */
export function RelatedSection({ title, fields, path, query = {}, open, empty, all, every }: RelatedProps) {
  const found = useRows(path, { page_size: '10', ...query }, { every });
  const { isPending, isError, error, hasNextPage, refetch } = found;
  const rows = useBehindDialogs(found.rows);
  if (isPending) return <Loading what={title} />;
  if (isError && rows.length === 0)
    return (
      <Section title={title}>
        <Trouble error={error} retry={() => void refetch()} />
      </Section>
    );
  return (
    <>
      <RowsSection title={title} fields={fields} rows={rows} empty={empty} {...(open && { open })} />
      {hasNextPage && all !== undefined && <a href={all}>All {title.toLowerCase()}</a>}
    </>
  );
}
