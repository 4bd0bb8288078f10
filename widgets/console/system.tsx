import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Chart } from '../kit/chart.js';
import { useKit, useOne, oneIn } from '../kit/data.js';
import { DetailList, RowsSection, Section } from '../kit/details.js';
import { at, rowsAt, textAt, type Field, type Row } from '../kit/fields.js';
import { Heading } from '../kit/frame.js';
import { saveJson } from '../kit/save.js';
import { Loading, Note, Trouble } from '../kit/states.js';
import { span } from '../kit/time.js';
import { Actions, type Action } from '../kit/write.js';

const EVERY_MS = 5_000;

interface Part {
  readonly title: string;
  readonly rows: string;
  readonly empty: string;
  readonly fields: readonly Field[];
}

const PARTS: readonly Part[] = [
  {
    title: 'Subscriptions',
    rows: 'subscriptions',
    empty: 'None is registered: is a process with the role “worker” running?',
    fields: [
      { label: 'Name', of: 'name' },
      { label: 'State', of: (row) => (textAt(row, 'halted_at') === '' ? 'running' : 'halted'), as: 'status' },
      { label: 'Events behind', of: 'lag_events', as: 'number' },
      { label: 'Behind', of: (row) => spanOf(row['lag_seconds']) },
      { label: 'Position', of: 'position', as: 'number' },
      { label: 'Halted', of: 'halted_at', as: 'time' },
    ],
  },
  {
    title: 'Backlogs',
    rows: 'backlogs',
    empty: 'No work is due.',
    fields: [
      { label: 'Work', of: 'name' },
      { label: 'Due', of: 'due', as: 'number' },
      { label: 'Oldest', of: 'oldest_at', as: 'time' },
    ],
  },
  {
    title: 'Nodes of the chain',
    rows: 'nodes',
    empty: 'No node is configured.',
    fields: [
      { label: 'Node', of: 'url_host' },
      { label: 'Status', of: 'status', as: 'status' },
      { label: 'Head', of: 'head', as: 'number' },
      { label: 'Age of its head', of: (row) => spanOf(row['head_age_seconds']) },
    ],
  },
  {
    title: 'Processes',
    rows: 'processes',
    empty: 'No process has reported.',
    fields: [
      { label: 'Process', of: 'id', as: 'code' },
      { label: 'Version', of: 'version' },
      { label: 'Roles', of: (row) => (Array.isArray(row['roles']) ? row['roles'].join(', ') : '') },
      { label: 'Started', of: 'started_at', as: 'time' },
      { label: 'Clock skew', of: 'clock_skew_ms', as: 'ms' },
    ],
  },
  {
    title: 'Providers',
    rows: 'providers',
    empty: 'No provider is configured.',
    fields: [
      { label: 'Provider', of: 'name' },
      { label: 'Status', of: 'status', as: 'status' },
    ],
  },
  {
    title: 'Schedules',
    rows: 'schedules',
    empty: 'Nothing is scheduled.',
    fields: [
      { label: 'Name', of: 'name' },
      { label: 'Every', of: (row) => spanOf(Number(row['every_ms']) / 1000) },
      { label: 'Last', of: 'last_at', as: 'time', none: 'never' },
      { label: 'Next', of: 'next_at', as: 'time' },
    ],
  },
];

function spanOf(seconds: unknown): string {
  return typeof seconds === 'number' && Number.isFinite(seconds) ? span(seconds * 1000) : '';
}

export function System() {
  const { data, dataUpdatedAt, error, isPending, isError, refetch } = useOne('/system', { every: EVERY_MS });
  const body = data?.body;
  if (isPending) return <Loading what="System" />;
  return (
    <>
      <div class="head">
        <Heading title="System">System</Heading>
        <div class="buttons">
          <SystemActions body={body ?? {}} />
        </div>
      </div>
      {isError && <Trouble error={error} retry={() => void refetch()} />}
      {body !== undefined && (
        <>
          <Warnings body={body} />
          <Lag body={body} at={dataUpdatedAt} />
          {PARTS.map(({ title, rows, empty, fields }) => (
            <RowsSection key={title} title={title} fields={fields} rows={rowsAt(body, rows)} empty={empty} />
          ))}
          <Audit body={body} />
        </>
      )}
    </>
  );
}

function Warnings({ body }: { body: Row }) {
  const halted = rowsAt(body, 'subscriptions').filter((row) => textAt(row, 'halted_at') !== '');
  const skewed = rowsAt(body, 'processes').filter((row) => Math.abs(Number(row['clock_skew_ms'])) > 2_000);
  return (
    <>
      {halted.length > 0 && (
        <Note tone="bad" title={`Halted: ${halted.map((row) => textAt(row, 'name')).join(', ')}`}>
          <p>
            They read an event that this version does not know, or failed on one. The log of the worker names
            its type and position. Roll the release forward; if the event may be skipped, “Let an event type
            pass” with a second person. A read model that is wrong afterwards: “Rebuild”.
          </p>
        </Note>
      )}
      {skewed.length > 0 && (
        <Note tone="warn" title="Clocks differ">
          <p>
            A process is off by more than two seconds. Signatures of merchants fail from five minutes: mend
            its NTP.
          </p>
        </Note>
      )}
    </>
  );
}

