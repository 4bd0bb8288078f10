import { useEffect, useState } from 'preact/hooks';
import { Mark } from '../parts.js';
import type { StepState } from './api.js';
import { EMBEDDED } from './host.js';
import { useAct, usePage } from './page.js';
import { Alert, Heading } from './parts.js';
import { describeTrouble, type Format } from './messages.js';

/** Long enough to read that it worked. */
const LEAVES_AFTER_MS = 2500;

/** The identity was not verified. */
export function Failed({ state, retry }: { state: StepState; retry: () => void }) {
  const { format } = usePage();
  return (
    <section class="outcome">
      <Mark kind="bad" />
      <Heading>{format('failedHeading')}</Heading>
      <Reason text={state.reason} frame={format('failedReason')} />
      <p class="lead">{format('failedText')}</p>
      <button type="button" onClick={retry}>
        {format('failedRetry')}
      </button>
    </section>
  );
}

/** All is there but the card. */
export function CardFailed({ state, follow }: { state: StepState; follow: (state: StepState) => void }) {
  const { facts, api, format } = usePage();
  const [trouble, setTrouble] = useState<string | null>(null);
  const { busy, run } = useAct((refusal) => setTrouble(describeTrouble(format, facts.locale, refusal)));
  const retry = (): void => {
    setTrouble(null);
    run(async () => follow(await api.step('card/retry', {})));
  };
  return (
    <section class="outcome">
      <Mark kind="bad" />
      <Heading>{format('cardFailedHeading')}</Heading>
      <Reason text={state.reason} frame={format('cardFailedReason')} />
      <p class="lead">{format('cardFailedText')}</p>
      <Alert>{trouble}</Alert>
      <button type="button" aria-disabled={busy} class={busy ? 'busy' : ''} onClick={retry}>
        {format('cardFailedRetry')}
      </button>
    </section>
  );
}

/** The provider's reason, in the person's language by the server. */
function Reason({ text, frame }: { text: string | undefined; frame: string }) {
  if (text === undefined) return null;
  const [before, after] = frame.split('{reason}');
  return (
    <p class="reason">
      {before}
      <q>{text}</q>
      {after}
    </p>
  );
}

export function Done() {
  const { facts, format } = usePage();
  const { callbackUrl, merchantName: merchant } = facts;
  const target = EMBEDDED ? null : callbackUrl;
  useEffect(() => {
    // An app may not be installed: its link needs a press of the person.
    if (target === null || !target.startsWith('https:')) return undefined;
    const timer = setTimeout(() => location.replace(target), LEAVES_AFTER_MS);
    return () => clearTimeout(timer);
  }, [target]);
  return (
    <section class="outcome">
      <Mark kind="good" />
      <Heading>{format('doneHeading')}</Heading>
      <p class="lead">{format('doneText', { merchant })}</p>
      {target === null ? (
        <p class="next">{EMBEDDED ? format('doneEmbedded', { merchant }) : format('doneClose')}</p>
      ) : (
        <a class="button" href={target} rel="noreferrer">
          {format('doneContinue', { merchant })}
        </a>
      )}
    </section>
  );
}

export type ClosedBy = 'refusedLink' | 'refusedSuspended' | 'refusedClosing';

export function Closed({ by, format }: { by: ClosedBy; format: Format }) {
  return (
    <section class="outcome">
      <Mark kind="bad" />
      <Heading>{format(by)}</Heading>
      <p class="lead">{format(`${by}Text`)}</p>
    </section>
  );
}
