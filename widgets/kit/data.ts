import { QueryClient, useInfiniteQuery, useQuery, type QueryKey } from '@tanstack/react-query';
import { createContext } from 'preact';
import { useContext, useEffect, useMemo } from 'preact/hooks';
import { Problem, theOne, theRows, type Client, type Query, type Read } from './client.js';
import { textAt, type Row } from './fields.js';
import type { FormField } from './form.js';

/** Who uses the page, and what they may decide. */
export interface Decider {
  /** The id of the person. */
  readonly me: string;
  /** Returns true when the session has the scope. */
  can(scope: string): boolean;
  /** Whether the person may decide on operations of this name that another requested. */
  mayDecide(operation: string): boolean;
}

/** What every component of a page has at hand. */
export interface Kit extends Decider {
  readonly client: Client;
  /** In the title of every page. */
  readonly brand: string;
  readonly queries: QueryClient;
  /** Why nothing may be written; null: it may. */
  readonly readOnly: string | null;
  /** What every write says in addition. */
  readonly also: readonly FormField[];
  /** Says something in passing. `to`: where to read more. */
  say(text: string, to?: string): void;
  /** Signs the person in again. Rejects when they do not. */
  readonly signInAgain: (() => Promise<void>) | null;
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
        retry: (failures, error) => failures < 2 && isPassing(error),
      },
    },
  });
}

function isPassing(error: Error): boolean {
  return error instanceof Problem && (error.status === 0 || error.status >= 500 || error.status === 429);
}

/** The first part of a path names what it reads: live events make these queries stale. */
function keyOf(path: string, query: Query = {}): QueryKey {
  return [path.split('/')[1], path, query];
}

const PAGE_SIZE = '50';

/** Lists that change without a live event are read again after this many ms. */
export const OFTEN_MS = 15_000;

/**
 * A list of the API, page after page. `every`: read again after this many ms, while the tab is visible and few pages are
 * loaded.
 */
export function useRows(path: string, query: Query, { enabled = true, every }: RowsReading = {}) {
  const { client } = useKit();
  const found = useInfiniteQuery({
    queryKey: [...keyOf(path, query), 'pages'],
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
    refetchInterval: ({ state: { data } }: Found) =>
      every !== undefined && isFewPages(data) ? every : false,
  });
  const rows = useMemo(() => found.data?.pages.flatMap((page) => page.rows) ?? NO_ROWS, [found.data]);
  return { ...found, rows };
}

const NO_ROWS: readonly Row[] = [];

/** What the interval depends on; with the type of the query its other types would not be inferred. */
interface Found {
  readonly state: { readonly data: unknown };
}

interface RowsReading {
  readonly enabled?: boolean;
  readonly every?: number | undefined;
}

/** Longer lists are read again on request only. */
const MAX_LIVE_PAGES = 3;

function isFewPages(data: unknown): boolean {
  return ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) <= MAX_LIVE_PAGES;
}

/**
 * One thing of the API, with its revision. `every`: read again after this many ms, while the page is visible; only while
 * `polls` holds of it, where that is given.
 */
export function useOne(path: string, { query = {}, enabled = true, every, polls }: Reading = {}) {
  const { client } = useKit();
  return useQuery<Read>({
    queryKey: keyOf(path, query),
    queryFn: ({ signal }): Promise<Read> => client.get(path, query, signal),
    enabled,
    ...(every !== undefined && {
      refetchInterval: (found) => {
        const row = oneIn(found.state.data);
        return polls === undefined || (row !== null && polls(row)) ? every : false;
      },
    }),
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

/** Live events become visible after this time, so that a hundred of them cost one read. */
const DEBOUNCE_MS = 700;
/** After a refusal of the stream, which ends it for the browser. */
const REOPEN_MS = 10_000;

/**
 * Reads again what the server says has changed. `pluralOf`: the first part of the paths that read a kind. `verify` is called
 * when the stream was ended or refused: the session may be over.
 */
export function useLive(url: string, pluralOf: (kind: string) => string, verify: () => void): void {
  const { queries } = useKit();
  useEffect(() => {
    const changed = new Set<string>();
    let refreshing: ReturnType<typeof setTimeout> | undefined;
    let reopenTimer: ReturnType<typeof setTimeout> | undefined;
    let source: EventSource;
    let lost = false;
    const refresh = (): void => {
      refreshing = undefined;
      const names = new Set(changed);
      changed.clear();
      void queries.invalidateQueries({
        predicate: ({ queryKey, state }) =>
          (names.has('*') || names.has(String(queryKey[0]))) && isFewPages(state.data),
      });
    };
    const note = (name: string): void => {
      changed.add(name);
      refreshing ??= setTimeout(refresh, DEBOUNCE_MS);
    };
    const open = (): void => {
      source = new EventSource(url);
      source.addEventListener('change', ({ data }: MessageEvent<string>) => note(pluralOf(kindIn(data))));
      source.addEventListener('end', verify);
      source.addEventListener('error', () => {
        lost = true;
        // Browsers connect again after a lost connection, but not after a response that is no stream.
        if (source.readyState !== EventSource.CLOSED) return;
        verify();
        reopenTimer = setTimeout(open, REOPEN_MS);
      });
      source.addEventListener('open', () => {
        // What changed in between, no event said.
        if (lost) note('*');
        lost = false;
      });
    };
    open();
    return () => {
      clearTimeout(refreshing);
      clearTimeout(reopenTimer);
      source.close();
    };
  }, [url, queries]);
}

function kindIn(data: string): string {
  try {
    return textAt(JSON.parse(data), 'kind');
  } catch {
    return '';
  }
}