const KEPT = 240;

/** The lag of the slowest subscription since this page was opened. */
function Lag({ body, at: time }: { body: Row; at: number }) {
  const points = useRef<[number, number][]>([]);
  const [, draw] = useState(0);
  useEffect(() => {
    const lags = rowsAt(body, 'subscriptions').map((row) => Number(row['lag_events']) || 0);
    points.current = [...points.current, [time / 1000, Math.max(0, ...lags)] as [number, number]].slice(
      -KEPT,
    );
    draw(time);
  }, [time]);
  const times = points.current.map(([at]) => at);
  const values = points.current.map(([, lag]) => lag);
  const last = values.at(-1) ?? 0;
  return (
    <Section title={`Events behind, the slowest subscription: ${last}`}>
      <Chart
        label={`Lag since this page was opened, at most ${Math.max(0, ...values)} events`}
        times={times}
        values={values}
        height={120}
      />
    </Section>
  );
}

function SystemActions({ body }: { body: Row }) {
  const names = rowsAt(body, 'subscriptions').map((row) => textAt(row, 'name'));
  const list = names.join('\n');
  const actions = useMemo((): readonly Action[] => {
    const segment = (text = ''): string => encodeURIComponent(text.trim());
    return [
      {
        label: 'Rebuild',
        path: (_, values) => `/system/projections/${segment(values['name'])}/rebuild`,
        scope: 'system:write',
        says: 'Builds a read model again from the log, in the background. The present one is served until the new one is complete.',
        fields: [
          {
            name: 'name',
            label: 'Read model',
            kind: 'choice',
            options: list.split('\n'),
            required: true,
            inPath: true,
          },
        ],
        done: 'The read model is being rebuilt.',
      },
      {
        label: 'Let an event type pass',
        path: (_, values) => `/system/event_types/${segment(values['type'])}/let_pass`,
        scope: 'system:write',
        danger: true,
        says: 'Subscriptions skip events of this type that they do not know. Read models may lack what they said. A second person must approve.',
        fields: [
          { name: 'type', label: 'Event type', required: true, hint: 'thing.happened.v1', inPath: true },
        ],
        done: 'Events of this type pass.',
      },
      {
        label: 'Retire the former master key',
        path: () => '/system/master_key/retire_former',
        scope: 'system:write',
        danger: true,
        says: 'From then on nothing can be opened with the former key. Only after everything is sealed with the new one. A second person must approve.',
        done: 'The former master key is retired.',
      },
    ];
  }, [list]);
  return <Actions actions={actions} />;
}

const HEAD: readonly Field[] = [
  { label: 'Size', of: 'size', as: 'number' },
  { label: 'Position', of: 'position', as: 'number' },
  { label: 'Root', of: 'root', as: 'id' },
  { label: 'Signed', of: 'signed_at', as: 'time' },
  { label: 'Signing key', of: 'key_id', as: 'id' },
];

function Audit({ body }: { body: Row }) {
  const { can } = useKit();
  const verified = at(body, 'audit.last_verify');
  return (
    <Section title="Ledger">
      <DetailList
        row={{ audit: at(body, 'audit'), verified }}
        fields={[
          { label: 'Head', of: 'audit.head', as: typeof at(body, 'audit.head') === 'object' ? 'json' : 'id' },
          {
            label: 'Last verification',
            of: 'verified',
            as: typeof verified === 'object' ? 'json' : 'time',
            none: 'never',
          },
        ]}
      />
      {can('audit:read') && <Head />}
    </Section>
  );
}

function Head() {
  const { client } = useKit();
  const { data, error } = useOne('/audit/head');
  const [range, setRange] = useState({ from: '', to: '' });
  const [refused, setRefused] = useState<unknown>(null);
  const head = oneIn(data);
  const save = (event: SubmitEvent): void => {
    event.preventDefault();
    client.get('/audit/consistency', range).then(
      ({ body }) => {
        setRefused(null);
        saveJson(`consistency-${range.from}-${range.to}`, body);
      },
      (problem: unknown) => setRefused(problem),
    );
  };
  return (
    <>
      {error !== null && <Trouble error={error} />}
      {head !== null && (
        <>
          <h3>Signed head</h3>
          <DetailList fields={HEAD} row={head} />
          <div class="buttons">
            <button type="button" onClick={() => saveJson('head', data?.body)}>
              Save the head as JSON
            </button>
          </div>
        </>
      )}
      <h3>Proof of consistency between two sizes</h3>
      <form class="filters" onSubmit={save}>
        {(['from', 'to'] as const).map((name) => (
          <label class="filter">
            {name === 'from' ? 'From size' : 'To size'}
            <input
              type="text"
              inputMode="numeric"
              pattern="[0-9]+"
              required
              value={range[name]}
              onInput={({ currentTarget }) => setRange({ ...range, [name]: currentTarget.value })}
            />
          </label>
        ))}
        <button type="submit">Save as JSON</button>
      </form>
      {refused !== null && <Trouble error={refused} />}
    </>
  );
}
