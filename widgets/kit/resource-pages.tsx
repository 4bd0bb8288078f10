import { useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { Problem, theRows } from './client.js';
import type { Version } from './conflict.js';
import { OFTEN_MS, oneIn, useKit, useOne, useRows } from './data.js';
import { DetailList, RelatedSection, RowsSection, Section } from './details.js';
import { rowsAt, textAt, type Field, type Row } from './fields.js';
import { Heading } from './frame.js';
import { ListPage } from './list.js';
import { saveJson } from './save.js';
import { Loading, Note, Trouble } from './states.js';
import { capital, shortened, visible } from './text.js';
import { Id, Status, useNow } from './value.js';
import { Actions } from './write.js';
import { pageOf, toPage, type Further, type Related, type Resource } from './resource.js';

/** The list of a resource. */
export function ResourceList({ resource }: { resource: Resource }) {
  const { can } = useKit();
  const { query } = useLocation();
  const { name, title, fields, empty, lead, create = [], open = ownPage(resource) } = resource;
  const { needs, query: sent, every } = resource;
  const list = useMemo(() => {
    const filters = (resource.filters ?? []).filter(({ scope }) => scope === undefined || can(scope));
    return {
      title,
      path: `/${name}`,
      fields,
      filters,
      empty,
      open,
      every,
      ...(needs && { needs }),
      ...(sent && { query: sent }),
    };
  }, [resource, can]);
  return (
    <ListPage
      list={list}
      {...(lead !== undefined && { lead })}
      actions={<Actions actions={create} primary={create[0]?.label ?? ''} />}
      before={
        resource.first !== undefined && Object.keys(query).length === 0 ? (
          <RelatedRows related={resource.first} row={{}} every={every} />
        ) : null
      }
    />
  );
}

/** Returns the page of a row, or nothing for a row without details. */
function ownPage({ name, details }: Resource): (row: Row) => string | null {
  return details === undefined ? () => null : toPage(name, 'id');
}

/** The polling interval of an object that is about to change. */
const POLL_MS = 3_000;

/** The page of one object: its details, actions and related lists. */
export function ResourcePage({ resource, id }: { resource: Resource; id: string }) {
  const now = useNow();
  const { can } = useKit();
  const { path, query, of = 'id' } = resource.read?.(id) ?? { path: pageOf(resource.name, id) };
  const found = useOne(path, {
    ...(query !== undefined && { query }),
    ...(resource.polls && { every: POLL_MS, polls: resource.polls }),
  });
  const reread = async (): Promise<Version | null> => {
    const { data, isError } = await found.refetch();
    const again = oneIn(data);
    return isError || again === null ? null : { row: again, etag: data?.etag ?? null };
  };
  const listed = theRows(found.data?.body ?? {}).find((each) => textAt(each, of) === id) ?? null;
  const row = useJoined(resource, query === undefined ? oneIn(found.data) : listed);
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
  const guidance = resource.guidance?.(row, now) ?? null;
  const links = (resource.links ?? []).filter(({ scope }) => can(scope));
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
            of={{ row, etag: found.data?.etag ?? null, fields: versioned(resource), reread }}
            subject={nameOf(resource, row, id)}
            primary={resource.primary?.(row) ?? resource.actions?.[0]?.label ?? ''}
          />
        </div>
      </div>
      {guidance !== null && (
        <Note tone={guidance.tone} title={guidance.title}>
          <p>{guidance.text}</p>
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

/** The fields that a write may change. */
function versioned({ fields, details = [] }: Resource): readonly Field[] {
  return [...fields, ...details];
}

/** Returns the row together with the row of another list that its page needs. */
function useJoined({ joins }: Resource, row: Row | null): Row | null {
  const { can } = useKit();
  const isRead = joins !== undefined && row !== null && can(joins.scope);
  const { path, query = {} } = isRead ? joins.from(row) : { path: '' };
  const { rows, isSuccess } = useRows(path, query, { enabled: isRead, every: OFTEN_MS });
  if (!isRead || !isSuccess) return row;
  return { ...row, [joins.as]: rows.find(({ id }) => id === row[joins.of]) ?? null };
}

/** Returns the name of an object, or its kind and id. */
function nameOf({ heading = '', one }: Resource, row: Row, id: string): string {
  const name = typeof heading === 'string' ? textAt(row, heading) : heading(row);
  return name === '' || name === id ? `${one.toLowerCase()} ${shortened(id)}` : visible(name);
}

function Title({ resource, row, id }: { resource: Resource; row: Row; id: string }) {
  const { status: of = '' } = resource;
  const status = typeof of === 'string' ? textAt(row, of) : of(row);
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

interface RelatedProps {
  readonly related: Related;
  readonly row: Row;
  readonly every?: number | undefined;
}

function RelatedRows({ related, row, every }: RelatedProps) {
  const { can } = useKit();
  const { title, fields, empty, open, rows, from, all, scope } = related;
  if (scope !== undefined && !can(scope)) return null;
  const shared = { title, fields, empty, ...(open && { open }) };
  if (from === undefined) return <RowsSection {...shared} rows={rowsAt(row, rows ?? '')} />;
  return <RelatedSection {...shared} {...from(row)} {...(all && { all: all(row) })} every={every} />;
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
