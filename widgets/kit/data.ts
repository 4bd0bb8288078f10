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
  /** The fields that every write has in addition to its own. */
  readonly also: readonly FormField[];
  /** The operations on an object since a revision, newest first. Absent if the API has none. */
  readonly changesSince?: (id: string, etag: string | null) => Promise<readonly Change[]>;
  /** Displays a toast. `to` is the target of its link. */
  say(text: string, to?: string): void;
  /** Requests a new login of the person. Rejects without one. Null on a page without logins. */
  readonly signInAgain: (() => Promise<void>) | null;
  /** The polling interval of a visible page in ms. Without it, the page reads on request only. */
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
        // Offline, a read fails at once and is repeated when the connection returns.
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

/** The polling interval of lists that change often, in ms. */
export const OFTEN_MS = 15_000;

/** Reads a paginated list. `every` is the polling interval in ms of a visible tab with few loaded pages. */
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

/** The argument of `refetchInterval`. The full type would prevent the inference of the query's type. */
interface Found {
  readonly state: { readonly data: unknown };
}

interface RowsReading {
  readonly enabled?: boolean;
  readonly every?: number | undefined;
}

/** The number of pages above which a list is read on request only. */
const MAX_PAGES_AGAIN = 3;

function isFewPages(data: unknown): boolean {
  return ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) <= MAX_PAGES_AGAIN;
}

/**
 * Reads an object of the API with its revision. `every` is the polling interval in ms of a visible page. It
 * applies while `polls` is absent or true.
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

/** The object read by {@link useOne}. Null until the first response. */
export function oneIn(read: Read | undefined): Row | null {
  return read === undefined ? null : theOne(read.body);
}
