import { QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { Problem, theOne, theRows, type Client, type Query, type Read } from './client.js';
import type { Change } from './conflict.js';
import { textAt, type Row } from './fields.js';
import type { FormField } from './form.js';

/** The user of the page with the decisions that are allowed. */
export interface Decider {
  /** The id of the person. */
  readonly me: string;
  /** Returns true when the session has the scope. */
  can(scope: string): boolean;
  /** Checks whether the person may decide on operations of this name that another person requested. */
  mayDecide(operation: string): boolean;
}

/** The context of every component of a page. */
export interface Kit extends Decider {
  readonly client: Client;
  /** The brand in the title of every page. */
  readonly brand: string;
  readonly queries: QueryClient;
  /** The reason why the page is read-only, or null. */
  readonly readOnly: string | null;
  /** The fields that every write has in addition. */
  readonly also: readonly FormField[];
  /** Operations on a thing since a revision of it, newest first; absent where the API has none. */
  readonly changesSince?: (id: string, etag: string | null) => Promise<readonly Change[]>;
  /** Says something in passing. `to`: where to read more. */
  say(text: string, to?: string): void;
  /** Signs the person in again. Rejects when they do not. */
  readonly signInAgain: (() => Promise<void>) | null;
  /** The ms after which a visible page reads again what it displays; without it, on request only. */
  readonly every?: number;
}

export const KitContext = createContext<Kit | null>(null);

export function useKit(): Kit {
  return useContext(KitContext)!;
}

export function newQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 120_000,
        // Offline a read fails at once, and follows when the connection is back.
        networkMode: 'always',
        refetchOnReconnect: 'always',
        retry: (failures, error) => failures < 2 && navigator.onLine && isPassing(error),
      },
    },
  });
}

function isPassing(error: Error): boolean {
  return error instanceof Problem && (error.status === 0 || error.status >= 500 || error.status === 429);
}

const PAGE_SIZE = '50';

/** Lists that change often are read again after this many ms. */
export const OFTEN_MS = 15_000;

/**
 * A list of the API, page after page. `every`: read again after this many ms, while the tab is visible and few pages are
 * loaded.
 */
export function useRows(path: string, query: Query, { enabled = true, every }: RowsReading = {}) {
  const { client, every: usual } = useKit();
  const found = useInfiniteQuery({
    queryKey: [path, query, 'pages'],
    queryFn: async ({ pageParam, signal }) => {
      const { body } = await client.get(
        path,
        { page_size: PAGE_SIZE, ...query, page_cursor: pageParam },
        signal,
      );
      return { rows: theRows(body), next: textAt(body, 'next_cursor') || null };
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled,
    refetchInterval: ({ state: { data } }: Found) => isFewPages(data) && (every ?? usual),
  });
  const rows = useMemo(() => found.data?.pages.flatMap((page) => page.rows) ?? NO_ROWS, [found.data]);
  return { ...found, rows };
}

const NO_ROWS: readonly Row[] = [];

/** The basis of the interval. With the type of the query its other types would not be inferred. */
interface Found {
  readonly state: { readonly data: unknown };
}

interface RowsReading {
  readonly enabled?: boolean;
  readonly every?: number | undefined;
}

/** Longer lists are read again on request only. */
const MAX_PAGES_AGAIN = 3;

function isFewPages(data: unknown): boolean {
  return ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) <= MAX_PAGES_AGAIN;
}

/**
 * One thing of the API, with its revision. `every`: read again after this many ms, while the page is visible; only while
 * `polls` holds of it, where that is given.
 */
export function useOne(path: string, { query = {}, enabled = true, every, polls }: Reading = {}) {
  const { client, every: usual } = useKit();
  return useQuery<Read>({
    queryKey: [path, query],
    queryFn: ({ signal }): Promise<Read> => client.get(path, query, signal),
    enabled,
    refetchInterval: ({ state: { data } }) => {
      const row = oneIn(data);
      const isPolled = polls === undefined || (row !== null && polls(row));
      return (isPolled ? every : undefined) ?? (data !== undefined && usual);
    },
  });
}

interface Reading {
  readonly query?: Query;
  readonly enabled?: boolean;
  readonly every?: number;
  readonly polls?: ((row: Row) => boolean) | undefined;
}

/** The thing in what {@link useOne} read; null until then. */
export function oneIn(read: Read | undefined): Row | null {
  return read === undefined ? null : theOne(read.body);
}
