import { useLocation } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import { useId, useMemo } from 'preact/hooks';
import type { Query } from './client.js';
import { useRows } from './data.js';
import { useBehindDialogs } from './dialog.js';
import { ExportButton } from './export.js';
import { queryOf, type Field, type Row } from './fields.js';
import { Heading } from './frame.js';
import { Empty, Loading, Trouble } from './states.js';
import { DataTable } from './table.js';
import { capital, spoken } from './text.js';
import { relative } from './time.js';
import { useNow } from './value.js';

/** A filter of a list. Its value is in the address under its name. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  /** The options of a selection, or a date. Otherwise the filter is a text. */
  readonly options?: readonly string[];
  readonly type?: 'date' | 'text';
  /** Filters on the page instead of on the server. Only for lists that the API returns as a whole. */
  readonly local?: (row: Row, value: string) => boolean;
  /** Hidden from a person without the scope. */
  readonly scope?: string;
}

export interface List {
  readonly title: string;
  /** The path in the API. */
  readonly path: string;
  readonly fields: readonly Field[];
  readonly filters?: readonly Filter[];
  readonly open?: (row: Row) => string | null;
  /** The text of an empty, unfiltered list. */
  readonly empty: string;
  /** Parameters of every read. */
  readonly query?: Query;
  /** Filters of which the API requires one. Without any, the list is empty. */
  readonly needs?: readonly string[];
  /** The polling interval in ms. */
  readonly every?: number | undefined;
}

interface ListPageProps {
  readonly list: List;
  readonly lead?: string;
  readonly actions?: ComponentChildren;
  readonly before?: ComponentChildren;
}

/** A page with a list. Filters are in the address, rows load page by page, and all rows can be exported as CSV. */
export function ListPage({ list, lead, actions, before }: ListPageProps) {
  return (
    <>
      <div class="head">
        <Heading title={list.title}>{list.title}</Heading>
        <div class="buttons">{actions}</div>
      </div>
      {lead !== undefined && <p class="lead">{lead}</p>}
      {before && (
        <>
          <div class="before">{before}</div>
          <h2>All</h2>
        </>
      )}
      <Rows list={list} />
    </>
  );
}

function Rows({ list }: { list: List }) {
  const { query, path, route } = useLocation();
  const filters = list.filters ?? [];
  const isSent = ([name, value]: [string, string]): boolean =>
    value !== '' && filters.some((filter) => filter.name === name && filter.local === undefined);
  const sent = Object.fromEntries(Object.entries(query).filter(isSent));
  const lacksFilter = list.needs?.every((name) => !query[name]) ?? false;
  const reading = { ...list.query, ...sent };
  const found = useRows(list.path, reading, { enabled: !lacksFilter, every: list.every });
  const local = filters.filter((filter) => filter.local && query[filter.name]);
  const includes = (row: Row): boolean => local.every(({ local, name }) => local!(row, query[name]!));
  const matching = useMemo(() => found.rows.filter(includes), [found.rows, JSON.stringify(query)]);
  const rows = useBehindDialogs(matching);
  const isFiltered = filters.some(({ name }) => query[name]);
  const filter = (changed: Readonly<Record<string, string>>): void => {
    const [before, after] = [query, { ...query, ...changed }].map(queryOf);
    if (after !== before) route(path + after!);
  };
  return (
    <>
      {filters.length > 0 && <Filters filters={filters} query={query} change={filter} />}
      {lacksFilter ? (
        <Empty title="Filter first">{list.empty}</Empty>
      ) : found.isPending ? (
        <Loading />
      ) : found.isError && rows.length === 0 ? (
        <Trouble error={found.error} retry={() => void found.refetch()} />
      ) : rows.length === 0 ? (
        <Empty title={isFiltered ? 'Nothing matches these filters' : 'Nothing here yet'}>
          {isFiltered ? <a href={path}>Remove all filters</a> : list.empty}
        </Empty>
      ) : (
        <DataTable
          label={list.title}
          fields={list.fields}
          rows={rows}
          {...(list.open && { open: list.open })}
          tools={
            <>
              <p class="quiet">
                <span role="status">
                  {rows.length}{' '}
                  {found.hasNextPage ? 'loaded, newest first' : rows.length === 1 ? 'row' : 'rows'}
                </span>
                , <Age at={found.dataUpdatedAt} />
              </p>
              <button type="button" onClick={() => void found.refetch()}>
                Refresh
              </button>
              <ExportButton
                name={list.title.toLowerCase()}
                fields={list.fields}
                path={list.path}
                query={reading}
                includes={includes}
              />
            </>
          }
        />
      )}
      {found.isFetchNextPageError && <Trouble error={found.error} />}
      {found.hasNextPage && (
        <button
          type="button"
          class="more"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {found.isFetchingNextPage ? 'Loading…' : 'Load more'}
        </button>
      )}
    </>
  );
}

/** The time since the rows were read. */
function Age({ at }: { at: number }) {
  const now = useNow();
  return <span>read {relative(new Date(at).toISOString(), Math.max(now, at))}</span>;
}

interface FiltersProps {
  readonly filters: readonly Filter[];
  readonly query: Readonly<Record<string, string>>;
  readonly change: (changed: Readonly<Record<string, string>>) => void;
}

/** A selection applies at once. A text applies on Enter or when it loses the focus. */
function Filters({ filters, query, change }: FiltersProps) {
  const id = useId();
  const apply = (name: string, value: string): void => {
    if (value.trim() !== (query[name] ?? '')) change({ [name]: value.trim() });
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    change(Object.fromEntries([...values].map(([name, value]) => [name, String(value).trim()])));
  };
  const isSet = filters.some(({ name }) => query[name]);
  return (
    <form class="filters" role="search" aria-label="Filters" onSubmit={submit}>
      {filters.map(({ name, label, options, type = 'text' }) => (
        <div class="filter">
          <label for={`${id}-${name}`}>
            {label}
            {type === 'date' && ' (UTC)'}
          </label>
          {options === undefined ? (
            <input
              id={`${id}-${name}`}
              name={name}
              {...(type === 'date' ? { type: 'date' } : { type: 'text' })}
              value={query[name] ?? ''}
              autocomplete="off"
              spellcheck={false}
              onBlur={({ currentTarget }) => apply(name, currentTarget.value)}
            />
          ) : (
            <select
              id={`${id}-${name}`}
              name={name}
              value={query[name] ?? ''}
              onChange={(event) => apply(name, event.currentTarget.value)}
            >
              <option value="">Any</option>
              {options.map((option) => (
                <option value={option}>{capital(spoken(option))}</option>
              ))}
            </select>
          )}
        </div>
      ))}
      {/* Enter in a field submits only where there is a button. */}
      <button type="submit" class="unseen" tabIndex={-1}>
        Apply filters
      </button>
      {isSet && (
        <button
          type="button"
          class="plain-button"
          onClick={() => change(Object.fromEntries(filters.map(({ name }) => [name, ''])))}
        >
          Clear filters
        </button>
      )}
    </form>
  );
}
