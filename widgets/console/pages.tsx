import { useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { Problem, theRows } from '../kit/client.js';
import { oneIn, useKit, useOne, useRows } from '../kit/data.js';
import { DetailList, RelatedSection, RowsSection, Section } from '../kit/details.js';
import { rowsAt, textAt, type Row } from '../kit/fields.js';
import { Heading } from '../kit/frame.js';
import { ListPage } from '../kit/list.js';
import { saveJson } from '../kit/save.js';
import { Loading, Note, Trouble } from '../kit/states.js';
import { capital, shortened, spoken, visible } from '../kit/text.js';
import { Id, Status, useNow } from '../kit/value.js';
import { Actions } from '../kit/write.js';
import { pageOf, toPage, type Further, type Related, type Resource } from './resource.js';
import { pageOfKind } from './resources/operations.js';

/** The list of a resource. */
export function ResourceList({ resource }: { resource: Resource }) {
  const { can } = useKit();
  const { query } = useLocation();
  const { name, title, fields, empty, lead, create = [], open = toPage(name, 'id') } = resource;
  const list = useMemo(() => {
    const filters = (resource.filters ?? []).filter(({ scope }) => scope === undefined || can(scope));
    return { title, path: `/${name}`, fields, filters, empty, open };
  }, [resource, can]);
  return (
    <ListPage
      list={list}
      {...(lead !== undefined && { lead })}
      actions={<Actions actions={create} primary={create[0]?.label ?? ''} />}
      before={
        resource.first !== undefined && Object.keys(query).length === 0 ? (
          <RelatedRows related={resource.first} row={{}} />
        ) : null
      }
    />
  );
}

/** One thing: what it is, what to do, everything that belongs to it. */
export function ResourcePage({ resource, id }: { resource: Resource; id: string }) {
  const now = useNow();
  const { can } = useKit();
  const { path, query } = resource.read?.(id) ?? { path: pageOf(resource.name, id) };
  const found = useOne(path, query === undefined ? {} : { query });
  const row =
    query === undefined ? oneIn(found.data) : found.data ? (theRows(found.data.body)[0] ?? null) : null;
  if (found.isPending) return <Loading what={resource.one} />;
  if (row === null) {
    const missing = new Problem(404, 'Not found', '');
    return (
      <>
        <Heading title={resource.one}>{resource.one}</Heading>
        <Trouble error={found.error ?? missing} retry={() => void found.refetch()} />
      </>
    );
  }
  const advice = resource.advice?.(row, now) ?? null;
  const links = (resource.links ?? []).filter(({ scope }) => can(scope));
  const primary = advice === null || row['status'] !== 'pending_approval' ? '' : 'Approve';
  return (
    <>
      <p class="crumb">
        <a href={`/${resource.name}`}>{resource.title}</a>
      </p>
      <div class="head">
        <Title resource={resource} row={row} id={id} />
        <div class="buttons">
          <Actions
            actions={resource.actions ?? []}
            row={row}
            subject={nameOf(resource, row, id)}
            etag={found.data?.etag ?? null}
            primary={primary || (resource.actions?.[0]?.label ?? '')}
          />
        </div>
      </div>
      {advice !== null && (
        <Note tone={advice.tone} title={advice.title}>
          <p>{advice.text}</p>
        </Note>
      )}
      {found.isError && <Trouble error={found.error} retry={() => void found.refetch()} />}
      <DetailList fields={resource.details ?? resource.fields} row={row} />
      {links.length > 0 && (
        <p class="links">
          {links.map(({ label, href }) => (
            <a href={href(row)}>{label}</a>
          ))}
        </p>
      )}
      {resource.related?.map((related) => (
        <RelatedRows key={related.title} related={related} row={row} />
      ))}
      {resource.further?.map((further) => (
        <FurtherPart key={further.title} further={further} row={row} id={id} />
      ))}
    </>
  );
}

/** What people call it: its name, or the kind and the id. */
function nameOf(resource: Resource, row: Row, id: string): string {
  const name = resource.heading === undefined ? '' : textAt(row, resource.heading);
  if (name === '' || name === id) return `${resource.one.toLowerCase()} ${shortened(id)}`;
  return resource.name === 'operations' ? capital(spoken(name).replaceAll('.', ': ')) : visible(name);
}

function Title({ resource, row, id }: { resource: Resource; row: Row; id: string }) {
  const status = resource.status === undefined ? '' : textAt(row, resource.status);
  const text = nameOf(resource, row, id);
  return (
    <Heading title={capital(text)}>
      {text.endsWith(shortened(id)) ? (
        <>
          {resource.one} <Id text={id} />
        </>
      ) : (
        <bdi>{text}</bdi>
      )}{' '}
      {status !== '' && <Status code={status} />}
    </Heading>
  );
}

function RelatedRows({ related, row }: { related: Related; row: Row }) {
  const { can } = useKit();
  const { title, fields, empty, open, rows, from, all, scope } = related;
  if (scope !== undefined && !can(scope)) return null;
  const shared = { title, fields, empty, ...(open && { open }) };
  if (from === undefined) return <RowsSection {...shared} rows={rowsAt(row, rows ?? '')} />;
  return <RelatedSection {...shared} {...from(row)} {...(all && { all: all(row) })} />;
}

function FurtherPart({ further, row, id }: { further: Further; row: Row; id: string }) {
  const isRead = further.when?.(row) !== false;
  const { data, error, isPending, refetch } = useOne(further.path(row), { enabled: isRead });
  if (!isRead) return null;
  const { title, file, fields, none } = further;
  const one = oneIn(data);
  return (
    <Section title={title}>
      {one !== null ? (
        <>
          <DetailList fields={fields} row={one} />
          {file !== undefined && (
            <button type="button" onClick={() => saveJson(`${file}-${id}`, data?.body)}>
              Save as JSON
            </button>
          )}
        </>
      ) : isPending ? (
        <Loading what={title} />
      ) : error instanceof Problem && (error.status === 404 || error.status === 409) ? (
        <p class="quiet">{none}</p>
      ) : (
        <Trouble error={error} retry={() => void refetch()} />
      )}
    </Section>
  );
}

/** Where a search leads: to the page of what was found, or to a list when there are several. */
export function SearchPage() {
  const { query, route } = useLocation();
  const q = (query['q'] ?? '').trim();
  const { rows, isPending, isError, error, refetch } = useRows('/search', { q, page_size: '' }, q !== '');
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
