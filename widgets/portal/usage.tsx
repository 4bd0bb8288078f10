import { useMemo } from 'preact/hooks';
import { Chart } from '../kit/chart.js';
import { useOne } from '../kit/data.js';
import { RowsSection, Section } from '../kit/details.js';
import { rowsAt, textAt, type Field, type Row } from '../kit/fields.js';
import { Heading } from '../kit/frame.js';
import { Loading, Trouble } from '../kit/states.js';
import { grouped } from '../kit/text.js';
import { Time } from '../kit/value.js';
import { limitIn } from './limit.js';

const FIELDS: readonly Field[] = [
  { label: 'Day (UTC)', of: (row) => textAt(row, 'day').slice(0, 10) },
  { label: 'Requests', of: 'requests', as: 'number' },
  { label: 'Refused', of: 'refused', as: 'number' },
];

export function Usage() {
  const { data, error, isPending, refetch } = useOne('/usage');
  const usage = data?.body;
  const days = useMemo(
    () => [...rowsAt(usage, 'days')].sort((a, b) => (textAt(a, 'day') < textAt(b, 'day') ? -1 : 1)),
    [usage],
  );
  const newest = useMemo(() => [...days].reverse(), [days]);
  return (
    <>
      <div class="head">
        <Heading title="Usage">Usage</Heading>
        <div class="buttons">
          <button type="button" onClick={() => void refetch()}>
            Refresh
          </button>
        </div>
      </div>
      {error !== null && <Trouble error={error} retry={() => void refetch()} />}
      {usage === undefined ? (
        isPending && <Loading what="Usage" />
      ) : (
        <>
          <Limit usage={usage} />
          <PerDay title="Requests per day" of="requests" days={days} />
          <PerDay title="Refused per day" of="refused" days={days} />
          <RowsSection title="Days" fields={FIELDS} rows={newest} empty="No request so far." />
        </>
      )}
    </>
  );
}

function Limit({ usage }: { usage: Row }) {
  const { used, limit, isClose } = limitIn(usage);
  const resets = textAt(usage, 'resets_at');
  return (
    <Section title="This minute">
      <div class="limit">
        <p>
          <span class="count">{grouped(used)}</span>
          {limit !== '' && ` of ${grouped(limit)} requests`}{' '}
          {resets !== '' && (
            <span class="quiet">
              resets <Time at={resets} full={false} />
            </span>
          )}
        </p>
        {limit !== '' && (
          <progress class={isClose ? 'close' : ''} value={used} max={limit} aria-label="Used of the limit" />
        )}
        <p class="quiet">Requests beyond the limit are refused with 429; Retry-After says when to retry.</p>
      </div>
    </Section>
  );
}

function PerDay({ title, of, days }: { title: string; of: string; days: readonly Row[] }) {
  const times = useMemo(() => days.map((row) => Date.parse(textAt(row, 'day')) / 1000), [days]);
  const values = useMemo(() => days.map((row) => Number(textAt(row, of) || 0)), [days]);
  if (days.length < 2) return null;
  const most = Math.max(...values);
  return (
    <Section title={title}>
      <div class="card">
        <Chart
          label={`${title}: ${values.at(-1)} on the last of ${days.length} days, ${most} at most`}
          times={times}
          values={values}
        />
      </div>
    </Section>
  );
}
