import type { StepState } from './api.js';
import { usePage } from './page.js';
import { usePoll } from './use-poll.js';

/** The step after a reload that finds the person's place. */
export function Resume({ follow }: { follow: (state: StepState) => void }) {
  const { format } = usePage();
  const lost = usePoll({ firstMs: 0, maxMs: 5_000 }, follow);
  return (
    <section class="outcome">
      <span class="spinner" aria-hidden="true" />
      <p role="status">{lost ? format('reviewLost') : format('loading')}</p>
    </section>
  );
}
