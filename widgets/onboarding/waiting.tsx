import { useEffect, useState } from 'preact/hooks';
import { Mark } from '../parts.js';
import type { StepState } from './api.js';
import { usePage } from './page.js';
import { Heading } from './parts.js';
import { usePoll } from './use-poll.js';
import { timeIn } from './messages.js';

interface WaitingProps {
  readonly state: StepState;
  readonly follow: (state: StepState) => void;
}
const SLOW_MS = 20_000;

export function Review({ state, follow }: WaitingProps) {
  const { facts, format } = usePage();
  const lost = usePoll({ firstMs: 500, maxMs: 30_000 }, follow);
  const since = state.submitted_at;
  return (
    <section class="outcome">
      <Mark kind="wait" />
      <Heading>{format('reviewHeading')}</Heading>
      <p class="lead">{format('reviewText')}</p>
      {since !== undefined && (
        <p class="small">{format('reviewSince', { time: timeIn(since, facts.locale) })}</p>
      )}
      <p class="small" role="status">
        {lost ? format('reviewLost') : ''}
      </p>
    </section>
  );
}

export function Setup({ follow }: Pick<WaitingProps, 'follow'>) {
  const { format } = usePage();
  const lost = usePoll({ firstMs: 300, maxMs: 5_000 }, follow);
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <section class="outcome">
      <span class="spinner" aria-hidden="true" />
      <Heading>{format('setupHeading')}</Heading>
      <p class="lead">{format('setupText')}</p>
      <p class="small" role="status">
        {lost ? format('reviewLost') : slow ? format('setupSlow') : ''}
      </p>
    </section>
  );
}
