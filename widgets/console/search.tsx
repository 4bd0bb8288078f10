import { useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { useRows } from '../kit/data.js';
import { RowsSection } from '../kit/details.js';
import { textAt } from '../kit/fields.js';
import { Heading } from '../kit/frame.js';
import { toPage } from '../kit/resource.js';
import { Loading, Note, Trouble } from '../kit/states.js';
import { capital, spoken } from '../kit/text.js';
import { pageOfKind } from './resources/operations.js';

/** Redirects a search to the page of its result, or to a list of several results. */
export function SearchPage() {
  const { query, route } = useLocation();
  const q = (query['q'] ?? '').trim();
  const { rows, isPending, isError, error, refetch } = useRows(
    '/search',
    { q, page_size: '' },
    {
      enabled: q !== '',
    },
  );
  const links = rows.map((row) => pageOfKind(textAt(row, 'kind'), textAt(row, 'id')));
  const only = links.length === 1 ? (links[0] ?? null) : null;
  useMemo(() => {
    if (only !== null) queueMicrotask(() => route(only, true));
  }, [only]);
  return (
    <>
      <div class="head">
        <Heading title="Search">Search</Heading>
      </div>
      {q === '' ? (
        <SearchHelp title="What are you looking for?" />
      ) : isError ? (
        <Trouble error={error} retry={() => void refetch()} />
      ) : isPending || only !== null ? (
        <Loading what="Searching" />
      ) : rows.length === 0 ? (
        <SearchHelp title="Nothing has exactly this id, number, address or hash" />
      ) : (
        <RowsSection
          title={`${rows.length} results`}
          rows={rows}
          open={(row) => pageOfKind(textAt(row, 'kind'), textAt(row, 'id'))}
          empty=""
          fields={[
            { label: 'Found', of: (row) => capital(spoken(textAt(row, 'kind'))) },
            { label: 'Title', of: 'title' },
            { label: 'Id', of: 'id', as: 'id' },
            { label: 'Merchant', of: 'merchant_id', as: 'code', to: toPage('merchants', 'merchant_id') },
          ]}
        />
      )}
    </>
  );
}

function SearchHelp({ title }: { title: string }) {
  return (
    <Note tone="quiet" title={title}>
      <p>
        Search takes a whole value: an id of anything, a phone number (+49…), an external id, a wallet, a
        transaction hash or a request id. Parts of values and names do not match: filter the lists for those.
      </p>
    </Note>
  );
}
