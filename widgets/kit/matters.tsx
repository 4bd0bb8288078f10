import type { Query } from './client.js';
import { useRows } from './data.js';
import type { Row } from './fields.js';
import { grouped } from './text.js';

/** Rows of a list that need a person, counted. */
export interface Matter {
  readonly title: string;
  readonly scope: string;
  /** Of the API, and of the page with the same filter. */
  readonly path: string;
  readonly query: Query;
  /** Of the page, where it filters what the API does not. */
  readonly local?: { readonly query: string; readonly counts: (row: Row) => boolean };
  readonly next: string;
}

const MOST = 100;

export function Counted({ matter: { title, path, query, local, next } }: { matter: Matter }) {
  const { rows, hasNextPage, isPending, isError } = useRows(path, { page_size: String(MOST), ...query });
  const count = local === undefined ? rows.length : rows.filter(local.counts).length;
  const href = path + (local?.query ?? `?${new URLSearchParams(query as Record<string, string>).toString()}`);
  const text = isError ? '!' : isPending ? '…' : `${grouped(String(count))}${hasNextPage ? '+' : ''}`;
  return <Item title={title} href={href} text={text} calm={text === '0'} next={isError ? UNKNOWN : next} />;
}

const UNKNOWN = 'This could not be read. Open the list for the reason.';

interface ItemProps {
  readonly title: string;
  readonly href: string;
  readonly text: string;
  readonly calm: boolean;
  readonly next: string;
}

export function Item({ title, href, text, calm, next }: ItemProps) {
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
      </div>
    </li>
  );
}
