import type { ComponentChildren } from 'preact';
import type { Query } from './client.js';
import { OFTEN_MS, useRows } from './data.js';
import { queryOf, type Row } from './fields.js';
import { grouped, visible } from './text.js';

/** A count of rows that need a person. */
export interface Matter {
  readonly title: string;
  readonly scope: string;
  /** The path in the API, and of the page with the same filter. */
  readonly path: string;
  readonly query: Query;
  /** The selection of rows if the API has no such filter, each with its target. */
  readonly among?: {
    readonly counts: (row: Row) => boolean;
    readonly name: (row: Row) => string;
    readonly open: (row: Row) => string | null;
  };
  readonly next: string;
}

const DAY_MS = 86_400_000;
/** The first day included. Older rows need no action. */
export const LAST_DAYS = new Date(Date.now() - 7 * DAY_MS).toISOString().slice(0, 10);

/** Deliveries that were dropped because their endpoint was disabled or deleted. */
export const droppedMatter = (scope: string, next: string): Matter => ({
  title: 'Deliveries dropped, last 7 days',
  scope,
  path: '/deliveries',
  query: { status: 'dropped', from: LAST_DAYS },
  next,
});

/** The page size of the count. A full page makes the count a lower bound. */
const MAX_COUNTED = 100;
const MAX_LINKS = 5;

export function Counted({ matter: { title, path, query, among, next } }: { matter: Matter }) {
  const reading = { page_size: String(MAX_COUNTED), ...query };
  const { rows, hasNextPage, isPending, isError } = useRows(path, reading, { every: OFTEN_MS });
  const counted = among === undefined ? rows : rows.filter(among.counts);
  const count = grouped(String(counted.length));
  const text = isError ? '!' : isPending ? '…' : `${count}${hasNextPage ? '+' : ''}`;
  return (
    <Item
      title={title}
      href={path + queryOf({ ...query, page_size: null })}
      text={text}
      calm={text === '0'}
      next={isError ? UNKNOWN : next}
    >
      {among !== undefined && counted.length > 0 && (
        <p class="links">
          {counted.slice(0, MAX_LINKS).map((row) => (
            <a href={among.open(row) ?? path}>{visible(among.name(row))}</a>
          ))}
        </p>
      )}
    </Item>
  );
}

const UNKNOWN = 'This could not be read. Open the list for the reason.';

interface ItemProps {
  readonly title: string;
  readonly href: string;
  readonly text: string;
  readonly calm: boolean;
  readonly next: string;
  readonly children?: ComponentChildren;
}

export function Item({ title, href, text, calm, next, children }: ItemProps) {
  return (
    <li class={calm ? 'matter calm' : 'matter'}>
      <span class="count" aria-hidden="true">
        {text}
      </span>
      <div>
        <a href={href} data-row>
          <span class="unseen">{text} </span>
          {title}
        </a>
        <p class="quiet">{calm ? 'Nothing to do.' : next}</p>
        {children}
      </div>
    </li>
  );
}
